import { isJsonObject, type JsonSchema } from '../json.js';
import { quickFormats } from '../simple-values.js';
import { holdsNamedSchemas, holdsSchemas, referenced, type Subschema, subschemasOf } from './subschemas.js';

const mostCharacters = 64 * 1024;
const mostSchemas = 2_000;
const deepestSchema = 32;
const mostProperties = 500;
const mostChoices = 1_000;
/** How many schemas may be about one and the same value. */
const mostChecks = 10_000;
/** How many schemas may lead to one another in a row for one and the same value. */
const longestRow = 300;

/**
 * A schema from outside, as far as it is carried out here. Throws an Error that names the bound and the
 * place when it is too large. It takes one pass whose length is bounded: nothing else may look at such a schema
 * before.
 */
export function boundedSchema(schema: JsonSchema): JsonSchema {
  const { length } = JSON.stringify(schema);
  if (length > mostCharacters)
    throw new Error(`the schema has ${length} characters, at most ${mostCharacters}`);
  if (typeof schema.$schema === 'string' && !knownDrafts.test(schema.$schema)) {
    throw new Error('#/$schema: this kind of schema is not known');
  }
  new BoundsCheck(schema).check();
  return checkableSchema(schema);
}

const knownDrafts = /^https?:\/\/json-schema\.org\/(?:schema|draft[-/](?:0[4-7]|2019-09|2020-12)\/schema)#?$/;

/** Keywords by which a place in the schema gets a second meaning, or the validator another way to work. */
const refusedKeywords = [
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$async',
];

/** Where a schema stands. */
interface Place {
  readonly schema: unknown;
  readonly depth: number;
  readonly around?: Place;
  readonly within?: Subschema;
}

class BoundsCheck {
  #schemas = 0;
  /** The schemas that are about the same value as the schema that holds or names them. */
  readonly #same = new Map<JsonSchema, JsonSchema[]>();
  readonly #checks = new Map<JsonSchema, number | 'being counted'>();

  constructor(readonly root: JsonSchema) {}

  check(): void {
    const open: Place[] = [{ schema: this.root, depth: 1 }];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      this.#count(1, place);
      if (place.depth > deepestSchema) throw fault(place, `schemas nest deeper than ${deepestSchema} levels`);
      if (!isJsonObject(place.schema)) continue;
      const { schema } = place;
      this.#checkKeywords(schema, place);
      this.#checkLengths(schema, place);
      checkPatterns(schema, place);
      const inside = subschemasOf(schema);
      this.#note(schema, inside);
      for (const within of inside.reverse()) {
        open.push({ schema: within.schema, depth: place.depth + 1, around: place, within });
      }
    }
    for (const schema of this.#same.keys()) this.#checksOf(schema, 1);
  }

  #note(schema: JsonSchema, inside: readonly Subschema[]): void {
    const same = inside.filter(({ about }) => about === 'same').map((inner) => inner.schema);
    this.#same.set(schema, [...same, referenced(this.root, schema.$ref)].filter(isJsonObject));
  }

  /** How many schemas are about a value that this one is about: each way to them counts. */
  #checksOf(schema: JsonSchema, row: number): number {
    const known = this.#checks.get(schema);
    if (known === 'being counted') throw new Error('#: a schema refers to itself for the same value');
    if (known !== undefined) return known;
    if (row > longestRow) throw new Error(`#: more than ${longestRow} schemas lead to one another in a row`);
    this.#checks.set(schema, 'being counted');
    let checks = 1;
    for (const other of this.#same.get(schema) ?? []) checks += this.#checksOf(other, row + 1);
    if (checks > mostChecks) {
      throw new Error(`#: one value could take more than ${mostChecks} checks; the alternatives multiply`);
    }
    this.#checks.set(schema, checks);
    return checks;
  }

  #count(more: number, place: Place): void {
    this.#schemas += more;
    if (this.#schemas > mostSchemas)
      throw fault(place, `the schema has more than ${mostSchemas} schemas inside`);
  }

  #checkKeywords(schema: JsonSchema, place: Place): void {
    for (const keyword of refusedKeywords) {
      if (Object.hasOwn(schema, keyword)) throw fault(place, 'the keyword is not supported', keyword);
    }
    if (schema !== this.root && Object.hasOwn(schema, '$id')) {
      throw fault(place, 'only the whole schema may have an $id', '$id');
    }
    if (Object.hasOwn(schema, '$ref') && referenced(this.root, schema.$ref) === undefined) {
      const expected = 'to "#", or by its plain name to what is under "#/$defs/" or "#/definitions/"';
      throw fault(place, `a reference points ${expected}`, '$ref');
    }
  }

  #checkLengths(schema: JsonSchema, place: Place): void {
    for (const keyword of ['properties', 'patternProperties', 'dependentSchemas', 'required']) {
      const value = schema[keyword];
      const length = typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
      if (length > mostProperties) throw fault(place, `${length} names, at most ${mostProperties}`, keyword);
    }
    if (Array.isArray(schema.enum) && schema.enum.length > mostChoices) {
      throw fault(place, `${schema.enum.length} choices, at most ${mostChoices}`, 'enum');
    }
    for (const keyword of ['dependentRequired', 'dependencies']) {
      const value = schema[keyword];
      if (!isJsonObject(value)) continue;
      for (const names of Object.values(value)) {
        if (Array.isArray(names)) this.#count(1 + names.length, place);
      }
    }
  }
}

