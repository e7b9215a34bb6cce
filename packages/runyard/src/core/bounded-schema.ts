import { isJsonObject, type JsonSchema } from './json.js';
import { schemaCost } from './schema-cost.js';
import { holdsNamedSchemas, holdsSchemas, referenced, subschemasOf } from './subschemas.js';

const mostCharacters = 64 * 1024;
const mostSchemas = 2_000;
const deepestSchema = 32;
const mostProperties = 500;
const mostChoices = 1_000;
/** How many checks a single part of a value may take. */
export const mostChecks = 10_000;

/**
 * A schema that came with a request, as far as it is carried out here. Throws an Error that names the bound and the
 * place when it could keep the process busy: a validator is made of code that the schema's author has chosen.
 */
export function boundedSchema(schema: JsonSchema): JsonSchema {
  const { length } = JSON.stringify(schema);
  if (length > mostCharacters)
    throw new Error(`the schema has ${length} characters, at most ${mostCharacters}`);
  if (typeof schema.$schema === 'string' && !knownDrafts.test(schema.$schema)) {
    throw new Error('#/$schema: this kind of schema is not known');
  }
  new BoundsCheck(schema).check(schema, '#', 1);
  const { checks, fault } = schemaCost(schema);
  if (fault !== undefined) throw new Error(fault);
  if (checks > mostChecks) {
    throw new Error(`#: one value could take more than ${mostChecks} checks; the alternatives multiply`);
  }
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

class BoundsCheck {
  #schemas = 0;

  constructor(readonly root: JsonSchema) {}

  check(schema: unknown, place: string, depth: number): void {
    this.#count(1, place);
    if (depth > deepestSchema) throw new Error(`${place}: schemas nest deeper than ${deepestSchema} levels`);
    if (!isJsonObject(schema)) return;
    this.#checkKeywords(schema, place);
    this.#checkLengths(schema, place);
    checkPatterns(schema, place);
    for (const { keyword, key, schema: inner } of subschemasOf(schema)) {
      this.check(inner, [place, keyword, ...(key === undefined ? [] : [key])].join('/'), depth + 1);
    }
  }

  #count(more: number, place: string): void {
    this.#schemas += more;
    if (this.#schemas > mostSchemas)
      throw new Error(`${place}: the schema has more than ${mostSchemas} schemas inside`);
  }

  #checkKeywords(schema: JsonSchema, place: string): void {
    for (const keyword of refusedKeywords) {
      if (Object.hasOwn(schema, keyword))
        throw new Error(`${place}/${keyword}: the keyword is not supported`);
    }
    if (schema !== this.root && Object.hasOwn(schema, '$id')) {
      throw new Error(`${place}/$id: only the whole schema may have an $id`);
    }
    if (Object.hasOwn(schema, '$ref') && referenced(this.root, schema.$ref) === undefined) {
      throw new Error(
        `${place}/$ref: a reference points to "#", or by its plain name to what is under "#/$defs/" or "#/definitions/"`,
      );
    }
  }

  #checkLengths(schema: JsonSchema, place: string): void {
    for (const keyword of ['properties', 'patternProperties', 'dependentSchemas', 'required']) {
      const value = schema[keyword];
      const length = typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
      if (length > mostProperties)
        throw new Error(`${place}/${keyword}: ${length} names, at most ${mostProperties}`);
    }
    if (Array.isArray(schema.enum) && schema.enum.length > mostChoices) {
      throw new Error(`${place}/enum: ${schema.enum.length} choices, at most ${mostChoices}`);
    }
    for (const keyword of ['dependentRequired', 'dependencies']) {
      const value = schema[keyword];
      if (!isJsonObject(value)) continue;
      for (const names of Object.values(value)) {
        if (Array.isArray(names)) this.#count(1 + names.length, `${place}/${keyword}`);
      }
    }
  }
}

/** Patterns are not carried out, but have to be some: the model's provider would refuse the others. */
function checkPatterns(schema: JsonSchema, place: string): void {
  const { pattern, patternProperties = {} } = schema;
  if (pattern !== undefined) checkPattern(pattern, `${place}/pattern`);
  if (!isJsonObject(patternProperties)) throw new Error(`${place}/patternProperties: it has to be an object`);
  for (const name of Object.keys(patternProperties)) checkPattern(name, `${place}/patternProperties`);
}

function checkPattern(pattern: unknown, place: string): void {
  try {
    if (typeof pattern === 'string') new RegExp(pattern, 'u');
    else throw new Error('it has to be a text');
  } catch (error) {
    throw new Error(`${place}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * What of a caller's schema is checked here; the rest is for the model alone. Regular expressions and the formats
 * that are made of them can take for ever, and keywords that are not known could mean something to the validator.
 */
export function checkableSchema(schema: JsonSchema): JsonSchema {
  const copy: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (uncheckedKeywords.has(keyword)) continue;
    if (keyword === 'format' && !quickFormats.has(String(value))) continue;
    if (keyword === 'default' && !isFinal(schema)) continue;
    if (holdsNamedSchemas(keyword) && isJsonObject(value)) {
      const entries = Object.entries(value);
      copy[keyword] = Object.fromEntries(entries.map(([name, inner]) => [name, checkable(inner)]));
    } else if (holdsSchemas(keyword)) {
      copy[keyword] = Array.isArray(value) ? value.map(checkable) : checkable(value);
    } else if (plainKeywords.has(keyword)) copy[keyword] = value;
  }
  return copy;
}

function checkable(schema: unknown): unknown {
  return isJsonObject(schema) ? checkableSchema(schema) : schema;
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

const quickFormats = new Set(['date', 'time', 'date-time', 'duration', 'uuid', 'ipv4']);

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
