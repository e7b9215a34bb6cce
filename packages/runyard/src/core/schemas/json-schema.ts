import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonSchema } from '../json.js';
import { boundedSchema } from './bounded-schema.js';
import { faultsOf, type SchemaFault } from './schema-faults.js';
import { interpretSchema } from './schema-interpreter.js';

export interface SchemaOptions {
  /** Turns `"3"` into 3 where a number is asked for, and the like. */
  readonly coerce?: boolean;
}

/** Checks a value, writes defaults (and coerced values) into it, and answers with what does not fit. */
export type CheckAgainstSchema = (value: Json) => readonly SchemaFault[];

const compiled = { plain: new WeakMap(), coercing: new WeakMap() } satisfies Record<
  string,
  WeakMap<JsonSchema, CheckAgainstSchema>
>;

/**
 * Compiles a JSON schema (2020-12, with formats) of the application. Throws when it is not one. Remembered by
 * identity. A schema from elsewhere is not turned into code.
 */
export async function compileJsonSchema(
  schema: JsonSchema,
  { coerce = false }: SchemaOptions = {},
): Promise<CheckAgainstSchema> {
  if (unchecked.has(schema)) return () => [];
  const known: WeakMap<JsonSchema, CheckAgainstSchema> = coerce ? compiled.coercing : compiled.plain;
  let check = known.get(schema);
  if (check === undefined) {
    check = foreign.has(schema) ? foreignCheck(schema) : await applicationCheck(schema, coerce);
    known.set(schema, check);
  }
  return check;
}

async function applicationCheck(schema: JsonSchema, coerce: boolean): Promise<CheckAgainstSchema> {
  compiler ??= loadCompiler();
  const validate = (await compiler)(schema, coerce);
  return (value) => (validate(value) ? [] : faultsOf(validate.errors ?? []));
}

const foreign = new WeakSet<object>();

/** Marks a schema that another system sent: see `foreignCheck`. */
export function fromElsewhere<Schema extends JsonSchema>(schema: Schema): Schema {
  foreign.add(schema);
  return schema;
}

export function isFromElsewhere(schema: object): boolean {
  return foreign.has(schema);
}

const unchecked = new WeakSet<object>();

/** Marks a schema that is only shown: the receiver of the values checks them. */
export function onlyShown<Schema extends JsonSchema>(schema: Schema): Schema {
  unchecked.add(schema);
  return schema;
}

/** Gives a copy of a schema the marks of the original. */
export function markedLike<Schema extends JsonSchema>(original: object, copy: Schema): Schema {
  if (foreign.has(original)) foreign.add(copy);
  if (unchecked.has(original)) unchecked.add(copy);
  return copy;
}

/** One that is too large to be checked here is left to the system that sent it, which checks values itself. */
export function foreignCheck(schema: JsonSchema): CheckAgainstSchema {
  try {
    const bounded = boundedSchema(schema);
    return (value) => interpretSchema(bounded, value);
  } catch {
    return () => [];
  }
}

/** Throws an Error that names the fault when this is not a JSON Schema. It has to be bounded first. */
export async function assertIsJsonSchema(schema: JsonSchema): Promise<void> {
  metaSchema ??= loadValidator().then(({ validator }) => validator());
  (await metaSchema).validateSchema(schema, true);
}

type Compiler = (schema: JsonSchema, coerce: boolean) => ValidateFunction;

let compiler: Promise<Compiler> | undefined;
let metaSchema: Promise<Ajv2020> | undefined;

async function loadCompiler(): Promise<Compiler> {
  const { validator } = await loadValidator();
  const options = (coerceTypes: boolean) => ({ allErrors: true, useDefaults: true, coerceTypes });
  // To compile the schema of schemas takes far longer than most schemas do: all of them share it.
  const [plain, coercing] = [validator(options(false)), validator(options(true))];
  return ({ $schema: _, ...schema }, coerceTypes) => {
    (coerceTypes ? coercing : plain).validateSchema(schema, true);
    // one instance per schema: two schemas may use the same `$id` for different things
    return validator({ ...options(coerceTypes), validateSchema: false }).compile(schema);
  };
}

/** The validator is loaded with the first schema that needs it: it is not worth its start-up time before. */
async function loadValidator() {
  const [{ Ajv2020 }, formats] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats')]);
  const validator = (options: ConstructorParameters<typeof Ajv2020>[0] = {}): Ajv2020 => {
    const ajv = new Ajv2020({ strict: false, logger: false, ...options });
    formats.default.default(ajv);
    return ajv;
  };
  return { validator };
}
