import { thrownError } from '../../errors/thrown-error.js';
import { isJsonObject, schemaData } from '../../json.js';
import { shown } from '../../options/faults.js';
import { objectSchema, schema as schemaKind } from '../../options/schema-kind.js';
import { boundedSchema } from '../../schemas/bounded-schema.js';
import { fromElsewhere } from '../../schemas/json-schema.js';
import { isZodSchema, type ValueSchema } from '../../schemas/value-schema.js';
import type { ConfigValue } from '../config-keys.js';
import type { Reading } from '../reading.js';
import { nameFor, nameIn, resolved } from './named-values.js';

/** The name of a registered schema, or a JSON schema. */
export const schema = schemaValue(schemaKind);

/** The same for the input of a run, which is an object. */
export const inputSchema = schemaValue(objectSchema);

function schemaValue(kind: typeof schemaKind): ConfigValue {
  return {
    read: (value, at) => {
      if (typeof value === 'string') {
        const name = nameIn(value, at);
        return name === undefined ? undefined : resolved(({ schemas }) => schemas, name, at);
      }
      if (!isJsonObject(value)) return at.fault(`is ${shown(value)}. Give a name or a JSON schema.`);
      return at.checked(kind, value) === undefined ? undefined : bounded(value, at);
    },
    write: (setting, at) => {
      // the settings with this value hold schemas only
      const given = setting as ValueSchema;
      // a zod schema may check more than a JSON schema can say
      return isZodSchema(given) ? nameFor(at.registry.schemas, given, at) : schemaData(given);
    },
  };
}

/** Everyone who may write configurations can give one: it is interpreted within bounds and never compiled. */
function bounded(schema: Record<string, unknown>, at: Reading): ValueSchema | undefined {
  try {
    boundedSchema(schema);
  } catch (error) {
    return at.fault(`is not a schema that can be used: ${thrownError(error).message}.`);
  }
  return fromElsewhere(schema);
}
