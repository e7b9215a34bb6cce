import { errors } from '../errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { ComparisonOp, KnowledgeFilter } from './filter.js';

const maximumNesting = 10;
const maximumConditions = 100;
/** Scalars in all values of a filter together. */
const maximumValues = 1_000;

const comparisons: ReadonlySet<string> = new Set<ComparisonOp>([
  'EQ',
  'NEQ',
  'GT',
  'GTE',
  'LT',
  'LTE',
  'CONTAINS',
  'STARTSWITH',
]);
const ordering: ReadonlySet<string> = new Set(['GT', 'GTE', 'LT', 'LTE']);
const operators: ReadonlySet<string> = new Set([...comparisons, 'IN', 'AND', 'OR', 'NOT']);

type Place = readonly (string | number)[];

/**
 * Reads a filter as requests write it: an object (what the metadata must contain), an expression of the filter
 * language, or a list of expressions, all of which must hold. Throws a 422 that names the place of the fault: a filter
 * that cannot be read never lets more through.
 */
export function parseFilter(given: unknown, place: Place = ['filters']): KnowledgeFilter {
  return new FilterReading(operators).filter(given, place);
}

/** Reads a filter that code gives: one of a request, or one that was read before, as a function that searches has it. */
export function parseFilterOfCode(given: unknown, place: Place): KnowledgeFilter {
  return new FilterReading(new Set([...operators, 'CONTAINED'])).filter(given, place);
}

class FilterReading {
  #conditions = 0;
  #values = 0;

  constructor(private readonly known: ReadonlySet<string>) {}

  filter(given: unknown, place: Place): KnowledgeFilter {
    if (Array.isArray(given)) return { op: 'AND', conditions: this.#expressions(given, place, 1) };
    if (!isJsonObject(given))
      fault(place, given, 'must be an object, an expression or a list of expressions');
    if (this.#isExpression(given)) return this.#expression(given, place, 1);
    this.#value(given, place, 1);
    return { op: 'CONTAINED', value: given };
  }

  #expressions(given: readonly unknown[], place: Place, nesting: number): KnowledgeFilter[] {
    return given.map((one, index) => {
      const here = [...place, index];
      if (!isJsonObject(one) || !this.#isExpression(one))
        fault(here, one, 'must be an expression with op, such as {"op":"EQ","key":"year","value":2024}');
      return this.#expression(one, here, nesting);
    });
  }

  #expression(given: JsonObject, place: Place, nesting: number): KnowledgeFilter {
    if (nesting > maximumNesting) fault(place, given, `is nested deeper than ${maximumNesting} levels`);
    this.#conditions += 1;
    if (this.#conditions > maximumConditions)
      fault(place, given, `is one of more than ${maximumConditions} conditions`);
    const { op } = given;
    switch (op) {
      case 'AND':
      case 'OR': {
        const conditions = this.#fields(given, place, 'conditions').conditions;
        const here = [...place, 'conditions'];
        if (!Array.isArray(conditions) || conditions.length === 0)
          fault(here, conditions, 'must be a list with at least one expression');
        return { op, conditions: this.#expressions(conditions, here, nesting + 1) };
      }
      case 'NOT': {
        const { condition } = this.#fields(given, place, 'condition');
        const [only] = this.#expressions([condition], [...place, 'condition'], nesting + 1);
        // a list of one gives a list of one
        return { op, condition: only! };
      }
      case 'IN': {
        const { values } = this.#fields(given, place, 'key', 'values');
        const here = [...place, 'values'];
        if (!Array.isArray(values)) fault(here, values, 'must be a list');
        this.#value(values, here, 0);
        return { op, key: key(given, place), values: values.flatMap(spellings) };
      }
      case 'CONTAINED':
        if (!this.known.has(op) || !isJsonObject(given.value)) return this.#comparison(op, given, place);
        this.#value(this.#fields(given, place, 'value'), place, 0);
        return { op, value: given.value };
      default:
        return this.#comparison(op, given, place);
    }
  }

  #comparison(op: unknown, given: JsonObject, place: Place): KnowledgeFilter {
    if (!isComparison(op))
      fault([...place, 'op'], op, `is no operator. Operators: ${[...operators].join(', ')}`);
    const { value } = this.#fields(given, place, 'key', 'value');
    const here = [...place, 'value'];
    if (value === undefined) fault(here, given, 'is missing');
    if (ordering.has(op) && typeof value !== 'number' && typeof value !== 'string')
      fault(here, value, `must be a number or a text: ${op} compares nothing else`);
    if (op === 'STARTSWITH' && typeof value !== 'string') fault(here, value, 'must be a text');
    this.#value(value, here, 1);
    if (op !== 'EQ' && op !== 'NEQ') return { op, key: key(given, place), value };
    const values = spellings(value);
    if (values.length === 1) return { op, key: key(given, place), value };
    const any: KnowledgeFilter = { op: 'IN', key: key(given, place), values };
    return op === 'EQ' ? any : { op: 'NOT', condition: any };
  }

  /** Refuses a field that the operator does not have: a misspelled one would change what the filter means. */
  #fields(given: JsonObject, place: Place, ...known: readonly string[]): JsonObject {
    const unknown = Object.keys(given).find((name) => name !== 'op' && !known.includes(name));
    if (unknown !== undefined)
      fault([...place, unknown], given[unknown], `is no field of ${String(given.op)}: ${known.join(', ')}`);
    return given;
  }

  /** `op` alone may be a key of the metadata; with a field of an expression beside it, it is meant as an operator. */
  #isExpression(given: JsonObject): boolean {
    if (typeof given.op !== 'string') return false;
    return (
      this.known.has(given.op) ||
      ['key', 'conditions', 'condition', 'values'].some((field) => Object.hasOwn(given, field))
    );
  }

  #value(value: Json, place: Place, nesting: number): void {
    if (nesting > maximumNesting) fault(place, value, `is nested deeper than ${maximumNesting} levels`);
    if (typeof value === 'object' && value !== null) {
      for (const inner of Object.values(value)) this.#value(inner, place, nesting + 1);
      return;
    }
    if (typeof value === 'number' && !Number.isFinite(value)) fault(place, value, 'must be a finite number');
    this.#values += 1;
    if (this.#values > maximumValues) fault(place, value, `is one of more than ${maximumValues} values`);
  }
}

function isComparison(op: unknown): op is ComparisonOp {
  return typeof op === 'string' && comparisons.has(op);
}

function key(given: JsonObject, place: Place): string {
  const { key: name } = given;
  if (typeof name !== 'string' || name === '')
    fault([...place, 'key'], name, 'must be the name of a metadata key');
  return name;
}

/** Equality does not distinguish 2024 from "2024" or true from "true": forms and models send texts. */
function spellings(value: Json): Json[] {
  if (typeof value === 'number' || typeof value === 'boolean') return [value, String(value)];
  if (typeof value !== 'string') return [value];
  if (value === 'true' || value === 'false') return [value, value === 'true'];
  return value !== '' && Number.isFinite(Number(value)) && String(Number(value)) === value
    ? [value, Number(value)]
    : [value];
}

function fault(place: Place, input: unknown, msg: string): never {
  throw errors.invalidRequest([{ type: 'value_error', loc: place, msg, input }]);
}
