import { z } from 'zod';
import { errors } from '../errors/errors.js';
import { isJsonObject, type JsonObject, type JsonSchema, schemaData } from '../json.js';
import { markedLike } from '../schemas/json-schema.js';
import type { ToolGate } from './call/gate.js';

export type ToolSchema = z.core.$ZodType | JsonSchema;

export function isZodSchema(schema: ToolSchema): schema is z.core.$ZodType {
  return '_zod' in schema;
}

/** The arguments as the model sees them: what a person fills in is not among them. */
export function modelSchemaOf(
  toolName: string,
  inputSchema: ToolSchema,
  gate: ToolGate,
  strict: boolean,
): JsonObject {
  const schema = jsonSchemaOf(inputSchema, strict);
  return gate.requiresUserInput ? withoutUserInput(toolName, schema, gate.userInputFields) : schema;
}

/** The schema of the arguments as plain data. */
export function jsonSchemaOf(inputSchema: ToolSchema, strict: boolean): JsonObject {
  if (isZodSchema(inputSchema)) return asObject(zodSchemaOf(inputSchema, strict));
  return markedLike(inputSchema, asObject(schemaData(inputSchema)));
}

function asObject({ $schema: _, ...schema }: JsonObject): JsonObject {
  return schema.type === undefined && schema.$ref === undefined ? { type: 'object', ...schema } : schema;
}

function zodSchemaOf(inputSchema: z.core.$ZodType, strict: boolean): JsonObject {
  const schema = z.toJSONSchema(inputSchema, {
    io: 'input',
    // A schema with a part that JSON cannot express (a date, a custom check) still describes the rest.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Providers are strict only about objects that are closed.
      if (strict && jsonSchema.type === 'object') jsonSchema.additionalProperties ??= false;
    },
  });
  return schemaData(schema);
}

function withoutUserInput(toolName: string, schema: JsonObject, fields: readonly string[]): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const unknown = fields.filter((field) => !Object.hasOwn(properties, field));
  if (unknown.length > 0) {
    throw errors.invalidConfig(
      `Tool '${toolName}' has the userInputFields ${unknown.join(', ')}, which its inputSchema does not have: ${Object.keys(properties).join(', ') || '(none)'}.`,
    );
  }
  const hidden = new Set(fields.length > 0 ? fields : Object.keys(properties));
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name) => !hidden.has(String(name)))
    : undefined;
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.has(name))),
    ...(required !== undefined && { required }),
  };
}
