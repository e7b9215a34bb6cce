/** A value that survives JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The same as application code has it before JSON holds it: lists may be read-only, and fields left undefined. */
export type GivenJson =
  | string
  | number
  | boolean
  | null
  | readonly GivenJson[]
  | { readonly [key: string]: GivenJson | undefined };

/** A JSON schema as plain data; what it means is the validator's business. */
export type JsonSchema = { [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The data of a schema that an application or zod gives: its type allows for values that no JSON schema holds. */
export function schemaData(schema: JsonSchema): JsonObject {
  // a value that is not JSON would change nothing here: the validator refuses the schema when it compiles it
  return schema as JsonObject;
}

/** Throws when the text is no JSON. */
export function parseJson(text: string): Json {
  return JSON.parse(text);
}
