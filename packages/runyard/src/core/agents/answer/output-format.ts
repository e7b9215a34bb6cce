import type { ErrorObject } from 'ajv/dist/2020.js';
import type { z } from 'zod';
import { boundedSchema, checkableSchema, mostChecks } from '../../bounded-schema.js';
import type { Json, JsonObject, JsonSchema } from '../../json.js';
import { isJsonObject } from '../../json.js';
import { compileJsonSchema } from '../../json-schema.js';
import type { OutputFormat } from '../../models/model.js';
import type { CallApplication } from '../../runs/code-owner.js';
import type { RunOptions } from '../../runs/run.js';
import { deepestValue, schemaCost } from '../../schema-cost.js';
import { holdsNamedSchemas } from '../../subschemas.js';
import {
  faultOf,
  faultText,
  fitInName,
  isZodSchema,
  jsonSchemaOf,
  type ValueSchema,
} from '../../value-schema.js';

/** The longest answer that is read as data, in characters. */
const longestAnswer = 1_000_000;
/** Characters of an answer times the checks that each may take. */
const mostWork = 100_000_000;

/** How the text of a model becomes the content of the run. */
export interface OutputShape {
  readonly format: OutputFormat;
  /** `call` is how functions of an application's schema are called. */
  read(text: string, call?: CallApplication): Promise<ReadOutput>;
  /** Throws an Error that names the fault when the schema is none. */
  verify(): Promise<void>;
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
  if (outputSchema === undefined) return own === undefined ? null : rememberedShape(own, true);
  if (useJsonSchema === true) return dictionaryShape(outputSchema);
  return rememberedShape(unwrap(outputSchema), false);
}

/**
 * Throws an Error that names the fault when the schema that came with a request is none, or could keep the process
 * busy.
 */
export async function verifyOutputSchema(options: RunOptions): Promise<void> {
  const shape = outputShapeOf(options);
  if (shape === null) return;
  boundedSchema(shape.format.schema);
  await shape.verify();
}

const shapes = new WeakMap<ValueSchema, OutputShape>();
const zodSchemas = new WeakMap<JsonSchema, z.ZodType>();

/** An agent's schema is the same object for each of its runs: what it takes to check against it is made once. */
function rememberedShape(schema: ValueSchema, trusted: boolean): OutputShape {
  let shape = shapes.get(schema);
  if (shape === undefined) {
    const zod = isZodSchema(schema) ? schema : zodSchemas.get(schema);
    shape = zod === undefined ? typedShape(schema as JsonObject, trusted) : zodShape(zod);
    shapes.set(schema, shape);
  }
  return shape;
}

/**
 * A schema as it is stored with a run. A run that this process began still knows the zod schema behind it, with the
 * checks that JSON schema cannot express.
 */
export function storableSchema(schema: ValueSchema): JsonObject {
  if (!isZodSchema(schema)) return schema as JsonObject;
  const stored = jsonSchemaOf(schema, { closed: true });
  zodSchemas.set(stored, schema);
  return stored as JsonObject;
}

/** The name of the type that a schema stands for. */
export function schemaName(schema: ValueSchema): string {
  const { title } = isZodSchema(schema) ? jsonSchemaOf(schema) : schema;
  return typeof title === 'string' && title !== '' ? title : untitled;
}

function zodShape(schema: z.ZodType): OutputShape {
  const contentType = schemaName(schema);
  return {
    format: { name: formatName(contentType), schema: jsonSchemaOf(schema, { closed: true }), strict: true },
    read: async (text, call) => {
      const value = parseJson(text);
      if (value === undefined) return notJson;
      const fitted = await fitInName(call, 'outputSchema', schema, value);
      if (fitted.ok) return { content: fitted.value, contentType };
      // models like to say null for what they leave out
      const cleaned = await fitInName(call, 'outputSchema', schema, withoutNulls(value));
      return cleaned.ok ? { content: cleaned.value, contentType } : { faults: fitted.faults.map(faultText) };
    },
    verify: async () => {},
  };
}

const notJson: ReadOutput = { faults: ['the answer is not JSON'] };

