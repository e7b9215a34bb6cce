import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/** Looks through references, `allOf` and alternatives, each once, so that no schema takes forever. */
export class SchemaReader {
  readonly #plain = new Map<JsonObject, JsonObject>();

  constructor(readonly root: JsonObject) {}

  /** The schema with its reference followed, its `allOf` merged and one branch of its alternatives chosen. */
  plain(schema: unknown): JsonObject {
    if (!isJsonObject(schema)) return {};
    const known = this.#plain.get(schema);
    if (known) return known;
    // Stands in for the schema while it is read: one that refers to itself ends here.
    this.#plain.set(schema, {});
    const plain = this.#read(schema);
    this.#plain.set(schema, plain);
    return plain;
  }

  acceptsNull(schema: unknown): boolean {
    if (!isJsonObject(schema)) return false;
    const branches = alternativesOf(schema).map((branch) => this.plain(branch));
    return [this.plain(schema), ...branches].some(({ type }) => [type].flat().includes('null'));
  }

  #read(schema: JsonObject): JsonObject {
    const { $ref, allOf, anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
    let plain: JsonObject = rest;
    if (typeof $ref === 'string') plain = merge(this.plain(atPointer(this.root, $ref)), plain);
    for (const part of Array.isArray(allOf) ? allOf : []) plain = merge(plain, this.plain(part));
    const branches = alternativesOf(schema).map((branch) => this.plain(branch));
    const branch = branches.find((candidate) => candidate.type !== 'null') ?? branches[0];
    return branch ? merge(plain, branch) : plain;
  }
}

function alternativesOf(schema: JsonObject): unknown[] {
  if (Array.isArray(schema.anyOf)) return schema.anyOf;
  return Array.isArray(schema.oneOf) ? schema.oneOf : [];
}

/** The kind of value a schema asks for; where it does not say, its other words do. */
export function typeOf(schema: JsonObject): string {
  if (typeof schema.type === 'string') return schema.type;
  if (Array.isArray(schema.type)) return String(schema.type.find((type) => type !== 'null') ?? 'null');
  if (schema.properties || schema.required || schema.additionalProperties) return 'object';
  if (schema.items || schema.prefixItems || schema.minItems) return 'array';
  if (schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined)
    return 'number';
  return 'string';
}

export function propertiesOf(schema: JsonObject): [string, unknown][] {
  return isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
}

export function requiredOf(schema: JsonObject): Set<string> {
  return new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
}

/** The values that a schema allows by name. */
export function choicesOf(schema: JsonObject): Json[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function merge(left: JsonObject, right: JsonObject): JsonObject {
  const merged: JsonObject = { ...left, ...right };
  if (isJsonObject(left.properties) && isJsonObject(right.properties)) {
    merged.properties = { ...left.properties, ...right.properties };
  }
  const required = new Set([...requiredOf(left), ...requiredOf(right)]);
  if (required.size > 0) merged.required = [...required];
  return merged;
}

function atPointer(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#')) return {};
  let value: unknown = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }
  return value;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
