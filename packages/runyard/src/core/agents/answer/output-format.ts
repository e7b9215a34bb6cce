import type { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../json.js';
import type { OutputFormat } from '../../models/model.js';
import type { CallApplication } from '../../runs/execution/code-owner.js';
import type { RunOptions } from '../../runs/run.js';
import { boundedSchema, checkableSchema } from '../../schemas/bounded-schema.js';
import { assertIsJsonSchema, compileJsonSchema, isFromElsewhere } from '../../schemas/json-schema.js';
import { faultText, type SchemaFault } from '../../schemas/schema-faults.js';
import { interpretSchema } from '../../schemas/schema-interpreter.js';
import { holdsNamedSchemas } from '../../schemas/subschemas.js';
import { fitInName, isZodSchema, jsonSchemaOf, type ValueSchema } from '../../schemas/value-schema.js';

/** The longest answer that is read as data, in characters. */
const longestAnswer = 1_000_000;
/** How deep an answer may nest that is read as data. */
const deepestValue = 64;

/** How the text of a model becomes the content of the run. */
export interface OutputShape {
  readonly format: OutputFormat;
  /** `call` is how functions of an application's schema are called. */
  read(text: string, call?: CallApplication): Promise<ReadOutput>;
}

export type ReadOutput =
  | { readonly content: Json; readonly contentType: string }
  /** Why the text does not fit, a line for each fault. */
  | { readonly faults: readonly string[] };

const untitled = 'DynamicModel';

/**
 * The shape that a run's options ask for, else the agent's own, or null for plain text. Throws an Error whose text
 * names the fault.
 */
export function outputShapeOf(options: RunOptions, own?: ValueSchema): OutputShape | null {
  const { outputSchema, useJsonSchema } = options;
  if (outputSchema === undefined)
    return own === undefined ? null : rememberedShape(own, !isFromElsewhere(own));
  if (useJsonSchema === true) return dictionaryShape(outputSchema);
  return rememberedShape(unwrap(outputSchema), false);
}

/**
 * Throws an Error that names the fault when the schema that came with a request is invalid, or could keep the process
 * busy. Nothing looks at the schema before.
 */
export async function verifyOutputSchema({ outputSchema, useJsonSchema }: RunOptions): Promise<void> {
  if (outputSchema === undefined) return;
  const schema = useJsonSchema === true ? dictionaryFormat(outputSchema).schema : unwrap(outputSchema);
  await assertIsJsonSchema(boundedSchema(schema));
}

const shapes = new WeakMap<ValueSchema, OutputShape>();
const zodSchemas = new WeakMap<JsonSchema, z.ZodType>();

/** An agent's schema is the same object for each of its runs: what it takes to check against it is made once. */
function rememberedShape(schema: ValueSchema, trusted: boolean): OutputShape {
  let shape = shapes.get(schema);
  if (shape === undefined) {
    const zod = isZodSchema(schema) ? schema : zodSchemas.get(schema);
    shape = zod === undefined ? typedShape(jsonSchemaOf(schema), trusted) : zodShape(zod);
    shapes.set(schema, shape);
  }
  return shape;
}

/**
 * A schema as it is stored with a run. A run that this process began still knows the zod schema behind it, with the
 * checks that JSON schema cannot express.
 */
export function storableSchema(schema: ValueSchema): JsonObject {
  const stored = jsonSchemaOf(schema, { closed: true });
  if (isZodSchema(schema)) zodSchemas.set(stored, schema);
  return stored;
}

/** The name of the type that a schema describes. */
export function schemaName(schema: ValueSchema): string {
  const { title } = jsonSchemaOf(schema);
  return typeof title === 'string' && title !== '' ? title : untitled;
}

function zodShape(schema: z.ZodType): OutputShape {
  const contentType = schemaName(schema);
  return {
    format: { name: formatName(contentType), schema: jsonSchemaOf(schema, { closed: true }), strict: true },
    read: async (text, call) => {
      const value = jsonInText(text);
      if (value === undefined) return notJson;
      const fitted = await fitInName(call, 'outputSchema', schema, value);
      if (fitted.ok) return { content: fitted.value, contentType };
      // models like to say null for what they leave out
      const cleaned = await fitInName(call, 'outputSchema', schema, withoutNulls(value));
      return cleaned.ok ? { content: cleaned.value, contentType } : { faults: fitted.faults.map(faultText) };
    },
  };
}

const notJson: ReadOutput = { faults: ['the answer is not JSON'] };

function formatName(contentType: string): string {
  return contentType.replace(/[^\w-]+/g, '_').slice(0, 64) || untitled;
}

/** `{"type":"json_schema","json_schema":{"name","schema"}}`: goes to the model as it is, comes back as it is. */
function dictionaryShape(wrapped: JsonObject): OutputShape {
  return {
    format: dictionaryFormat(wrapped),
    read: async (text) => {
      const content = jsonInText(text);
      return content === undefined ? notJson : { content, contentType: 'dict' };
    },
  };
}

function dictionaryFormat(wrapped: JsonObject): OutputFormat {
  const inner = wrapped.json_schema;
  if (
    wrapped.type !== 'json_schema' ||
    !isJsonObject(inner) ||
    !isJsonObject(inner.schema) ||
    typeof inner.name !== 'string'
  ) {
    throw new Error(
      'with use_json_schema=true the schema has the form {"type":"json_schema","json_schema":{"name":"…","schema":{…}}}',
    );
  }
  return { name: inner.name, schema: inner.schema, strict: inner.strict === true };
}

/**
 * A schema as a type: values are fitted to it, properties it does not name are dropped, absent ones may be null.
 * One that is not trusted came with a request.
 */
function typedShape(schema: JsonObject, trusted: boolean): OutputShape {
  const contentType = schemaName(schema);
  const check = trusted ? applicationCheck(schema) : requestCheck(schema);
  return {
    format: { name: formatName(contentType), schema, strict: false },
    read: async (text) => {
      const value = jsonInText(text);
      if (value === undefined) return notJson;
      const fitted = fit(value, schema);
      const faults = await check(fitted);
      if (faults.length > 0) return { faults: faults.map(faultText) };
      return { content: withoutNulls(fitted), contentType };
    },
  };
}

/** Checks a value and writes into it what becomes of it. */
type CheckAnswer = (value: Json) => Promise<readonly SchemaFault[]>;

function applicationCheck(schema: JsonObject): CheckAnswer {
  const lenient = withNullableOptionals(schema);
  return async (value) => (await compileJsonSchema(lenient, { coerce: true }))(value);
}

function requestCheck(schema: JsonObject): CheckAnswer {
  const checkable = checkableSchema(schema);
  return async (value) => {
    // of two alternatives the one that fits as it is comes before one that would fit
    const faults = interpretSchema(checkable, value, { nullableOptionals: true });
    if (faults.length === 0) return faults;
    return interpretSchema(checkable, value, { nullableOptionals: true, coerce: true });
  };
}

function unwrap(schema: JsonObject): JsonObject {
  const inner = schema.json_schema;
  return schema.type === 'json_schema' && isJsonObject(inner) && isJsonObject(inner.schema)
    ? inner.schema
    : schema;
}

/**
 * The JSON value in a model's text, also when the model put it into a code fence or words around it. One that is
 * longer or deeper than any reasonable answer stays text.
 */
export function jsonInText(text: string): Json | undefined {
  if (text.length > longestAnswer) return undefined;
  const fenced = text.split('```', 3)[1]?.replace(/^json/, '');
  const braces = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  for (const candidate of [text, fenced, braces]) {
    if (candidate === undefined || candidate.trim() === '') continue;
    try {
      const value: Json = JSON.parse(candidate);
      return isDeeperThan(value, deepestValue) ? undefined : value;
    } catch {
      // the next candidate may do
    }
  }
  return undefined;
}

function isDeeperThan(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

function fit(value: Json, schema: JsonSchema): Json {
  if (Array.isArray(value)) return value.map((item) => fitPart(item, schema.items));
  if (!isJsonObject(value) || schema.type !== 'object') return value;
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) return value;
  if (schema.patternProperties !== undefined) return value;
  // properties may be named there instead of here
  const namesMore = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'].some((keyword) =>
    Object.hasOwn(schema, keyword),
  );
  if (schema.additionalProperties === undefined && namesMore) return value;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const known = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name));
  return Object.fromEntries(known.map(([name, given]) => [name, fitPart(given, properties[name])]));
}

function fitPart(value: Json, schema: unknown): Json {
  return isJsonObject(schema) ? fit(value, schema) : value;
}

function withNullableParts(value: Json): Json {
  if (Array.isArray(value)) return value.map(withNullableParts);
  return isJsonObject(value) ? withNullableOptionals(value) : value;
}

function withNullableOptionals(schema: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (holdsNamedSchemas(key) && isJsonObject(value)) {
      const entries = Object.entries(value);
      copy[key] = Object.fromEntries(entries.map(([name, inner]) => [name, withNullableParts(inner)]));
    } else copy[key] = literalKeywords.has(key) ? value : withNullableParts(value);
  }
  if (isJsonObject(copy.properties)) {
    const required = Array.isArray(schema.required) ? schema.required : [];
    copy.properties = Object.fromEntries(
      Object.entries(copy.properties).map(([name, property]) => [
        name,
        required.includes(name) ? property : { anyOf: [property, { type: 'null' }] },
      ]),
    );
  }
  return copy;
}

const literalKeywords = new Set(['enum', 'const', 'default', 'examples', 'required']);

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(entries.map(([key, entry]) => [key, withoutNulls(entry)]));
}
