import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from './json.js';

export interface SchemaOptions {
  /** Turns `"3"` into 3 where a number is asked for, and the like. */
  readonly coerce?: boolean;
}

/** Checks a value, writes defaults (and coerced values) into it, and answers with what does not fit. */
export type CheckAgainstSchema = (value: unknown) => readonly ErrorObject[];

type Compiler = (schema: JsonSchema, options: SchemaOptions) => ValidateFunction;

const compiled = {
  strict: new WeakMap<JsonSchema, CheckAgainstSchema>(),
  coerce: new WeakMap<JsonSchema, CheckAgainstSchema>(),
};
let compiler: Promise<Compiler> | undefined;

/** Compiles a JSON schema (2020-12, with formats). Throws when it is not one. Remembered by identity. */
export async function compileJsonSchema(
  schema: JsonSchema,
  options: SchemaOptions = {},
): Promise<CheckAgainstSchema> {
  const known = options.coerce ? compiled.coerce : compiled.strict;
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
  return ({ $schema: _, ...schema }, { coerce = false }) => {
    // one instance per schema: two schemas may use the same `$id` for different things
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      useDefaults: true,
      coerceTypes: coerce,
      logger: false,
    });
    formats.default.default(ajv);
    return ajv.compile(schema);
  };
}
