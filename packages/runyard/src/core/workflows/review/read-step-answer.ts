import { fitValue, typeInWords } from '../../agents/requirements/fit-value.js';
import { errors } from '../../errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import type { InputFieldType } from '../../tools/questions/person-form.js';
import type { StepAnswer } from './step-requirement.js';
import type { StepRequirementState } from './workflow-requirements.js';

/** Reads the answer to one question of a step. Undefined without an answer. Throws when it does not fit. */
export function readStepAnswer(state: StepRequirementState, given: JsonObject): StepAnswer | undefined {
  const { body, stepName } = state;
  if (state.kind === 'error') return decisionIn(stepName, given);
  if (body.requires_route_selection) return choicesIn(state, given);
  const confirmed = flag(stepName, 'confirmed', given.confirmed);
  const feedback = text(stepName, 'rejection_feedback', given.rejection_feedback);
  if (confirmed === false)
    return { confirmed, ...(feedback !== undefined && { rejection_feedback: feedback }) };
  if (body.requires_user_input) return inputIn(state, given, confirmed);
  if (confirmed === undefined) return undefined;
  const { edited_output: edited = null } = given;
  return {
    confirmed,
    ...(body.is_post_execution === true && edited !== null && { edited_output: editedContent(edited) }),
  };
}

/** A whole StepOutput that was sent back is taken for its content. */
function editedContent(edited: Json): Json {
  return isJsonObject(edited) && 'step_id' in edited ? (edited.content ?? '') : edited;
}

function decisionIn(stepName: string, { decision }: JsonObject): StepAnswer | undefined {
  if (decision === undefined || decision === null) return undefined;
  if (decision === 'retry' || decision === 'skip') return { decision };
  throw refused(stepName, "'decision' must be retry or skip");
}

function choicesIn({ body, stepName }: StepRequirementState, given: JsonObject): StepAnswer | undefined {
  const { selected_choices: selected } = given;
  if (selected === undefined || selected === null) return undefined;
  if (
    !Array.isArray(selected) ||
    selected.length === 0 ||
    !selected.every((name) => typeof name === 'string')
  )
    throw refused(stepName, "'selected_choices' must be a list with at least one name");
  const choices = Array.isArray(body.available_choices) ? body.available_choices.map(String) : [];
  const names = [...new Set(selected)];
  const unknown = names.find((name) => !choices.includes(name));
  if (unknown !== undefined)
    throw refused(
      stepName,
      `'selected_choices' names '${unknown}', which is not one of ${choices.map((name) => `'${name}'`).join(', ')}`,
    );
  if (names.length > 1 && body.allow_multiple_selections !== true)
    throw refused(stepName, "'selected_choices' can name only one");
  return { selected_choices: names };
}

function inputIn(
  { body, stepName }: StepRequirementState,
  given: JsonObject,
  confirmed: boolean | undefined,
): StepAnswer | undefined {
  const values = inputValues(stepName, given);
  if (values === undefined && confirmed === undefined) return undefined;
  if (body.requires_confirmation && confirmed === undefined) return undefined;
  const fields = Array.isArray(body.user_input_schema) ? body.user_input_schema.filter(isJsonObject) : [];
  const unknown = Object.keys(values ?? {}).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) throw refused(stepName, `'user_input.${unknown}' is not asked for`);
  const fitted = fields.flatMap((field) => {
    const value = fieldValue(stepName, field, values?.[String(field.name)] ?? null);
    return value === null ? [] : [[String(field.name), value] as const];
  });
  return { confirmed: true, user_input: Object.fromEntries(fitted) };
}

/** Values are in `user_input`, or filled in where they are asked for. */
function inputValues(stepName: string, { user_input: given, user_input_schema: schema }: JsonObject) {
  if (given !== undefined && given !== null) {
    if (isJsonObject(given)) return given;
    throw refused(stepName, "'user_input' must be an object");
  }
  if (!Array.isArray(schema)) return undefined;
  const filled = schema
    .filter(isJsonObject)
    .flatMap(({ name, value }): [string, Json][] => (value == null ? [] : [[String(name), value]]));
  return filled.length === 0 ? undefined : Object.fromEntries(filled);
}

function fieldValue(stepName: string, field: JsonObject, given: Json): Json {
  const { name, field_type, required, allowed_values: allowed } = field;
  const place = `'user_input.${String(name)}'`;
  if (given === null) {
    if (required === false) return null;
    throw refused(stepName, `${place} is required`);
  }
  // as `user_input_schema` of the step has it
  const type = field_type as InputFieldType;
  const fit = fitValue(type, given);
  if (!fit.fits) throw refused(stepName, `${place} must be ${typeInWords[type]}`);
  const isAllowed =
    !Array.isArray(allowed) || allowed.some((value) => canonicalJson(value) === canonicalJson(fit.value));
  if (!isAllowed) throw refused(stepName, `${place} must be one of ${JSON.stringify(allowed)}`);
  return fit.value;
}

function flag(stepName: string, name: string, value: Json | undefined): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw refused(stepName, `'${name}' must be true, false or null`);
}

function text(stepName: string, name: string, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw refused(stepName, `'${name}' must be a text`);
}

function refused(stepName: string, what: string): Error {
  return errors.invalidAnswer(`The answer to '${stepName}': ${what}.`);
}
