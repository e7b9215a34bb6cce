import type { RequirementAnswer, RequirementBody } from '@runyard/client';
import type { JsonSchema } from '../../../ui/forms/schema-form.js';
import { objectIn, objectsIn, textIn } from '../run/read-fields.js';
import type { Fields, WaitingStep } from '../run/run-view.js';

/** What a person is asked for. */
export type Asked = 'approval' | 'outcome' | 'result' | 'choice' | 'input' | 'confirmation';

export function askedBy(requirement: RequirementBody): Asked {
  const call = requirement.tool_execution;
  if (call.approval_type === 'required') return 'approval';
  if (requirement.outcome_unknown) return 'outcome';
  if (call.external_execution_required) return 'result';
  if (objectsIn(requirement.user_feedback_schema).length > 0) return 'choice';
  return Array.isArray(requirement.user_input_schema) ? 'input' : 'confirmation';
}

/** A run that was answered in part still lists what was answered. */
export function isOpen({
  confirmation,
  external_execution_result: result,
  tool_execution: call,
}: RequirementBody) {
  return confirmation === undefined && result === undefined && (call.answered ?? null) === null;
}

export function openIn(step: WaitingStep): readonly RequirementBody[] {
  return (step.executor_requirements ?? []).filter(isOpen);
}

const types: Readonly<Record<string, string>> = {
  str: 'string',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
};

/** The fields that a person fills in, as a schema that a form is made of. */
export function schemaOfFields(given: unknown): JsonSchema {
  const fields = objectsIn(given);
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
    ...objectIn(schema),
    ...(Array.isArray(allowed_values) && { enum: allowed_values }),
    ...(textIn(description) && { description: textIn(description) }),
    ...(value !== null && value !== undefined && { default: value }),
  };
}

/** The fields with their values, as the service wants them back. */
export function filledFields(given: unknown, values: Fields): RequirementAnswer['user_input_schema'] {
  return objectsIn(given).map((field) => ({ ...field, value: values[String(field.name)] ?? null }));
}

export interface Question {
  readonly question: string;
  readonly header: string | undefined;
  readonly isMultiple: boolean;
  readonly options: readonly { readonly label: string; readonly description: string | undefined }[];
}

export function questionsOf(given: unknown): readonly Question[] {
  return objectsIn(given).map(({ question, header, multi_select: multiple, options }) => ({
    question: textIn(question) ?? '',
    header: textIn(header),
    isMultiple: multiple === true,
    options: objectsIn(options).map(({ label, description }) => ({
      label: String(label),
      description: textIn(description),
    })),
  }));
}
