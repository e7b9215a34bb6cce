import { errors } from '../../errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { GivenAnswer } from './read-answer.js';

/** The form fields that bring answers. */
export type AnswersField = 'tools' | 'requirements' | 'step_requirements' | 'error_requirements';

type Field = AnswersField;
type Schema = readonly JsonObject[];

const inputFieldKeys = ['name', 'field_type', 'description', 'value'] as const;

/** Reads the answer out of a ToolExecution of the wire. Nothing else in it is read. */
export function answerInTool(tool: JsonObject, field: Field = 'tools'): GivenAnswer {
  return given({
    confirmed: flagOf(field, 'confirmed', tool.confirmed),
    note: textOf(field, 'confirmation_note', tool.confirmation_note),
    cancelled: flagOf(field, 'cancelled', tool.cancelled),
    values: valuesOf(inputSchema(field, tool.user_input_schema)),
    answered: flagOf(field, 'answered', tool.answered),
    selected: selectedOf(field, schemaOf(field, 'user_feedback_schema', tool.user_feedback_schema)),
    result: tool.result ?? undefined,
  });
}

/** Reads the answer out of a RunRequirement of the wire; what it does not say, the call inside it may. */
export function answerInRequirement(requirement: JsonObject, field: Field = 'requirements'): GivenAnswer {
  const { tool_execution: tool } = requirement;
  const inner = isJsonObject(tool) ? answerInTool(tool, field) : {};
  const outer = given({
    confirmed: flagOf(field, 'confirmation', requirement.confirmation),
    note: textOf(field, 'confirmation_note', requirement.confirmation_note),
    cancelled: flagOf(field, 'cancelled', requirement.cancelled),
    values: valuesOf(inputSchema(field, requirement.user_input_schema)),
    answered: undefined,
    selected: selectedOf(field, schemaOf(field, 'user_feedback_schema', requirement.user_feedback_schema)),
    result: requirement.external_execution_result ?? undefined,
  });
  return {
    ...inner,
    ...outer,
    values: { ...inner.values, ...outer.values },
    selected: joined(inner.selected ?? [], outer.selected ?? []),
  };
}

export function wrongStructure(field: Field, text: string): Error {
  return errors.invalidContinue(`Invalid structure or content for ${field}: ${text}`);
}

type Complete = Required<GivenAnswer>;
type Parts = { [Name in keyof Complete]: Complete[Name] | undefined } & object;

function given(parts: Parts): GivenAnswer {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

function flagOf(field: Field, name: string, value: Json | undefined): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw wrongStructure(field, `${name} must be true, false or null`);
  return value;
}

function textOf(field: Field, name: string, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrongStructure(field, `${name} must be a text`);
  return value;
}

function schemaOf(field: Field, name: string, value: Json | undefined): Schema {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every(isJsonObject)) return value;
  throw wrongStructure(field, `${name} must be an array of objects`);
}

/** A form that comes back with keys missing is one that its client did not understand. */
function inputSchema(field: Field, value: Json | undefined): Schema {
  const schema = schemaOf(field, 'user_input_schema', value);
  for (const entry of schema) {
    const missing = inputFieldKeys.find((key) => !Object.hasOwn(entry, key));
    if (missing !== undefined)
      throw wrongStructure(field, `each entry of user_input_schema needs the key '${missing}'`);
    if (typeof entry.name !== 'string')
      throw wrongStructure(field, 'the name of an entry of user_input_schema must be a text');
  }
  return schema;
}

/** The values of the form; an empty field is left out. */
function valuesOf(schema: Schema): JsonObject | undefined {
  if (schema.length === 0) return undefined;
  return Object.fromEntries(
    schema.flatMap(({ name, value }) => (value == null ? [] : [[String(name), value]])),
  );
}

function selectedOf(field: Field, schema: Schema): GivenAnswer['selected'] | undefined {
  if (schema.length === 0) return undefined;
  return schema.map(({ selected_options: selected }) => {
    if (selected === undefined || selected === null) return null;
    if (Array.isArray(selected) && selected.every((label) => typeof label === 'string')) return selected;
    throw wrongStructure(field, 'selected_options must be an array of labels');
  });
}

function joined(
  inner: NonNullable<GivenAnswer['selected']>,
  outer: NonNullable<GivenAnswer['selected']>,
): NonNullable<GivenAnswer['selected']> {
  const length = Math.max(inner.length, outer.length);
  return Array.from({ length }, (_, index) => outer[index] ?? inner[index] ?? null);
}
