import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { isJsonObject, type JsonSchema } from './json.js';

export interface SchemaOptions {
  /** Turns `"3"` into 3 where a number is asked for, and the like. */
  readonly coerce?: boolean;
  /** For a schema that came with a request (see `boundedSchema`): no more is done than finding the first fault. */
  readonly frugal?: boolean;
}

/** Checks a value, writes defaults (and coerced values) into it, and answers with what does not fit. */
export type CheckAgainstSchema = (value: unknown) => readonly ErrorObject[];

type Compiler = (schema: JsonSchema, options: SchemaOptions) => ValidateFunction;

const compiled = new Map<string, WeakMap<JsonSchema, CheckAgainstSchema>>();
let compiler: Promise<Compiler> | undefined;

/** Compiles a JSON schema (2020-12, with formats). Throws when it is not one. Remembered by identity. */
export async function compileJsonSchema(
  schema: JsonSchema,
  options: SchemaOptions = {},
): Promise<CheckAgainstSchema> {
  const kind = `${options.coerce === true} ${options.frugal === true}`;
  const known = compiled.get(kind) ?? new WeakMap<JsonSchema, CheckAgainstSchema>();
  compiled.set(kind, known);
  let check = known.get(schema);
  if (check === undefined) {
    compiler ??= loadCompiler();
    const validate = (await compiler)(schema, options);
    check = (value) => (validate(value) ? [] : (validate.errors ?? []));
    known.set(schema, check);
  }
  return check;
}

/** The validator is loaded with the first schema that needs it: it is not worth its start-up time before. */
async function loadCompiler(): Promise<Compiler> {
  const [{ Ajv2020 }, formats] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats')]);
  return ({ $schema: _, ...schema }, { coerce = false, frugal = false }) => {
    // one instance per schema: two schemas may use the same `$id` for different things
    const ajv = new Ajv2020({
      strict: false,
      allErrors: !frugal,
      // a definition that is written out wherever it is used makes a large program of a small schema
      inlineRefs: !frugal,
      code: { optimize: !frugal },
      useDefaults: true,
      coerceTypes: coerce,
      logger: false,
    });
    formats.default.default(ajv);
    if (frugal) compareItemsOnce(ajv);
    return ajv.compile(schema);
  };
}

/** The validator compares each item with each other one, which takes minutes for a long list of objects. */
function compareItemsOnce(ajv: Ajv2020): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate: (wanted: boolean, items: readonly unknown[]) =>
      !wanted || new Set(items.map((item) => JSON.stringify(inOrder(item)))).size === items.length,
  });
}

/** The value with the keys of its objects in one order: in which one they were written makes no difference. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key])]));
}
