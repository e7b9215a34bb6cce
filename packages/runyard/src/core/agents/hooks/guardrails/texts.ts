import type { Json } from '../../../json.js';

/** Every text in a value. */
export function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((part) => textsIn(part));
}

/** The same value with every text in it rewritten. */
export function mapTexts<Value extends Json>(value: Value, rewrite: (text: string) => string): Value {
  // texts become texts, and everything else stays what it is
  return mapped(value, rewrite) as Value;
}

function mapped(value: Json, rewrite: (text: string) => string): Json {
  if (typeof value === 'string') return rewrite(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => mapped(part, rewrite));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapped(part, rewrite)]));
}
