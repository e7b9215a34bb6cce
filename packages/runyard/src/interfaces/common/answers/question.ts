import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import { stepQuestionText } from '../../../core/workflows/review/question-text.js';

/** An answer in simple fields. Which of them count depends on what is asked. */
export interface SimpleAnswer {
  readonly confirmed?: boolean | undefined;
  /** Why not, for the model to read. */
  readonly note?: string | undefined;
  /** What is filled in, by the names of the fields. */
  readonly values?: JsonObject | undefined;
  /** The chosen labels: of the only question, or of each in order. */
  readonly selected?: readonly (string | readonly string[])[] | undefined;
  /** The result of a call that was executed elsewhere, or what takes the place of an output. */
  readonly result?: Json | undefined;
  /** What becomes of a step that failed. */
  readonly decision?: 'retry' | 'skip' | undefined;
}

export interface InputField {
  readonly name: string;
  readonly type: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly value: Json;
  readonly schema: JsonObject | undefined;
  readonly allowed: readonly Json[] | undefined;
}

/** A list of labels to choose from. */
export interface Choice {
  readonly question: string;
  readonly labels: readonly string[];
  readonly multiple: boolean;
}

/** What a question asks for. */
export type Asked =
  | { readonly kind: 'confirmation'; readonly noteInWords: string }
  | { readonly kind: 'input'; readonly fields: readonly InputField[]; readonly confirms: boolean }
  | { readonly kind: 'choice'; readonly choices: readonly Choice[] }
  | { readonly kind: 'decision' }
  /** The result comes from a program. */
  | { readonly kind: 'result' };

/** What a question is about. */
export interface Subject {
  /** The id of the requirement: no other one of the run has it. */
  readonly requirementId: string;
  /** The tool, with the member that calls it, or the step. */
  readonly name: string;
  /** What the tool is called with. */
  readonly args: JsonObject;
  /** What the requirement itself says; empty for a call that is described by its name and arguments alone. */
  readonly said: string;
  /** Of an approval that an administrator gives. */
  readonly approvalId: string | undefined;
}

/** One thing that a paused run waits for. Its answer is written into the requirement that it was made from. */
export interface Question {
  /** How an answer names it: the id of a tool call or of a step. */
  readonly id: string;
  readonly message: string;
  readonly about: Subject;
  readonly asked: Asked;
  /** Only the decision on an approval answers it. */
  readonly needsApproval: boolean;
  put(answer: SimpleAnswer): void;
}

/** A question about a call of a tool. */
export function callQuestion(requirement: JsonObject): Question {
  const call = objectIn(requirement.tool_execution);
  const id = String(call.tool_call_id ?? requirement.id);
  return {
    id,
    message: callMessage(requirement, call),
    about: callSubject(requirement, call),
    asked: askedByCall(requirement, call),
    needsApproval: call.approval_type === 'required',
    put(answer) {
      const { confirmed, note, values, selected, result } = answer;
      if (confirmed !== undefined) requirement.confirmation = confirmed;
      if (note !== undefined) requirement.confirmation_note = note;
      if (result !== undefined) requirement.external_execution_result = result;
      if (values !== undefined) {
        requirement.user_input_schema = filledIn(id, requirement.user_input_schema, values);
        requirement.tool_execution = { ...call, answered: true };
      }
      if (selected !== undefined)
        requirement.user_feedback_schema = chosenIn(requirement.user_feedback_schema, selected);
    },
  };
}

function askedByCall(requirement: JsonObject, call: JsonObject): Asked {
  if (call.external_execution_required === true) return { kind: 'result' };
  const feedback = objectsIn(requirement.user_feedback_schema);
  if (feedback.length > 0) return { kind: 'choice', choices: feedback.map(choiceOf) };
  if (Array.isArray(requirement.user_input_schema))
    return { kind: 'input', fields: objectsIn(requirement.user_input_schema).map(fieldOf), confirms: false };
  return { kind: 'confirmation', noteInWords: 'Why not. The agent reads it.' };
}

function callSubject(requirement: JsonObject, call: JsonObject): Subject {
  const member = requirement.member_agent_name ?? requirement.member_agent_id;
  const tool = String(call.tool_name);
  return {
    requirementId: String(requirement.id ?? call.tool_call_id),
    name: typeof member === 'string' ? `${member}: ${tool}` : tool,
    args: objectIn(call.tool_args),
    said: typeof requirement.message === 'string' ? requirement.message : '',
    approvalId: typeof call.approval_id === 'string' ? call.approval_id : undefined,
  };
}

