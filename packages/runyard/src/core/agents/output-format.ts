import type { Json, JsonObject, JsonSchema } from '../json.js';
import { isJsonObject } from '../json.js';
import { compileJsonSchema } from '../json-schema.js';
import type { OutputFormat } from '../models/model.js';
import type { RunOptions } from '../runs/run.js';

/** How the text of the last model call becomes the content of the run. */
export interface OutputShape {
  readonly format: OutputFormat;
  /** Answers with content and its type; undefined when the text does not fit. */
  read(text: string): Promise<{ content: Json; contentType: string } | undefined>;
}

const untitled = 'DynamicModel';

/** The shape that a run's options ask for, or null for plain text. Throws an Error whose text names the fault. */
export function outputShapeOf(options: RunOptions): OutputShape | null {
  if (options.outputSchema === undefined) return null;
  return options.useJsonSchema === true
    ? dictionaryShape(options.outputSchema)
    : typedShape(unwrap(options.outputSchema));
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
      return content === undefined ? undefined : { content, contentType: 'dict' };
    },
  };
}

/** A schema as a type: values are fitted to it, properties it does not name are dropped, absent ones may be null. */
function typedShape(schema: JsonObject): OutputShape {
  const contentType = typeof schema.title === 'string' && schema.title !== '' ? schema.title : untitled;
  const lenient = withNullableOptionals(schema) as JsonObject;
  const name = contentType.replace(/[^\w-]+/g, '_').slice(0, 64) || untitled;
  return {
    format: { name, schema, strict: false },
    read: async (text) => {
      const value = parseJson(text);
      if (value === undefined) return undefined;
      const fitted = fit(value, schema);
      const validate = await compileJsonSchema(lenient, { coerce: true });
      if (validate(fitted).length > 0) return undefined;
      return { content: withoutNulls(fitted), contentType };
    },
  };
}

function unwrap(schema: JsonObject): JsonObject {
  const inner = schema.json_schema;
  return schema.type === 'json_schema' && isJsonObject(inner) && isJsonObject(inner.schema)
    ? inner.schema
    : schema;
}

/** The JSON value in a model's text, also when the model put it into a code fence or words around it. */
export function parseJson(text: string): Json | undefined {
  const fenced = /```(?:json)?\s*\n?([\s\S]*?)```/.exec(text)?.[1];
  const braces = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  for (const candidate of [text, fenced, braces]) {
    if (candidate === undefined || candidate.trim() === '') continue;
    try {
      return JSON.parse(candidate) as Json;
    } catch {
      // the next candidate may do
    }
  }
  return undefined;
}

function fit(value: Json, schema: JsonSchema): Json {
  if (Array.isArray(value) && isJsonObject(schema.items))
    return value.map((item) => fit(item, schema.items as JsonSchema));
  if (!isJsonObject(value) || schema.type !== 'object') return value;
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) return value;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const fitted: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    const given = value[name];
    if (given !== undefined) fitted[name] = isJsonObject(property) ? fit(given, property) : given;
  }
  return fitted;
}

function withNullableOptionals(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withNullableOptionals);
  if (!isJsonObject(schema)) return schema;
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    copy[key] = literalKeywords.has(key) ? value : withNullableOptionals(value);
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
