import { z } from 'zod';
import { errors } from '../errors/errors.js';
import { isJsonObject, type JsonSchema } from '../json.js';
import { fromElsewhere, isFromElsewhere } from '../schemas/json-schema.js';
import type { ToolGate } from './call/gate.js';

export type ToolParameters = z.core.$ZodType | JsonSchema;

export function isZodSchema(parameters: ToolParameters): parameters is z.core.$ZodType {
  return '_zod' in parameters;
}

/** The parameters as the model sees them: what a person fills in is not among them. */
export function modelSchemaOf(
  toolName: string,
  parameters: ToolParameters,
  gate: ToolGate,
  strict: boolean,
): JsonSchema {
  const schema = jsonSchemaOf(parameters, strict);
  return gate.requiresUserInput ? withoutUserInput(toolName, schema, gate.userInputFields) : schema;
}

/** The parameters as plain data. */
export function jsonSchemaOf(parameters: ToolParameters, strict: boolean): JsonSchema {
  if (isZodSchema(parameters)) return asObject(zodSchemaOf(parameters, strict));
  const schema = asObject(parameters);
  return isFromElsewhere(parameters) ? fromElsewhere(schema) : schema;
}

function asObject({ $schema: _, ...schema }: JsonSchema): JsonSchema {
  return schema.type === undefined && schema.$ref === undefined ? { type: 'object', ...schema } : schema;
}

function zodSchemaOf(parameters: z.core.$ZodType, strict: boolean): JsonSchema {
  return z.toJSONSchema(parameters, {
    io: 'input',
    // A schema with a part that JSON cannot express (a date, a custom check) still describes the rest.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Providers are strict only about objects that are closed.
      if (strict && jsonSchema.type === 'object') jsonSchema.additionalProperties ??= false;
    },
  }) as JsonSchema;
}

function withoutUserInput(toolName: string, schema: JsonSchema, fields: readonly string[]): JsonSchema {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const unknown = fields.filter((field) => !Object.hasOwn(properties, field));
  if (unknown.length > 0) {
    throw errors.invalidConfig(
      `Tool '${toolName}' has the userInputFields ${unknown.join(', ')}, which are not among its parameters: ${Object.keys(properties).join(', ') || '(none)'}.`,
    );
  }
  const hidden = new Set(fields.length > 0 ? fields : Object.keys(properties));
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name) => !hidden.has(name))
    : undefined;
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.has(name))),
    ...(required !== undefined && { required }),
  };
}
