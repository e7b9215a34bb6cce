export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a person wrote as JSON. Throws an error that says what is wrong with it; an empty text is undefined. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The same for an object. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) throw new Error('This must be a JSON object, such as {"lang": "en"}.');
  return value;
}

/** What is wrong with a text, for the field that holds it. */
export function jsonFault(text: string, parse: (text: string) => unknown = parseJson): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** An object as a person edits it. */
export function jsonText(value: unknown): string {
  return value === undefined || value === null ? '' : JSON.stringify(value, null, 2);
}
