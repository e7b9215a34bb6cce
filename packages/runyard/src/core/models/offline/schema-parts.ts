import type { JsonSchema } from '../../json.js';

/** Looks through references, `allOf` and alternatives, each once, so that no schema takes forever. */
export class SchemaReader {
  readonly #plain = new Map<JsonSchema, JsonSchema>();

  constructor(readonly root: JsonSchema) {}

  /** The schema with its reference followed, its `allOf` merged and one branch of its alternatives chosen. */
  plain(schema: unknown): JsonSchema {
    if (!isSchema(schema)) return {};
    const known = this.#plain.get(schema);
    if (known) return known;
    // Stands in for the schema while it is read: one that refers to itself ends here.
    this.#plain.set(schema, {});
    const plain = this.#read(schema);
    this.#plain.set(schema, plain);
    return plain;
  }

  acceptsNull(schema: unknown): boolean {
    if (!isSchema(schema)) return false;
    const branches = alternativesOf(schema).map((branch) => this.plain(branch));
    return [this.plain(schema), ...branches].some(({ type }) => [type].flat().includes('null'));
  }

  #read(schema: JsonSchema): JsonSchema {
    const { $ref, allOf, anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
    let plain: JsonSchema = rest;
    if (typeof $ref === 'string') plain = merge(this.plain(atPointer(this.root, $ref)), plain);
    for (const part of Array.isArray(allOf) ? allOf : []) plain = merge(plain, this.plain(part));
    const branches = alternativesOf(schema).map((branch) => this.plain(branch));
    const branch = branches.find((candidate) => candidate.type !== 'null') ?? branches[0];
    return branch ? merge(plain, branch) : plain;
  }
}

function alternativesOf(schema: JsonSchema): unknown[] {
  if (Array.isArray(schema.anyOf)) return schema.anyOf;
  return Array.isArray(schema.oneOf) ? schema.oneOf : [];
}

/** The kind of value a schema asks for; where it does not say, its other words do. */
export function typeOf(schema: JsonSchema): string {
  if (typeof schema.type === 'string') return schema.type;
  if (Array.isArray(schema.type)) return (schema.type.find((type) => type !== 'null') as string) ?? 'null';
  if (schema.properties || schema.required || schema.additionalProperties) return 'object';
  if (schema.items || schema.prefixItems || schema.minItems) return 'array';
  if (schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined)
    return 'number';
  return 'string';
}

export function propertiesOf(schema: JsonSchema): [string, unknown][] {
  return isSchema(schema.properties) ? Object.entries(schema.properties) : [];
}

export function requiredOf(schema: JsonSchema): Set<string> {
  return new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
}

/** The values that a schema allows by name. */
export function choicesOf(schema: JsonSchema): unknown[] | undefined {
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function merge(left: JsonSchema, right: JsonSchema): JsonSchema {
  const merged: JsonSchema = { ...left, ...right };
  if (isSchema(left.properties) && isSchema(right.properties)) {
    merged.properties = { ...left.properties, ...right.properties };
  }
  const required = new Set([...requiredOf(left), ...requiredOf(right)]);
  if (required.size > 0) merged.required = [...required];
  return merged;
}

function atPointer(root: JsonSchema, reference: string): unknown {
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