function stepSubject(requirement: JsonObject): Subject {
  return {
    requirementId: String(requirement.step_id),
    name: String(requirement.step_name),
    args: {},
    said: stepQuestionText(requirement),
    approvalId: undefined,
  };
}

function callMessage(requirement: JsonObject, call: JsonObject): string {
  const asks = typeof requirement.message === 'string' ? requirement.message : '';
  if (asks !== '') return asks;
  const who = requirement.member_agent_name ?? requirement.member_agent_id ?? 'The agent';
  return `${String(who)} wants to call '${String(call.tool_name)}' with ${JSON.stringify(call.tool_args ?? {})}.`;
}

/** A question about a step of a workflow. */
export function stepQuestion(requirement: JsonObject): Question {
  return {
    id: String(requirement.step_id),
    message: stepQuestionText(requirement),
    about: stepSubject(requirement),
    asked: askedByStep(requirement),
    needsApproval: false,
    put({ confirmed, note, values, selected, result }) {
      if (confirmed !== undefined) requirement.confirmed = confirmed;
      if (note !== undefined) requirement.rejection_feedback = note;
      if (values !== undefined) {
        requirement.user_input = values;
        // who fills in what a step asks for agrees to it
        if (requirement.requires_confirmation === true) requirement.confirmed ??= true;
      }
      if (selected !== undefined) requirement.selected_choices = selected.flat();
      if (result !== undefined) requirement.edited_output = result;
    },
  };
}

function askedByStep(requirement: JsonObject): Asked {
  if (requirement.requires_route_selection === true) {
    const labels = listIn(requirement.available_choices).map(String);
    const multiple = requirement.allow_multiple_selections === true;
    return { kind: 'choice', choices: [{ question: 'Which way?', labels, multiple }] };
  }
  if (requirement.requires_user_input === true) {
    const fields = objectsIn(requirement.user_input_schema).map(fieldOf);
    return { kind: 'input', fields, confirms: requirement.requires_confirmation === true };
  }
  return { kind: 'confirmation', noteInWords: 'Why not, or what to change.' };
}

/** A question about a step that failed. */
export function failureQuestion(requirement: JsonObject): Question {
  return {
    id: String(requirement.step_id),
    message: stepQuestionText(requirement),
    about: stepSubject(requirement),
    asked: { kind: 'decision' },
    needsApproval: false,
    put({ decision, confirmed }) {
      const decided = decision ?? (confirmed === undefined ? undefined : confirmed ? 'retry' : 'skip');
      if (decided !== undefined) requirement.decision = decided;
    },
  };
}

function filledIn(id: string, schema: Json | undefined, values: JsonObject): Json {
  const fields = objectsIn(schema);
  const names = fields.map(({ name }) => String(name));
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw errors.invalidAnswer(
      `The call '${id}' has no field '${unknown}'. Its fields: ${names.join(', ') || '(none)'}.`,
    );
  return fields.map((field) => {
    const name = String(field.name);
    return Object.hasOwn(values, name) ? { ...field, value: values[name] ?? null } : field;
  });
}

function chosenIn(schema: Json | undefined, selected: readonly (string | readonly string[])[]): Json {
  const questions = objectsIn(schema);
  // one list for the only question, or a list for each
  const isFlat = questions.length === 1 && selected.every((one) => typeof one === 'string');
  const lists = isFlat ? [selected.map(String)] : selected.map((one) => [one].flat());
  return questions.map((question, at) => ({ ...question, selected_options: lists[at] ?? null }));
}

function choiceOf({ question, multi_select: multiple, options }: JsonObject): Choice {
  const labels = objectsIn(options).map(({ label }) => String(label));
  return { question: String(question), labels, multiple: multiple === true };
}

function fieldOf(field: JsonObject): InputField {
  const { name, field_type: type, description, required, value = null, schema, allowed_values } = field;
  return {
    name: String(name),
    type: String(type),
    description: typeof description === 'string' ? description : undefined,
    required: required !== false,
    value,
    schema: isJsonObject(schema) ? schema : undefined,
    allowed: Array.isArray(allowed_values) ? allowed_values : undefined,
  };
}

export function objectsIn(value: unknown): JsonObject[] {
  return listIn(value).filter((one): one is JsonObject => isJsonObject(one));
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectIn(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
