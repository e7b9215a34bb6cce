import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, schemaData } from '../json.js';
import { fieldsOf } from '../objects.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import { storable } from '../storable-json.js';
import { compileJsonSchema } from './json-schema.js';
import type { SchemaFault } from './schema-faults.js';
import { callsFunctions } from './schema-functions.js';

/** The shape of a value, as an application gives it. */
export type ValueSchema = z.ZodType | JsonSchema;

export type FittedValue =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly faults: readonly SchemaFault[] };

export function isZodSchema(schema: ValueSchema): schema is z.ZodType {
  return '_zod' in schema;
}

/** The schema as data: what a value has to be before defaults are filled in. `closed`: objects take no other keys. */
export function jsonSchemaOf(schema: ValueSchema, { closed = false } = {}): JsonObject {
  if (!isZodSchema(schema)) return schemaData(schema);
  const { $schema: _, ...whole } = z.toJSONSchema(schema, {
    io: 'input',
    // a schema with a part that JSON cannot express still describes the rest
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (closed && jsonSchema.type === 'object') jsonSchema.additionalProperties ??= false;
    },
  });
  return withoutRootReference(schemaData(whole));
}

/** zod describes a schema that has an id by a reference to it; models want to see the object itself. */
function withoutRootReference(schema: JsonObject): JsonObject {
  const name = typeof schema.$ref === 'string' ? /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1] : undefined;
  const definitions = schema.$defs;
  if (name === undefined || !isJsonObject(definitions)) return schema;
  const root = { title: name, ...fieldsOf(definitions[name]) };
  return JSON.stringify(definitions).includes('"#/$defs/') ? { ...root, $defs: definitions } : root;
}

/** The same on behalf of the schema's owner, where the schema calls functions of the application. */
export function fitInName(
  call: CallApplication | undefined,
  what: string,
  schema: ValueSchema,
  value: Json,
): Promise<FittedValue> {
  const isCalled = call !== undefined && isZodSchema(schema) && callsFunctions(schema);
  return isCalled ? call(what, () => fitToSchema(schema, value)) : fitToSchema(schema, value);
}

/** Checks a value and answers with what becomes of it: defaults filled in, and for zod transformed. */
export async function fitToSchema(schema: ValueSchema, value: Json): Promise<FittedValue> {
  if (isZodSchema(schema)) return fitToZod(schema, value);
  const check = await compileJsonSchema(schema);
  const fitted = structuredClone(value);
  const faults = check(fitted);
  return faults.length === 0 ? { ok: true, value: fitted } : { ok: false, faults };
}

async function fitToZod(schema: z.ZodType, value: Json): Promise<FittedValue> {
  const result = await z.safeParseAsync(schema, value, { reportInput: true });
  if (result.success) return { ok: true, value: asJson(result.data) };
  return { ok: false, faults: result.error.issues.flatMap(zodFaults) };
}

/** What a transformation made is stored and sent: a date becomes its text, and so on. */
function asJson(value: unknown): Json {
  return value === undefined ? null : storable(value, 'What the schema made of the value');
}

function zodFaults(issue: z.core.$ZodIssue): SchemaFault[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], kind: 'unknown', message: 'is not known' }));
  }
  const missing = issue.input === undefined && issue.code === 'invalid_type';
  return [{ path, kind: missing ? 'missing' : 'unfit', message: missing ? 'is required' : issue.message }];
}
