import { isJsonObject, type JsonSchema } from '../../json.js';
import { referenced } from '../../schemas/subschemas.js';
import type { Tool } from '../tool.js';
import { jsonSchemaOf } from '../tool-schema.js';
import type { InputField, InputFieldType } from './person-form.js';

const fieldTypes: Readonly<Record<string, InputFieldType>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  array: 'list',
  object: 'dict',
};

/** The arguments of a tool that a person fills in, as a form shows them. */
export function inputFieldsOf({ gate, inputSchema }: Tool): readonly InputField[] {
  const { userInputFields } = gate;
  return formFieldsOf(jsonSchemaOf(inputSchema, false)).filter(
    ({ name }) => userInputFields.length === 0 || userInputFields.includes(name),
  );
}

/** The properties of a schema as a form shows them. */
export function formFieldsOf(schema: JsonSchema): readonly InputField[] {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, property]) => ({
    name,
    type: fieldTypeOf(schema, property, 0) ?? 'str',
    description:
      isJsonObject(property) && typeof property.description === 'string' ? property.description : null,
    ...(!required.includes(name) && { optional: true }),
  }));
}

/** How deep a type may hide behind references and alternatives. */
const deepest = 10;

function fieldTypeOf(root: JsonSchema, property: unknown, depth: number): InputFieldType | undefined {
  if (!isJsonObject(property) || depth > deepest) return undefined;
  const types = Array.isArray(property.type) ? property.type : [property.type];
  const known = types.map(String).find((type) => Object.hasOwn(fieldTypes, type));
  if (known !== undefined) return fieldTypes[known];
  const inner = [
    ...(property.$ref === undefined ? [] : [referenced(root, property.$ref)]),
    ...[property.anyOf, property.oneOf, property.allOf].flatMap((list) => (Array.isArray(list) ? list : [])),
  ];
  for (const schema of inner) {
    const type = fieldTypeOf(root, schema, depth + 1);
    if (type !== undefined) return type;
  }
  return undefined;
}
