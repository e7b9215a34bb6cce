import { isJsonObject } from '../../json.js';
/**
 * Whether a schema fits the strict mode of OpenAI's structured output, which refuses the request otherwise:
 * every object lists all of its properties as required and allows no others.
 */
export function fitsStrictMode(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(fitsStrictMode);
  if (!isJsonObject(schema)) return true;
  const { type, properties, required, additionalProperties, ...rest } = schema;
  if (rest.allOf || rest.oneOf || rest.not || rest.if || rest.patternProperties) return false;
  if (type === 'object' || properties !== undefined) {
    const names = Object.keys(properties ?? {});
    const listed = new Set(Array.isArray(required) ? required : []);
    if (additionalProperties !== false || !names.every((name) => listed.has(name))) return false;
    if (!Object.values(properties ?? {}).every(fitsStrictMode)) return false;
  }
  const definitions = [rest.$defs, rest.definitions].flatMap((named) => Object.values(named ?? {}));
  return [rest.items, rest.anyOf, ...definitions].every(fitsStrictMode);
}
