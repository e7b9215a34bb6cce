import type { Json, JsonObject } from '../../../core/json.js';
import { sha256 } from './content-id.js';

/** A longer value is compared by its hash: databases bound what an index holds. */
const longestValue = 500;

/** A metadata value as lists compare it: the same text for equal values. */
export function comparableValue(value: Json): string {
  const text = canonicalJson(value);
  return text.length <= longestValue ? text : `#${sha256(text)}`;
}

/** JSON with sorted keys. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${entries.join(',')}}`;
}

/** The keys that only Runyard sets: where a content comes from, and which knowledge base a chunk belongs to. */
const reservedKeys: ReadonlySet<string> = new Set(['_agno', 'linked_to']);

/** What a user says, without the keys that are not theirs to set. */
export function withoutReserved<Value>(metadata: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !reservedKeys.has(key)));
}

export const mostMetadataKeys = 100;
const longestMetadataKey = 255;
const mostMetadataCharacters = 65_536;
/** Chunks have these values and those of their reader, 1,000 in all. */
const mostMetadataValues = 900;
const mostMetadataLevels = 32;

/** What is wrong with metadata, in words; undefined when nothing is. */
export function metadataFault(metadata: JsonObject): string | undefined {
  const keys = Object.keys(metadata);
  if (keys.length > mostMetadataKeys)
    return `${keys.length} keys are more than the limit of ${mostMetadataKeys}`;
  if (keys.some((key) => key.length > longestMetadataKey))
    return `a key is longer than the limit of ${longestMetadataKey} characters`;
  if (JSON.stringify(metadata).length > mostMetadataCharacters)
    return `it is longer than the limit of ${mostMetadataCharacters} characters`;
  const { values, levels } = extentOf(metadata);
  if (values > mostMetadataValues) return `${values} values are more than the limit of ${mostMetadataValues}`;
  return levels > mostMetadataLevels
    ? `it is nested deeper than the limit of ${mostMetadataLevels} levels`
    : undefined;
}

/** How many values a value consists of, and how deep it is nested. */
function extentOf(value: Json): { readonly values: number; readonly levels: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, levels: 0 };
  const inner = Object.values(value).map(extentOf);
  return {
    values: inner.reduce((sum, { values }) => sum + values, 0),
    levels: 1 + Math.max(0, ...inner.map(({ levels }) => levels)),
  };
}