function formatName(contentType: string): string {
  return contentType.replace(/[^\w-]+/g, '_').slice(0, 64) || untitled;
}

/** `{"type":"json_schema","json_schema":{"name","schema"}}`: goes to the model as it is, comes back as it is. */
function dictionaryShape(wrapped: JsonObject): OutputShape {
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
  const format = { name: inner.name, schema: inner.schema, strict: inner.strict === true };
  return {
    format,
    read: async (text) => {
      const content = parseJson(text);
      return content === undefined ? notJson : { content, contentType: 'dict' };
    },
    verify: async () => void (await compileJsonSchema(checkableSchema(format.schema), { frugal: true })),
  };
}

/**
 * A schema as a type: values are fitted to it, properties it does not name are dropped, absent ones may be null.
 * One that is not trusted came with a request.
 */
function typedShape(schema: JsonObject, trusted: boolean): OutputShape {
  const contentType = schemaName(schema);
  const lenient = withNullableOptionals(trusted ? schema : checkableSchema(schema)) as JsonObject;
  const compile = () => compileJsonSchema(lenient, { coerce: true, frugal: !trusted });
  const longest = trusted ? longestAnswer : longestCheckable(schema);
  return {
    format: { name: formatName(contentType), schema, strict: false },
    verify: async () => void (await compile()),
    read: async (text) => {
      const value = text.length > longest ? undefined : parseJson(text);
      if (value === undefined) return notJson;
      const fitted = fit(value, schema);
      const validate = await compile();
      const found = validate(fitted);
      if (found.length > 0) return { faults: tellable(found) };
      return { content: withoutNulls(fitted), contentType };
    },
  };
}

/** How long an answer may be, so that checking it does not keep the process busy. */
function longestCheckable(schema: JsonSchema): number {
  const { checks } = schemaCost(schema);
  // only the application's own code gets a schema as far as this that takes more
  return checks > mostChecks ? longestAnswer : mostWork / checks;
}

/** The faults that say what to mend: that a value could also be null is our own addition to the schema. */
function tellable(errors: readonly ErrorObject[]): string[] {
  const own = errors.filter(
    ({ keyword, params }) => keyword !== 'anyOf' && !(keyword === 'type' && params.type === 'null'),
  );
  return (own.length > 0 ? own : errors).map((error) => faultText(faultOf(error)));
}

function unwrap(schema: JsonObject): JsonObject {
  const inner = schema.json_schema;
  return schema.type === 'json_schema' && isJsonObject(inner) && isJsonObject(inner.schema)
    ? inner.schema
    : schema;
}

/**
 * The JSON value in a model's text, also when the model put it into a code fence or words around it. One that is
 * longer or deeper than anybody asks for stays text.
 */
export function parseJson(text: string): Json | undefined {
  if (text.length > longestAnswer) return undefined;
  const fenced = text.split('```', 3)[1]?.replace(/^json/, '');
  const braces = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  for (const candidate of [text, fenced, braces]) {
    if (candidate === undefined || candidate.trim() === '') continue;
    try {
      const value = JSON.parse(candidate) as Json;
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
  if (Array.isArray(value) && isJsonObject(schema.items))
    return value.map((item) => fit(item, schema.items as JsonSchema));
  if (!isJsonObject(value) || schema.type !== 'object') return value;
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) return value;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const fitted: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given !== undefined) fitted[name] = isJsonObject(property) ? fit(given, property) : given;
  }
  return fitted;
}

function withNullableOptionals(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullableOptionals);
  if (!isJsonObject(schema)) return schema;
  const copy: JsonSchema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (holdsNamedSchemas(key) && isJsonObject(value)) {
      const entries = Object.entries(value);
      copy[key] = Object.fromEntries(entries.map(([name, inner]) => [name, withNullableOptionals(inner)]));
    } else copy[key] = literalKeywords.has(key) ? value : withNullableOptionals(value);
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
  const copy: JsonObject = {};
  for (const [key, entry] of Object.entries(value)) if (entry !== null) copy[key] = withoutNulls(entry);
  return copy;
}
