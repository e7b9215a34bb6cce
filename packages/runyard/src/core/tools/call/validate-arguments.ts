import { z } from 'zod';
import type { JsonObject, JsonSchema } from '../../json.js';
import { compileJsonSchema } from '../../schemas/json-schema.js';
import type { SchemaFault } from '../../schemas/schema-faults.js';
import type { Tool } from '../tool.js';
import { isZodSchema } from '../tool-schema.js';

export type ValidArguments =
  | { readonly ok: true; readonly value: unknown }
  /** One line per fault, for the model to correct. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** Checks arguments against the tool's schema and answers with what the tool receives. */
export async function validateArguments(tool: Tool, args: JsonObject): Promise<ValidArguments> {
  const { inputSchema } = tool;
  if (!isZodSchema(inputSchema)) return validateJsonSchema(inputSchema, args);
  const result = await z.safeParseAsync(inputSchema, args);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, faults: result.error.issues.map((issue) => fault(issue.path, issue.message, args)) };
}

/** Checks what the model gave, as far as it is the model's to give: what a person fills in is not there yet. */
export function validateModelsPart(tool: Tool, args: JsonObject): Promise<ValidArguments> {
  return tool.gate.requiresUserInput
    ? validateJsonSchema(tool.definition.inputSchema, args)
    : validateArguments(tool, args);
}

async function validateJsonSchema(schema: JsonSchema, args: JsonObject): Promise<ValidArguments> {
  const check = await compileJsonSchema(schema);
  // Defaults are written into the value; the call keeps what the model sent.
  const value = structuredClone(args);
  const faults = check(value);
  if (faults.length === 0) return { ok: true, value };
  return { ok: false, faults: faults.map((found) => faultLine(found, args)) };
}

function faultLine({ path, kind, message }: SchemaFault, args: JsonObject): string {
  return fault(path, kind === 'unknown' ? 'is not a known argument' : message, args);
}

function fault(path: readonly PropertyKey[], message: string, args: JsonObject): string {
  const name = path.length === 0 ? 'arguments' : path.map(String).join('.');
  const given = valueAt(args, path);
  return `${name}: ${message}${given === undefined || path.length === 0 ? '' : ` (given: ${shorten(JSON.stringify(given))})`}`;
}

function valueAt(args: unknown, path: readonly PropertyKey[]): unknown {
  let value = args;
  for (const key of path)
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return value;
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
