import { compareTexts } from '../compare-texts.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { ComparisonOp, KnowledgeFilter } from './filter.js';

/**
 * Whether metadata satisfies a filter: this defines what filters mean, and every store gives the same. A key is a key of
 * the top level, whatever characters it has. A condition on a missing key does not hold, so `NEQ` and `NOT` hold for it.
 */
export function matches(filter: KnowledgeFilter, metadata: JsonObject): boolean {
  switch (filter.op) {
    case 'CONTAINED':
      return isContained(filter.value, metadata);
    case 'AND':
      return filter.conditions.every((condition) => matches(condition, metadata));
    case 'OR':
      return filter.conditions.some((condition) => matches(condition, metadata));
    case 'NOT':
      return !matches(filter.condition, metadata);
    case 'IN': {
      const value = memberOf(metadata, filter.key);
      return value !== undefined && filter.values.some((one) => isEqual(one, value));
    }
    case 'NEQ':
      return !matches({ ...filter, op: 'EQ' }, metadata);
    default: {
      const value = memberOf(metadata, filter.key);
      return value !== undefined && compares(filter.op, value, filter.value);
    }
  }
}

/**
 * Texts that every database holds as they are. Only these are compared by order or by their parts; the others (NUL,
 * half of a surrogate pair) are stored encoded and can only be equal.
 */
export function isPlainText(value: Json): value is string {
  return (
    typeof value === 'string' &&
    !value.startsWith('\u0001') &&
    !value.includes('\0') &&
    !/\p{Surrogate}/u.test(value)
  );
}

function compares(op: Exclude<ComparisonOp, 'NEQ'>, stored: Json, given: Json): boolean {
  switch (op) {
    case 'EQ':
      return isEqual(given, stored);
    case 'CONTAINS':
      if (Array.isArray(stored)) return stored.some((member) => isEqual(given, member));
      return isPlainText(stored) && isPlainText(given) && stored.includes(given);
    case 'STARTSWITH':
      return isPlainText(stored) && isPlainText(given) && stored.startsWith(given);
    default: {
      const order = orderOf(stored, given);
      if (order === undefined) return false;
      if (order === 0) return op === 'GTE' || op === 'LTE';
      return order > 0 ? op === 'GT' || op === 'GTE' : op === 'LT' || op === 'LTE';
    }
  }
}

/** Undefined: they cannot be compared. */
function orderOf(stored: Json, given: Json): number | undefined {
  if (typeof stored === 'number' && typeof given === 'number') return stored - given;
  if (!isPlainText(stored) || !isPlainText(given)) return undefined;
  return compareTexts(stored, given);
}

/** As PostgreSQL's `@>`: objects by their keys, a list when each of its members is contained in some member. */
function isContained(part: Json, whole: Json): boolean {
  if (Array.isArray(part))
    return (
      Array.isArray(whole) &&
      part.every((member) => whole.some((candidate) => isContained(member, candidate)))
    );
  if (!isJsonObject(part)) return part === whole;
  if (!isJsonObject(whole)) return false;
  return Object.entries(part).every(([key, value]) => {
    const stored = memberOf(whole, key);
    return stored !== undefined && isContained(value, stored);
  });
}

function isEqual(one: Json, other: Json): boolean {
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((member, index) => isEqual(member, other[index] ?? null))
    );
  if (!isJsonObject(one)) return one === other;
  if (!isJsonObject(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => {
      const [mine, theirs] = [memberOf(one, key), memberOf(other, key)];
      return mine !== undefined && theirs !== undefined && isEqual(mine, theirs);
    })
  );
}

function memberOf(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
