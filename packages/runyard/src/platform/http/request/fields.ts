import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import { JsonFault, parseUntrustedJson } from './json-text.js';
import { StreamedFile } from './streamed-file.js';
import { UploadedFile } from './uploaded-file.js';
import { type Fault, valueError } from './validation.js';

/** How long the name of a field may be that a client sends. */
export const longestFieldName = 255;

/** How long an id that a client chose may be. */
const maxIdentifierLength = 255;

/** Reports a fault with the contract's type and text from inside a transform or a check. */
function report(payload: z.core.ParsePayload, fault: Fault): void {
  payload.issues.push({
    code: 'custom',
    input: payload.value,
    message: fault.msg,
    params: { fault },
  });
}

/**
 * An id that a client gives: any characters but U+0000, which PostgreSQL cannot store, and half a surrogate pair, which
 * no address can name.
 */
export function identifier() {
  return z
    .string()
    .max(maxIdentifierLength)
    .check((payload) => {
      if (payload.value.includes('\u0000'))
        report(payload, valueError('the character U+0000 is not allowed'));
      else if (/\p{Surrogate}/u.test(payload.value))
        report(payload, valueError('a lone surrogate is not a character. Send valid Unicode'));
    });
}

const booleanWords = new Map<string, boolean>(
  Object.entries({ true: true, 1: true, yes: true, on: true, t: true, y: true }).concat(
    Object.entries({ false: false, 0: false, no: false, off: false, f: false, n: false }),
  ),
);

/** A boolean in a form or a query: true/false, 1/0, yes/no, on/off, t/f, y/n in any case. */
export function formBoolean() {
  return z
    .string()
    .transform((text, payload): boolean => {
      const value = booleanWords.get(text) ?? booleanWords.get(text.trim().toLowerCase());
      if (value !== undefined) return value;
      report(payload, {
        type: 'bool_parsing',
        msg: 'Input should be a valid boolean, unable to interpret input',
      });
      return z.NEVER;
    })
    .meta({ type: 'boolean' });
}

export interface IntegerBounds {
  readonly min?: number;
  readonly max?: number;
  /** What a larger number is taken for: it is accepted. */
  readonly atMost?: number;
}

/** An integer in a form, a query or a path. */
export function formInteger(bounds: IntegerBounds = {}) {
  let range = z.number();
  if (bounds.min !== undefined) range = range.min(bounds.min);
  if (bounds.max !== undefined) range = range.max(bounds.max);
  return z
    .string()
    .transform((text, payload): number => {
      const value = /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : Number.NaN;
      if (Number.isSafeInteger(value)) return Math.min(value, bounds.atMost ?? value);
      report(payload, {
        type: 'int_parsing',
        msg: 'Input should be a valid integer, unable to parse string as an integer',
      });
      return z.NEVER;
    })
    .pipe(range)
    .meta({
      type: 'integer',
      ...(bounds.min === undefined ? undefined : { minimum: bounds.min }),
      ...(bounds.max === undefined ? undefined : { maximum: bounds.max }),
    });
}

/** A form field that holds JSON as text, which then has to fit `schema`. */
export function jsonField<Output>(schema: z.ZodType<Output, Json>, contentSchema: object = {}) {
  return z
    .string()
    .transform((text, payload): Json => {
      try {
        return parseUntrustedJson(text);
      } catch (error) {
        if (!(error instanceof JsonFault)) throw error;
        report(payload, {
          type: 'json_invalid',
          msg: 'JSON decode error',
          ctx: { error: error.message, position: error.offset },
        });
        return z.NEVER;
      }
    })
    .pipe(schema)
    .meta({ contentMediaType: 'application/json', contentSchema });
}

/** A form field that holds a JSON object as text. */
export function jsonObjectField() {
  const object = z.custom<Json>().transform((value, payload): JsonObject => {
    if (isJsonObject(value)) return value;
    report(payload, { type: 'dict_type', msg: 'Input should be a valid dictionary' });
    return z.NEVER;
  });
  return jsonField(object, { type: 'object' });
}

/** A form field that holds a JSON array as text. */
export function jsonArrayField() {
  const array = z.custom<Json>().transform((value, payload): Json[] => {
    if (Array.isArray(value)) return value;
    report(payload, { type: 'list_type', msg: 'Input should be a valid list' });
    return z.NEVER;
  });
  return jsonField(array, { type: 'array' });
}

const fileExpected = 'expected an uploaded file. Send it as multipart/form-data with a filename';

/** Uploaded files under one repeatable field name. */
export function uploadedFiles() {
  const file = z
    .custom<UploadedFile>()
    .check((payload) => {
      if (!(payload.value instanceof UploadedFile)) {
        report(payload, valueError(fileExpected));
      }
    })
    .meta({ type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' });
  return z.array(file);
}

/** The same, of a route that has the files stored while they arrive (`RouteFacts.uploads`). */
export function streamedFiles<Stored>() {
  const file = z
    .custom<StreamedFile<Stored>>()
    .check((payload) => {
      if (!(payload.value instanceof StreamedFile)) report(payload, valueError(fileExpected));
    })
    .meta({ type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' });
  return z.array(file);
}

/** Names of the fields that hold files. */
export function fileFields(schema: z.ZodType | undefined): ReadonlySet<string> {
  return fieldsOf(schema, (field) => {
    const list = listOf(field);
    return list !== undefined && z.globalRegistry.get(list.element)?.format === 'binary';
  });
}

/** Names of the fields of an object schema that may be sent several times; of all others the last one counts. */
export function repeatableFields(schema: z.ZodType | undefined): ReadonlySet<string> {
  return fieldsOf(schema, (field) => listOf(field) !== undefined);
}

function fieldsOf(
  schema: z.ZodType | undefined,
  includes: (field: z.core.$ZodType) => boolean,
): ReadonlySet<string> {
  return new Set(fieldsIn(schema).flatMap(([name, field]) => (includes(field) ? [name] : [])));
}

/** The fields of an object schema. */
export function fieldsIn(schema: z.ZodType | undefined): [string, z.core.$ZodType][] {
  return schema instanceof z.ZodObject ? Object.entries<z.core.$ZodType>(schema.shape) : [];
}

/** What a schema consists of, by its type. */
export function definitionOf(schema: z.core.SomeType): z.core.$ZodTypes['_zod']['def'] {
  // every schema is of one of zod's types
  return (schema as z.core.$ZodTypes)._zod.def;
}

function listOf(schema: z.core.SomeType): z.core.$ZodArrayDef | undefined {
  const def = definitionOf(schema);
  if (def.type === 'array') return def;
  if (def.type === 'pipe') return listOf(def.in);
  return 'innerType' in def ? listOf(def.innerType) : undefined;
}

/** Refuses the key that a record would leave out without a word. */
export function withoutPrototype<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((given, context) => {
    if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__'))
      context.issues.push({
        code: 'custom',
        input: null,
        path: ['__proto__'],
        message: '__proto__ cannot be a key. Leave it out.',
      });
    return given;
  }, schema);
}
