/**
 * Whether a schema fits the strict mode of OpenAI's structured output, which refuses the request otherwise:
 * every object lists all of its properties as required and allows no others.
 */
export function fitsStrictMode(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(fitsStrictMode);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties, ...rest } = schema as Record<string, unknown>;
  if (rest.allOf || rest.oneOf || rest.not || rest.if || rest.patternProperties) return false;
  if (type === 'object' || properties !== undefined) {
    const names = Object.keys((properties ?? {}) as object);
    const listed = new Set(Array.isArray(required) ? required : []);
    if (additionalProperties !== false || !names.every((name) => listed.has(name))) return false;
    if (!Object.values((properties ?? {}) as object).every(fitsStrictMode)) return false;
  }
  const definitions = { ...(rest.$defs as object | undefined), ...(rest.definitions as object | undefined) };
  return [rest.items, rest.anyOf, ...Object.values(definitions)].every(fitsStrictMode);
}
