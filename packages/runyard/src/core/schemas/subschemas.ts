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
const single: ReadonlyMap<string, Subschema['about']> = new Map(
  Object.entries({
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
  }),
);
const listed = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const named: ReadonlyMap<string, Subschema['about']> = new Map(
  Object.entries({
    properties: 'part',
    patternProperties: 'part',
    dependentSchemas: 'same',
    dependencies: 'same',
    $defs: 'nothing',
    definitions: 'nothing',
  }),
);

/** The keywords whose own keys are names that the author of the schema chose, whatever keyword they look like. */
export function holdsNamedSchemas(keyword: string): boolean {
  return named.has(keyword);
}

export function holdsSchemas(keyword: string): boolean {
  return single.has(keyword) || listed.has(keyword) || holdsNamedSchemas(keyword);
}

/** The schemas directly inside a schema. What has not the form of its keyword is left to the validator. */
export function subschemasOf(schema: JsonSchema): Subschema[] {
  const found: Subschema[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const about = single.get(keyword) ?? named.get(keyword) ?? 'same';
    if (single.has(keyword)) found.push({ keyword, schema: value, about });
    else if (listed.has(keyword) && Array.isArray(value)) {
      for (const [index, inner] of value.entries()) {
        const ofItem = keyword === 'prefixItems' ? 'part' : about;
        found.push({ keyword, key: String(index), schema: inner, about: ofItem });
      }
    } else if (named.has(keyword) && isJsonObject(value)) {
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
  const [, keyword = '', encoded = ''] =
    (typeof reference === 'string' && /^#\/(\$defs|definitions)\/([^/%]+)$/.exec(reference)) || [];
  const definitions = root[keyword];
  const name = encoded.replaceAll('~1', '/').replaceAll('~0', '~');
  if (!isJsonObject(definitions) || !Object.hasOwn(definitions, name)) return undefined;
  const found = definitions[name];
  return isJsonObject(found) || typeof found === 'boolean' ? found : undefined;
}
