import { z } from 'zod';

/** Callers may send any set of fields: only so many are worth a schema. */
const mostSets = 32;

interface Narrowed {
  /** Fields that have a value, or a fault, when a request does not name them. */
  readonly always: readonly string[];
  readonly bySet: Map<string, z.ZodType>;
}

const known = new WeakMap<z.ZodType, Narrowed>();

/**
 * The schema of the fields that a request has: the body of a run may have thirty and mostly has two, and zod checks
 * those that are absent as well. It accepts what the whole schema accepts, with the same result; a request that it
 * refuses is for the whole schema to judge.
 */
export function schemaOfGiven(schema: z.ZodType, value: unknown): z.ZodType {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return schema;
  const narrowed = narrowedOf(schema);
  const given = Object.keys(value);
  const name = given.join('\n');
  const found = narrowed.bySet.get(name);
  if (found !== undefined) return found;
  if (narrowed.bySet.size >= mostSets || !mayNarrow(schema, given)) return schema;
  const fields = [...given, ...narrowed.always].map((field) => [field, schema.shape[field]]);
  const made = schema.clone({ ...schema.def, shape: Object.fromEntries(fields) });
  narrowed.bySet.set(name, made);
  return made;
}

function narrowedOf(schema: z.ZodObject): Narrowed {
  let narrowed = known.get(schema);
  if (narrowed === undefined) {
    const always = Object.entries(schema.shape).filter(([, field]) => !mayBeAbsent(field));
    narrowed = { always: always.map(([name]) => name), bySet: new Map() };
    known.set(schema, narrowed);
  }
  return narrowed;
}

function mayBeAbsent(field: z.core.$ZodType): boolean {
  const absent = z.safeParse(field, undefined);
  return absent.success && absent.data === undefined;
}

/** Rules between fields, and fields that the schema does not know, are for the whole schema. */
function mayNarrow({ def, shape }: z.ZodObject, names: readonly string[]): boolean {
  return (def.checks?.length ?? 0) === 0 && names.every((name) => Object.hasOwn(shape, name));
}
