import { errors } from '../../core/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { parseJson } from '../../platform/http/json-text.js';

/** Reads the `factory_input` of a form. Only a factory asks for it. */
export function factoryInputOf(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw errors.invalidFactoryInput(`factory_input is not JSON: ${reason}`);
  }
  if (!isJsonObject(value)) throw errors.invalidFactoryInput('factory_input has to be a JSON object.');
  return value;
}
