import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isJsonObject, type Json } from './json.js';

export function isOfType(value: Json, type: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  return typeof value !== 'object' && typeof value === type;
}

/** A simple value as one of another type that says the same. */
export function coercedTo(value: Json, types: readonly unknown[]): Json | undefined {
  if (value === null || typeof value === 'object') return undefined;
  for (const type of types) {
    if (type === 'string') return String(value);
    if (type === 'boolean') {
      if (value === 'true' || value === 1) return true;
      if (value === 'false' || value === 0) return false;
    }
    if (type === 'number' || type === 'integer') {
      const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
      if (type === 'integer' ? Number.isInteger(number) : Number.isFinite(number)) return number;
    }
  }
  return undefined;
}

/** In characters as people count them: a pair of surrogates is one. */
export function lengthOf(text: string): number {
  let { length } = text;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next < 0xdc00 || next > 0xdfff) continue;
    length--;
    index++;
  }
  return length;
}

type FormatCheck = RegExp | ((text: string) => boolean);

/** The formats that are checked quickly, whatever the text is. */
export const quickFormats: ReadonlyMap<string, FormatCheck> = new Map(
  (['date', 'time', 'date-time', 'duration', 'uuid', 'ipv4'] as const).map((name) => {
    // of the kinds that ajv has, these formats are of the synchronous ones
    const format = fullFormats[name] as FormatCheck | { readonly validate: FormatCheck };
    return [name, 'validate' in format ? format.validate : format];
  }),
);
