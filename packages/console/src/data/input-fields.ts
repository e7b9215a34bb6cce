import type { JsonSchema } from '../ui/forms/schema-form.js';

type Fields = Readonly<Record<string, unknown>>;

const types: Readonly<Record<string, string>> = {
  str: 'string',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
};

/** The fields of a `user_input_schema`, as a schema that a form is made of. */
export function schemaOfFields(given: unknown): JsonSchema {
  const fields = fieldsIn(given);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [String(field.name), schemaOfField(field)])),
    required: fields.filter(({ required }) => required !== false).map(({ name }) => String(name)),
  };
}

function schemaOfField({ field_type, description, schema, allowed_values, value }: Fields): JsonSchema {
  const type = types[String(field_type)];
  return {
    ...(type && { type }),
    ...(typeof schema === 'object' && schema),
    ...(Array.isArray(allowed_values) && { enum: allowed_values }),
    ...(typeof description === 'string' && description && { description }),
    ...(value !== null && value !== undefined && { default: value }),
  };
}

/** The fields with their values, as the service wants them back. */
export function filledFields(given: unknown, values: Fields): Fields[] {
  return fieldsIn(given).map((field) => ({ ...field, value: values[String(field.name)] ?? null }));
}

function fieldsIn(given: unknown): readonly Fields[] {
  return Array.isArray(given) ? given.filter((one) => typeof one === 'object' && one !== null) : [];
}
