import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';

/** The JSON Patch (RFC 6902) that makes the second value from the first. Lists are replaced as a whole. */
export function statePatch(before: JsonObject, after: JsonObject, path = ''): JsonObject[] {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return [
    ...removed.map((key) => ({ op: 'remove', path: `${path}/${escaped(key)}` })),
    ...Object.entries(after).flatMap(([key, value]) =>
      changes(Object.hasOwn(before, key) ? before[key] : undefined, value, `${path}/${escaped(key)}`),
    ),
  ];
}

function changes(before: Json | undefined, value: Json, path: string): JsonObject[] {
  if (before === undefined) return [{ op: 'add', path, value }];
  if (isJsonObject(before) && isJsonObject(value)) return statePatch(before, value, path);
  return isDeepStrictEqual(before, value) ? [] : [{ op: 'replace', path, value }];
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