function fault(place: Place, message: string, keyword?: string): Error {
  const parts = keyword === undefined ? [] : [keyword];
  for (let at: Place | undefined = place; at?.within !== undefined; at = at.around) {
    const { keyword: around, key } = at.within;
    parts.unshift(around, ...(key === undefined ? [] : [key.slice(0, 40)]));
  }
  return new Error(`${['#', ...parts].join('/')}: ${message}`);
}

/** Patterns are not carried out, but have to be some: the model's provider would refuse the others. */
function checkPatterns(schema: JsonSchema, place: Place): void {
  const { pattern, patternProperties = {} } = schema;
  if (pattern !== undefined) checkPattern(pattern, place, 'pattern');
  if (!isJsonObject(patternProperties)) throw fault(place, 'it must be an object', 'patternProperties');
  for (const name of Object.keys(patternProperties)) checkPattern(name, place, 'patternProperties');
}

function checkPattern(pattern: unknown, place: Place, keyword: string): void {
  if (typeof pattern !== 'string') throw fault(place, 'it must be a text', keyword);
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    throw fault(place, error instanceof Error ? error.message : String(error), keyword);
  }
}

/**
 * What of a caller's schema is checked here; the rest is for the model alone. Regular expressions and the formats
 * that are made of them can take forever, and keywords that are not known could mean something to the validator.
 */
export function checkableSchema(schema: JsonSchema): JsonSchema {
  return checkableCopy(schema, partlyChecked(schema));
}

function checkableCopy(schema: JsonSchema, partly: ReadonlySet<unknown>): JsonSchema {
  const checkable = (inner: unknown) => (isJsonObject(inner) ? checkableCopy(inner, partly) : inner);
  const copy: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (uncheckedKeywords.has(keyword)) continue;
    if (keyword === 'format' && !quickFormats.has(String(value))) continue;
    if (keyword === 'default' && !isFinal(schema)) continue;
    // which names are additional is a matter of patterns then
    if (keyword === 'additionalProperties' && schema.patternProperties !== undefined) continue;
    // of what is checked in part, it is known when it does not hold, never that it holds
    if ((keyword === 'not' || keyword === 'if') && partly.has(value)) continue;
    if (keyword === 'maxContains' && partly.has(schema.contains)) continue;
    if (keyword === 'oneOf' && Array.isArray(value) && value.some((inner) => partly.has(inner))) {
      if (schema.anyOf === undefined) copy.anyOf = value.map(checkable);
    } else if (holdsNamedSchemas(keyword) && isJsonObject(value)) {
      const entries = Object.entries(value);
      copy[keyword] = Object.fromEntries(entries.map(([name, inner]) => [name, checkable(inner)]));
    } else if (holdsSchemas(keyword)) {
      copy[keyword] = Array.isArray(value) ? value.map(checkable) : checkable(value);
    } else if (plainKeywords.has(keyword)) copy[keyword] = value;
  }
  return copy;
}

/** The schemas that say something that is not checked here, themselves or by a schema that they hold or name. */
function partlyChecked(root: JsonSchema): ReadonlySet<unknown> {
  const users = new Map<unknown, JsonSchema[]>();
  const open = [root];
  const partly = new Set<JsonSchema>();
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (saysMore(schema)) partly.add(schema);
    const inside = subschemasOf(schema);
    const used = inside.filter(({ about }) => about !== 'nothing').map((inner) => inner.schema);
    for (const one of [...used, referenced(root, schema.$ref)]) {
      const known = users.get(one);
      if (known === undefined) users.set(one, [schema]);
      else known.push(schema);
    }
    open.push(...inside.map((inner) => inner.schema).filter(isJsonObject));
  }
  // a set is walked together with what is added to it on the way
  for (const schema of partly) for (const user of users.get(schema) ?? []) partly.add(user);
  return partly;
}

function saysMore({ format, items, ...schema }: JsonSchema): boolean {
  if (format !== undefined && !quickFormats.has(String(format))) return true;
  return Array.isArray(items) || Object.keys(schema).some((keyword) => uncheckedKeywords.has(keyword));
}

/** Whether the default is written as it is: one that takes defaults of its own could grow without end. */
function isFinal(schema: JsonSchema): boolean {
  const value = schema.default;
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value) && value.length === 0) return true;
  return !Object.hasOwn(schema, '$ref') && !Object.keys(schema).some(holdsSchemas);
}

const uncheckedKeywords = new Set([
  'pattern',
  'patternProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
]);

const plainKeywords = new Set([
  '$ref',
  'title',
  'description',
  'default',
  'format',
  'type',
  'nullable',
  'enum',
  'const',
  'required',
  'dependentRequired',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
]);
