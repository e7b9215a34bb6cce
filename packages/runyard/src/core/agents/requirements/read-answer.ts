import { errors } from '../../errors/errors.js';
import type { Json, JsonObject } from '../../json.js';
import { foreignCheck } from '../../schemas/json-schema.js';
import { faultText } from '../../schemas/schema-faults.js';
import type { FeedbackQuestion, InputField } from '../../tools/questions/person-form.js';
import type { ToolAnswer } from '../../tools/questions/requirement.js';
import { fitValue, typeInWords } from './fit-value.js';
import type { ToolRequirementState } from './tool-requirements.js';

/** What a caller says about one call; which of it counts depends on what the call waits for. */
export interface GivenAnswer {
  readonly confirmed?: boolean | undefined;
  /** Why it was rejected: the model sees this. */
  readonly note?: string | undefined;
  /** What was filled in, by the names of the fields. */
  readonly values?: JsonObject | undefined;
  /** A question of the tool is dismissed: neither answered nor declined. */
  readonly cancelled?: boolean | undefined;
  /** The form is filled in, although it is empty. */
  readonly answered?: boolean | undefined;
  /** The chosen labels of each question, in the order of the questions; null for one without an answer. */
  readonly selected?: readonly (readonly string[] | null)[] | undefined;
  /** The result of a call that was executed outside; anything but a text is shown to the model as JSON. */
  readonly result?: Json | undefined;
}

/**
 * Reads what a caller says about a call. Undefined when that is no answer, or not theirs to give: a call that needs
 * an approval is answered by the approval alone. Throws when a part of it does not fit.
 */
export function readAnswer(state: ToolRequirementState, given: GivenAnswer): ToolAnswer | undefined {
  const { requirement } = state;
  if (requirement.approval?.type === 'required') return undefined;
  if (requirement.askedIn !== undefined && given.cancelled)
    return { answer: 'confirmed', confirmed: false, cancelled: true };
  const full = fullAnswer(state, given);
  if (full !== undefined) return full;
  const { confirmed, note } = given;
  const decides = requirement.kind === 'confirmation' || requirement.kind === 'unknown_outcome';
  // whatever a call waits for, it can be turned down
  if (confirmed !== false && !(decides && confirmed === true)) return undefined;
  return { answer: 'confirmed', confirmed, ...(note !== undefined && note !== '' && { note }) };
}

/** The same for an answer in code, where nothing is sent back that was not meant: what is no answer is an error. */
export function answerInCode(state: ToolRequirementState, given: GivenAnswer): ToolAnswer {
  const { callId, toolName, approval, kind, inputFields = [] } = state.requirement;
  const place = `The call '${callId}' of '${toolName}'`;
  if (approval?.type === 'required')
    throw errors.invalidAnswer(
      `${place} waits for an approval, which an answer does not replace. Resolve it with app.approvals.resolve() of the Runyard that registers the component, then continue the run.`,
    );
  const names = inputFields.map(({ name }) => name);
  const unknown = Object.keys(given.values ?? {}).find((name) => !names.includes(name));
  if (kind === 'user_input' && unknown !== undefined)
    throw errors.invalidAnswer(`${place} has no field '${unknown}'. Its fields are ${listed(names)}.`);
  const read = readAnswer(state, { answered: given.values !== undefined, ...given });
  if (read !== undefined) return read;
  const needed = inputFields.filter(({ optional }) => optional !== true).map(({ name }) => name);
  const fields = needed.length === 0 ? '' : ` with ${listed(needed)}`;
  throw errors.invalidAnswer(
    `${place} waits for ${kind === 'user_input' ? `{ values }${fields}` : wanted[kind]}.`,
  );
}

const wanted = {
  confirmation: '{ confirmed }',
  user_feedback: '{ selected } with a list of labels for each question',
  external_execution: '{ result }',
  unknown_outcome: '{ confirmed: true } to call it again, { confirmed: false } or { result }',
};

function listed(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

function fullAnswer({ requirement }: ToolRequirementState, given: GivenAnswer): ToolAnswer | undefined {
  const { kind, toolName } = requirement;
  if (kind === 'user_input') return inputAnswer(toolName, requirement.inputFields ?? [], given);
  if (kind === 'user_feedback') return feedbackAnswer(toolName, requirement.questions ?? [], given.selected);
  if (kind === 'confirmation' || given.result === undefined || given.result === null) return undefined;
  return { answer: 'result', result: resultText(given.result) };
}

export function resultText(result: Json): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}

function inputAnswer(
  toolName: string,
  fields: readonly InputField[],
  { answered, values: given = {} }: GivenAnswer,
): ToolAnswer | undefined {
  const filled: [string, Json][] = [];
  let complete = true;
  for (const { name, type, optional, schema } of fields) {
    const value = Object.hasOwn(given, name) ? given[name] : null;
    if (value == null) {
      complete &&= optional === true;
      continue;
    }
    const fit = fitValue(type, value);
    if (!fit.fits)
      throw errors.invalidAnswer(`The answer to '${toolName}': '${name}' must be ${typeInWords[type]}.`);
    const [fault] = schema === undefined ? [] : foreignCheck(schema)(structuredClone(fit.value));
    if (fault !== undefined)
      throw errors.invalidAnswer(`The answer to '${toolName}': '${name}' does not fit: ${faultText(fault)}.`);
    filled.push([name, fit.value]);
  }
  const touched = answered === true || filled.length > 0;
  // an assignment would lose a field named __proto__
  return complete && touched ? { answer: 'input', values: Object.fromEntries(filled) } : undefined;
}

function feedbackAnswer(
  toolName: string,
  questions: readonly FeedbackQuestion[],
  given: GivenAnswer['selected'] = [],
): ToolAnswer | undefined {
  const selected = questions.map((question, index) => choiceOf(toolName, question, given[index] ?? null));
  const complete = selected.every((labels): labels is readonly string[] => labels !== null);
  return complete ? { answer: 'feedback', selected } : undefined;
}

function choiceOf(
  toolName: string,
  { question, multiSelect, options }: FeedbackQuestion,
  given: readonly string[] | null,
): readonly string[] | null {
  if (given === null) return null;
  const labels = [...new Set(given)];
  const unknown = labels.find((label) => !options.some((option) => option.label === label));
  const place = `The answer to '${toolName}', question '${question}'`;
  if (unknown !== undefined) {
    const known = options.map(({ label }) => `'${label}'`).join(', ');
    throw errors.invalidAnswer(`${place}: '${unknown}' is not one of its options: ${known}.`);
  }
  if (multiSelect) return labels;
  if (labels.length > 1) throw errors.invalidAnswer(`${place}: only one option can be chosen.`);
  // nothing chosen is an answer only where any number may be
  return labels.length === 1 ? labels : null;
}
