import { isJsonObject, type JsonObject, parseJson } from '../../../json.js';

/**
 * The arguments of an earlier call for a provider that takes them as an object. What the model wrote malformed
 * becomes empty: it learns of its mistake from the tool's answer, which quotes it.
 */
export function argumentsObject(text: string): JsonObject {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The arguments of an earlier call for a provider that takes them as text, repaired in the same way. */
export function argumentsText(text: string): string {
  try {
    return isJsonObject(JSON.parse(text)) ? text : '{}';
  } catch {
    return '{}';
  }
}
