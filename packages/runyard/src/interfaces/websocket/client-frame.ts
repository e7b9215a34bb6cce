import type { z } from 'zod';
import { errors } from '../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { JsonForms } from '../../platform/http/request/json-body.js';
import { JsonFault, parseUntrustedJson } from '../../platform/http/request/json-text.js';
import { validatePart } from '../../platform/http/request/validation.js';

/** What a client sent: an action, and the values for it. */
export interface ClientFrame {
  readonly action: string;
  readonly fields: JsonObject;
}

export function readFrame(data: Buffer, isBinary: boolean): ClientFrame {
  if (isBinary) throw errors.invalidFrame('Binary frames are not supported. Send JSON in a text frame.');
  const fields = jsonOf(data.toString('utf8'));
  if (!isJsonObject(fields)) throw errors.invalidFrame('A frame must be a JSON object with an action.');
  const { action } = fields;
  if (typeof action !== 'string') throw errors.invalidFrame('action is required');
  return { action, fields };
}

function jsonOf(text: string): Json {
  try {
    return parseUntrustedJson(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw errors.invalidFrame(`Invalid JSON: ${error.message}`);
  }
}

/** A text that the action cannot do without. */
export function requiredText(frame: ClientFrame, name: string): string {
  const value = optionalText(frame, name);
  if (value !== undefined && value !== '') return value;
  throw errors.invalidRequest([{ type: 'missing', loc: ['body', name], msg: 'Field required', input: null }]);
}

export function optionalText({ fields }: ClientFrame, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  const msg = 'Input should be a valid string';
  throw errors.invalidRequest([{ type: 'string_type', loc: ['body', name], msg, input: value }]);
}

/** Reads the values with the form that the same request has over HTTP, so that both mean the same. */
export function readForm<Schema extends z.ZodType>(
  { fields }: ClientFrame,
  schema: Schema,
  others: readonly string[],
  fixed: Readonly<Record<string, string>> = {},
): z.output<Schema> {
  const given = Object.entries(fields).filter(([name]) => name !== 'action' && !others.includes(name));
  const form = new JsonForms(schema).fieldsOf(Object.fromEntries(given));
  const checked = validatePart('body', schema, { ...form, ...fixed }, true);
  if (!checked.ok) throw errors.invalidRequest(checked.items);
  return checked.value;
}
