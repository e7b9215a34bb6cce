import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import { definitionOf, fieldsIn, longestFieldName, repeatableFields } from './fields.js';
import { JsonFault, parseUntrustedJson } from './json-text.js';

/** Refuses JSON in another encoding than UTF-8: it would be read as other text than the client wrote. */
export function checkCharset(contentType = ''): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1];
  if (charset && !/^(utf-?8|us-ascii)$/i.test(charset))
    throw errors.unsupportedMediaType(contentType, ['application/json in UTF-8']);
}

/** The value of a body of JSON, which may begin with a byte order mark. */
export function parseJsonBody(bytes: Buffer): Json {
  try {
    return parseUntrustedJson(new TextDecoder().decode(bytes));
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw errors.invalidRequest([
      {
        type: 'json_invalid',
        loc: ['body', error.offset],
        msg: 'JSON decode error',
        input: {},
        ctx: { error: error.message },
      },
    ]);
  }
}

/** A body of JSON in place of a form. */
export function parseJsonForm(bytes: Buffer, maxFields: number): JsonObject {
  const value = bytes.length === 0 ? {} : parseJsonBody(bytes);
  if (!isJsonObject(value)) {
    const msg = 'Input should be a valid dictionary';
    throw errors.invalidRequest([{ type: 'dict_type', loc: ['body'], msg, input: value }]);
  }
  if (Object.keys(value).length > maxFields)
    throw errors.payloadTooLarge('The number of fields in the body', String(maxFields), 'maxFields');
  return value;
}

/**
 * Turns JSON into the fields of the form that says the same: both are then read by one schema, and mean the same. A form
 * holds texts, JSON may hold the values themselves. What is null or an empty text counts as not given.
 */
export class JsonForms {
  readonly #repeatable: ReadonlySet<string>;
  readonly #texts: ReturnType<typeof textFields>;

  constructor(schema: z.ZodType | undefined) {
    this.#repeatable = repeatableFields(schema);
    this.#texts = textFields(schema);
  }

  fieldsOf(value: JsonObject): Record<string, unknown> {
    const fields: Record<string, unknown> = Object.create(null);
    for (const [name, member] of Object.entries(value)) {
      // no field has this name, and copying it would set a prototype instead of a field
      if (name === '__proto__' || member === null || member === '') continue;
      if (name.length > longestFieldName)
        throw errors.payloadTooLarge('The name of a field', `${longestFieldName} characters`);
      if (this.#repeatable.has(name)) {
        const list = Array.isArray(member) ? member : [member];
        if (list.length > 0) fields[name] = list;
      } else fields[name] = this.#isText(name, member) ? member : JSON.stringify(member);
    }
    return fields;
  }

  /** Whether the member is left as it is: the schema refuses what is no text. */
  #isText(name: string, member: Json): boolean {
    if (typeof member === 'string') return true;
    return this.#texts.has(name) && typeof member !== this.#texts.get(name);
  }
}

/** Marks a text that a body of JSON may also hold as an object (or an array), or as a number. */
export const jsonMayBe = 'x-json-may-be';
type JsonMayBe = 'object' | 'number' | undefined;

/** The fields that hold a text, each with what a body of JSON may hold in its place. */
function textFields(schema: z.ZodType | undefined): ReadonlyMap<string, JsonMayBe> {
  const texts = fieldsIn(schema).filter(([, field]) => isText(field));
  return new Map(
    texts.map(([name, field]) => {
      const kind = z.globalRegistry.get(field)?.[jsonMayBe];
      return [name, kind === 'object' || kind === 'number' ? kind : undefined];
    }),
  );
}

function isText(schema: z.core.SomeType): boolean {
  if (
    schema instanceof z.core.$ZodType &&
    z.globalRegistry.get(schema)?.contentMediaType === 'application/json'
  )
    return false;
  const def = definitionOf(schema);
  if ('innerType' in def) return isText(def.innerType);
  return def.type === 'string' || def.type === 'enum';
}
