import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/** What the API enforces; everything else of a schema becomes a hint in words. */
const enforced = new Set([
  '$ref',
  '$defs',
  'definitions',
  'type',
  'enum',
  'const',
  'anyOf',
  'allOf',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'format',
  'minItems',
  'title',
  'description',
  'default',
]);
const formats = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/**
 * A schema in the subset that Anthropic enforces: objects are closed, and bounds are said in the description (the
 * answer is validated against the real schema afterwards). Undefined if that would change what the schema means.
 */
export function enforceableSchema(schema: JsonObject): JsonObject | undefined {
  try {
    return convert(schema);
  } catch (error) {
    if (error instanceof NotEnforceable) return undefined;
    throw error;
  }
}

class NotEnforceable extends Error {}

function convert(schema: unknown): JsonObject {
  if (!isJsonObject(schema)) throw new NotEnforceable();
  const { $schema: _, oneOf, ...source } = schema;
  if (oneOf !== undefined && source.anyOf === undefined) source.anyOf = oneOf;
  if (typeof source.$ref === 'string' && !source.$ref.startsWith('#')) throw new NotEnforceable();
  const result: JsonObject = {};
  const hints: string[] = [];
  for (const [key, value] of Object.entries(source)) {
    if (enforced.has(key) && isEnforced(key, value)) result[key] = convertKeyword(key, value);
    else hints.push(`${key}: ${JSON.stringify(value)}`);
  }
  closeObject(result, source);
  if (hints.length > 0) {
    result.description = [source.description, `(${hints.join(', ')})`].filter(Boolean).join(' ');
  }
  return result;
}

/** An object with any other properties cannot be closed without losing them. */
function closeObject(result: JsonObject, source: JsonObject): void {
  const isObject = source.type === 'object' || source.properties !== undefined;
  if (!isObject) return;
  const { additionalProperties } = source;
  const open = additionalProperties !== undefined && additionalProperties !== false;
  if (open || source.properties === undefined || source.patternProperties !== undefined) {
    throw new NotEnforceable();
  }
  result.additionalProperties = false;
}

function isEnforced(key: string, value: unknown): boolean {
  if (key === 'format') return formats.has(String(value));
  if (key === 'minItems') return value === 0 || value === 1;
  return true;
}

function convertKeyword(key: string, value: Json): Json {
  switch (key) {
    case 'items':
      return convert(value);
    case 'anyOf':
    case 'allOf':
      if (!Array.isArray(value)) throw new NotEnforceable();
      return value.map(convert);
    case 'properties':
    case '$defs':
    case 'definitions':
      if (!isJsonObject(value)) throw new NotEnforceable();
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, convert(member)]));
    default:
      return value;
  }
}
