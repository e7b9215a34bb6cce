import { errors } from '../../errors/errors.js';
import { thrownError } from '../../errors/thrown-error.js';
import { isJsonObject } from '../../json.js';
import { fieldsOf } from '../../objects.js';
import { objectOf, required, word } from '../../options/kinds.js';
import { objectSchema } from '../../options/schema-kind.js';
import { markedLike } from '../../schemas/json-schema.js';
import { isZodSchema, jsonSchemaOf, type ValueSchema } from '../../schemas/value-schema.js';

/** What an agent notes down in fields that the application defines. */
export interface WorkingMemorySettings {
  /** An object: each of its properties is a field of the memory. */
  readonly schema: ValueSchema;
  /** Whose it is: that of a session, or that of a user over all sessions with this agent. Default `session`. */
  readonly scope?: 'session' | 'user';
}

export const workingMemoryOptions = objectOf<WorkingMemorySettings>({
  schema: required(objectSchema),
  scope: word('session', 'user'),
});

const mostFields = 100;

/** The schema of each field by its name. */
export function fieldSchemas({ schema }: WorkingMemorySettings): ReadonlyMap<string, ValueSchema> {
  const { properties, $defs } = jsonSchemaOf(schema);
  if (!isJsonObject(properties)) return new Map();
  const definitions = $defs === undefined ? {} : { $defs };
  const { shape } = fieldsOf(schema);
  return new Map(
    Object.entries(properties).map(([name, property]) => {
      const own: unknown = isZodSchema(schema) ? fieldsOf(shape)[name] : undefined;
      // zod checks more than a JSON schema can express; the shape of an object has a zod schema for each property
      if (own !== undefined) return [name, own as ValueSchema];
      return [name, markedLike(schema, { ...fieldsOf(property), ...definitions })];
    }),
  );
}

/** Refuses a schema that has no fields. `owner` as in `Agent 'bank'`. */
export function checkWorkingMemory(
  owner: string,
  { workingMemory }: { readonly workingMemory?: WorkingMemorySettings },
): void {
  if (workingMemory === undefined) return;
  let fields: number;
  try {
    fields = fieldSchemas(workingMemory).size;
  } catch (error) {
    throw errors.invalidConfig(
      `${owner} has a workingMemory.schema that cannot be used: ${thrownError(error).message}`,
    );
  }
  if (fields === 0 || fields > mostFields)
    throw errors.invalidConfig(
      `${owner} has a workingMemory.schema with ${fields} properties. Give an object with 1 to ${mostFields}, such as z.object({ name: z.string() }).`,
    );
}
