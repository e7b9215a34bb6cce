import type { Json, JsonObject } from '../../../core/json.js';

/** An object of the wire: fields without a value are left out, since clients iterate over what is there. */
export function wireObject(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const object: JsonObject = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) object[name] = value;
  }
  return object;
}

/** The last so many; all without a number. */
export function lastOf<Item>(items: readonly Item[], count: number | undefined): readonly Item[] {
  if (count === undefined) return items;
  return count === 0 ? [] : items.slice(-count);
}
