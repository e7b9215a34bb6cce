import { errors } from '../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { type FilterField, filterFields, isFilterField } from './filter-fields.js';

export type Scalar = string | number | boolean;

export type Comparison = 'EQ' | 'NEQ' | 'GT' | 'GTE' | 'LT' | 'LTE' | 'CONTAINS' | 'STARTSWITH';

/** Which traces are wanted. A field that a trace does not have fits nothing, and no NOT of it either. */
export type TraceFilter =
  | { readonly op: Comparison; readonly key: FilterField; readonly value: Scalar }
  | { readonly op: 'IN'; readonly key: FilterField; readonly values: readonly (Scalar | null)[] }
  | { readonly op: 'AND' | 'OR'; readonly conditions: readonly TraceFilter[] }
  | { readonly op: 'NOT'; readonly condition: TraceFilter }
  /** What has no owner. Requests cannot say this; it is for callers who see only that. */
  | { readonly op: 'MISSING'; readonly key: 'user_id' };

/** How deep conditions may be nested; the outermost one is at depth 0. */
const maximumDepth = 10;

/** What one search may cost the database to look at, whatever it matches. */
const maximumConditions = 200;
const maximumValues = 1000;
const maximumTextLength = 1000;

const comparisons: readonly Comparison[] = ['EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE', 'CONTAINS', 'STARTSWITH'];

/** Reads the filter of a request. Nothing, and an empty object, is no filter. */
export function parseFilter(given: JsonObject | null | undefined): TraceFilter | null {
  if (given === null || given === undefined || Object.keys(given).length === 0) return null;
  return new FilterReader().read(given, 0);
}

/** All of the filters that there are. */
export function allOf(filters: readonly (TraceFilter | null | undefined)[]): TraceFilter | null {
  const conditions = filters.filter((filter) => filter !== null && filter !== undefined);
  const [first] = conditions;
  if (first === undefined) return null;
  return conditions.length === 1 ? first : { op: 'AND', conditions };
}

class FilterReader {
  #conditions = 0;

  read(given: Json, depth: number): TraceFilter {
    if (depth > maximumDepth) {
      throw errors.invalidTraceFilter(`Filter expression exceeds maximum nesting depth of ${maximumDepth}`);
    }
    this.#conditions += 1;
    if (this.#conditions > maximumConditions) {
      throw errors.invalidTraceFilter(`Filter expression has more than ${maximumConditions} conditions`);
    }
    if (!isJsonObject(given) || given.op === undefined) {
      throw errors.invalidTraceFilter(
        `Invalid filter dictionary: must contain 'op' key. Got: ${shown(given)}`,
      );
    }
    const { op } = given;
    if (op === 'AND' || op === 'OR') return { op, conditions: this.#conditionsOf(given, op, depth) };
    if (op === 'NOT') {
      if (given.condition === undefined) throw missing(given, op, "'condition' field");
      return { op, condition: this.read(given.condition, depth + 1) };
    }
    if (op === 'IN') return { op, ...membership(given) };
    const compared = comparisons.find((known) => known === op);
    if (compared !== undefined) return { op: compared, ...comparison(given, compared) };
    throw errors.invalidTraceFilter(`Unknown filter operator: ${typeof op === 'string' ? op : shown(op)}`);
  }

  #conditionsOf(given: JsonObject, op: string, depth: number): TraceFilter[] {
    const { conditions } = given;
    if (!Array.isArray(conditions)) throw missing(given, op, "'conditions' field");
    if (conditions.length === 0) {
      throw errors.invalidTraceFilter(`${op} filter requires at least one condition`);
    }
    return conditions.map((condition) => this.read(condition, depth + 1));
  }
}

function comparison(given: JsonObject, op: string): { key: FilterField; value: Scalar } {
  const { key, value } = given;
  if (key === undefined || value === undefined) throw missing(given, op, "'key' and 'value' fields");
  const field = fieldOf(key);
  if (value === null || typeof value === 'object') {
    throw errors.invalidTraceFilter(
      `The value of ${op} on '${field}' must be a text, a number or a boolean. Got: ${shown(value)}`,
    );
  }
  return { key: field, value: bounded(value) };
}

function membership(given: JsonObject): { key: FilterField; values: (Scalar | null)[] } {
  const { key, values } = given;
  if (key === undefined || !Array.isArray(values)) throw missing(given, 'IN', "'key' and 'values' fields");
  const field = fieldOf(key);
  if (values.length > maximumValues) {
    throw errors.invalidTraceFilter(`IN filter takes at most ${maximumValues} values`);
  }
  const checked = values.map((value) => {
    if (typeof value === 'object' && value !== null) {
      throw errors.invalidTraceFilter(
        `The values of IN on '${field}' must be texts, numbers or booleans. Got: ${shown(value)}`,
      );
    }
    return value === null ? null : bounded(value);
  });
  return { key: field, values: checked };
}

function fieldOf(key: Json): FilterField {
  if (typeof key === 'string' && isFilterField(key)) return key;
  const allowed = filterFields.map((field) => `'${field.key}'`).join(', ');
  throw errors.invalidTraceFilter(
    `Invalid filter field: ${typeof key === 'string' ? `'${key.slice(0, 200)}'` : shown(key)}. Allowed: [${allowed}]`,
  );
}

function bounded(value: Scalar): Scalar {
  if (typeof value === 'string' && value.length > maximumTextLength) {
    throw errors.invalidTraceFilter(`A value may have at most ${maximumTextLength} characters`);
  }
  return value;
}

function missing(given: JsonObject, op: string, what: string) {
  return errors.invalidTraceFilter(`${op} filter requires ${what}. Got: ${shown(given)}`);
}

/** Enough of what was sent to recognise it. */
function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
