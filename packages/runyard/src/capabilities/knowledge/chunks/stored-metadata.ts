import { createHash } from 'node:crypto';
import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import { decodeText, encodeText } from '../../../platform/storage/text.js';

/** Scalars in the metadata of a chunk: each is a term of the index. */
const maximumValues = 1_000;
const maximumNesting = 32;

/** JSON as both databases hold it and compare it: texts that neither takes are encoded, keys included. */
export function encodeMetadata(value: Json): Json {
  return mapTexts(value, encodeText);
}

/** Reads what either database returns: SQLite a text, PostgreSQL the value. */
export function decodeMetadata(stored: unknown): JsonObject {
  // written by `encodeMetadata` from an object
  const value = (typeof stored === 'string' ? JSON.parse(stored) : stored) as JsonObject;
  // as above
  return mapTexts(value, decodeText) as JsonObject;
}

function mapTexts(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((member) => mapTexts(member, map));
  if (!isJsonObject(value)) return value;
  // defined, not assigned: the key may be __proto__
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [map(key), mapTexts(inner, map)]));
}

/** The terms that filters find metadata by: one for each scalar, with the keys that lead to it. */
export function facetsOf(metadata: JsonObject): Set<string> {
  const found = new Set<string>();
  let count = 0;
  const walk = (value: Json, path: readonly (string | null)[]): void => {
    if (path.length > maximumNesting) throw errors.metadataTooLarge(`${maximumNesting} levels`);
    if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value))
        walk(inner, [...path, Array.isArray(value) ? null : key]);
      return;
    }
    count += 1;
    if (count > maximumValues) throw errors.metadataTooLarge(`${maximumValues} values`);
    found.add(facetOf(path, value));
  };
  walk(metadata, []);
  return found;
}

/** `null` in a path stands for any place of a list. */
export function facetOf(path: readonly (string | null)[], value: Json): string {
  return createHash('md5')
    .update(JSON.stringify([path, value]))
    .digest('hex')
    .slice(0, 16);
}
