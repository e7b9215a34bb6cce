import type { z } from 'zod';
import { fieldsOf } from '../../../core/objects.js';
import { formContentTypes } from '../request/forms.js';
import { jsonMayBe } from '../request/json-body.js';
import type { Route } from '../route.js';
import type { SchemaCollection } from './openapi-schemas.js';

type JsonSchema = Record<string, unknown>;
type ObjectSchema = { properties?: Record<string, JsonSchema>; required?: readonly string[] };

/** The parts of a schema that zod made of an object. */
export function partsOf({ properties = {}, required = [] }: ObjectSchema): {
  readonly properties: [string, JsonSchema][];
  readonly required: readonly string[];
} {
  return { properties: Object.entries(properties), required };
}

/** How the body of a request is described: JSON, or a form in each way that it can be sent. */
export function requestBodyOf<Services>(
  route: Route<Services>,
  body: z.ZodType,
  schemas: SchemaCollection,
): JsonSchema {
  const required = !body.safeParse(undefined).success;
  if (route.accepts !== 'form') {
    return { required, content: { 'application/json': { schema: schemas.add(body, 'input') } } };
  }
  const whole = schemas.inline(body);
  const [multipart, urlencoded, json] = formContentTypes;
  return {
    required,
    content: {
      [multipart]: { schema: withEmptyFields(whole) },
      [urlencoded]: { schema: withEmptyFields(withoutFiles(whole)) },
      [json]: { schema: withValues(whole), 'x-addition': true },
    },
  };
}

/**
 * API browsers fill each field of a form with its first example, or with a made-up value: an optional one is left empty,
 * which counts as not sent. Of a list of files it shows one empty place.
 */
function withEmptyFields(schema: JsonSchema): JsonSchema {
  const { properties, required } = partsOf(schema);
  const field = ([name, property]: [string, JsonSchema]) => {
    if (required.includes(name) || property.default !== undefined) return [name, property];
    const examples = isFileList(property) ? [['']] : ['', ...examplesOf(property)];
    return [name, { ...property, examples }];
  };
  return { ...schema, properties: Object.fromEntries(properties.map(field)) };
}

/** Where a form holds JSON as text, a body of JSON may hold the value itself. */
function withValues(schema: JsonSchema): JsonSchema {
  const { properties, required } = partsOf(schema);
  const example = properties
    .filter(
      ([name, { default: usual, examples }]) => required.includes(name) || (usual !== undefined && examples),
    )
    .map(([name, property]) => [name, examplesOf(property)[0] ?? '…']);
  return {
    ...schema,
    properties: Object.fromEntries(
      properties.map(([name, one]) => {
        const given = jsonSchemaOf(one);
        return [name, required.includes(name) ? given : orNull(given)];
      }),
    ),
    // a form whose fields exclude each other says itself what a complete one is
    examples: schema.examples ?? [Object.fromEntries(example)],
  };
}

/** A client may say that it sends none. */
const noFiles = {
  type: 'array',
  maxItems: 0,
  description: 'Without files; send files as multipart/form-data.',
};

function jsonSchemaOf(property: JsonSchema): JsonSchema {
  const {
    type,
    contentMediaType,
    contentSchema = { type: ['object', 'array'] },
    examples,
    ...rest
  } = property;
  if (isFileList(property)) return noFiles;
  if (jsonMayBe in property) {
    const alternative = property[jsonMayBe] === 'object' ? ['object', 'array'] : [property[jsonMayBe]];
    return { ...property, type: [type, ...alternative] };
  }
  if (contentMediaType !== 'application/json') return property;
  return { ...rest, anyOf: [contentSchema, { type, contentMediaType }] };
}

/** In a body of JSON, null counts as not given. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf, enum: values } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  if (type === undefined || values !== undefined) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'].flat() };
}

/** Files travel in multipart bodies only. */
function withoutFiles(schema: JsonSchema): JsonSchema {
  const kept = partsOf(schema).properties.filter(([, property]) => !isFileList(property));
  return { ...schema, properties: Object.fromEntries(kept) };
}

function isFileList({ items }: JsonSchema): boolean {
  return fieldsOf(items).format === 'binary';
}

function examplesOf({ examples }: JsonSchema): readonly unknown[] {
  return Array.isArray(examples) ? examples : [];
}
