import { isJsonObject, type JsonSchema } from '../json.js';

/** A schema inside another one, and which value it is about. */
export interface Subschema {
  readonly keyword: string;
  /** The name or number under the keyword, where it holds more than one schema. */
  readonly key?: string;
  readonly schema: unknown;
  /** The value that it is about: the `same` as that of the schema around it, a part of it, or none by itself. */
  readonly about: 'same' | 'part' | 'nothing';
}

/** The keywords that hold schemas, by what their own value looks like. */
const single: Readonly<Record<string, Subschema['about']>> = {
  not: 'same',
  if: 'same',
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name
  then: 'same',
  else: 'same',
  items: 'part',
  contains: 'part',
  additionalProperties: 'part',
  propertyNames: 'part',
  unevaluatedItems: 'part',
  unevaluatedProperties: 'part',
  contentSchema: 'nothing',
};
const listed = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const named: Readonly<Record<string, Subschema['about']>> = {
  properties: 'part',
  patternProperties: 'part',
  dependentSchemas: 'same',
  dependencies: 'same',
  $defs: 'nothing',
  definitions: 'nothing',
};

/** The keywords whose own keys are names that the author of the schema chose, whatever keyword they look like. */
export function holdsNamedSchemas(keyword: string): boolean {
  return Object.hasOwn(named, keyword);
}

export function holdsSchemas(keyword: string): boolean {
  return Object.hasOwn(single, keyword) || listed.has(keyword) || holdsNamedSchemas(keyword);
}

/** The schemas directly inside a schema. What has not the form of its keyword is left to the validator. */
export function subschemasOf(schema: JsonSchema): Subschema[] {
  const found: Subschema[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (Object.hasOwn(single, keyword)) {
      found.push({ keyword, schema: value, about: single[keyword] as Subschema['about'] });
    } else if (listed.has(keyword) && Array.isArray(value)) {
      for (const [index, inner] of value.entries()) {
        const about = keyword === 'prefixItems' ? 'part' : 'same';
        found.push({ keyword, key: String(index), schema: inner, about });
      }
    } else if (holdsNamedSchemas(keyword) && isJsonObject(value)) {
      const about = named[keyword] as Subschema['about'];
      for (const [key, inner] of Object.entries(value)) {
        // the old `dependencies` holds lists of names too
        if (Array.isArray(inner)) continue;
        found.push({ keyword, key, schema: inner, about });
      }
    }
  }
  return found;
}

/** What a reference points to: the schema itself or one of its definitions. Undefined for all other references. */
export function referenced(root: JsonSchema, reference: unknown): JsonSchema | boolean | undefined {
  if (reference === '#') return root;
  // an encoded name could be read in more than one way
  const match = typeof reference === 'string' && /^#\/(\$defs|definitions)\/([^/%]+)$/.exec(reference);
  if (!match) return undefined;
  const definitions = root[match[1] as string];
  const name = (match[2] as string).replaceAll('~1', '/').replaceAll('~0', '~');
  if (!isJsonObject(definitions) || !Object.hasOwn(definitions, name)) return undefined;
  const found = definitions[name];
  return isJsonObject(found) || typeof found === 'boolean' ? found : undefined;
}
