/** A value that survives JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** A JSON schema as plain data; what it means is the validator's business. */
export type JsonSchema = { [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws when the text is no JSON. */
export function parseJson(text: string): Json {
  return JSON.parse(text);
}
