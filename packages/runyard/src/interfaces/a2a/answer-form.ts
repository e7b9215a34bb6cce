import type { ContinueForm } from '../../capabilities/runs/schema.js';
import { errors } from '../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Following } from './message-form.js';
import type { Part } from './task.js';
import { openQuestions, type RunJournal } from './task-view.js';

/** Which texts answer a single question for a confirmation. */
const words = new Map([
  ['yes', true],
  ['y', true],
  ['no', false],
  ['n', false],
]);

const simpleFields = ['tool_call_id', 'step_id', 'requirement_id'] as const;

/**
 * The form that continues a paused run with the answers in a message. A data part holds whole requirements, as the
 * status of the task showed them with the answers filled in, or the answer to one of them in simple fields.
 */
export function answerFormOf(view: RunJournal, parts: readonly Part[], following: Following): ContinueForm {
  const given = parts.flatMap((part) => ('data' in part ? [part.data] : []));
  const requirements = openQuestions(view).requirements;
  const answers = given.length > 0 ? given.flatMap(answersIn) : [spokenAnswer(requirements, parts)];
  return view.run.kind === 'workflow'
    ? { ...following, ...stepFields(requirements, answers) }
    : { ...following, ...callFields(answers) };
}

type Answers = { readonly whole: JsonObject } | { readonly simple: JsonObject };

function answersIn(data: Json): Answers[] {
  if (!isJsonObject(data)) throw invalidAnswer();
  const { requirements } = data;
  if (Array.isArray(requirements))
    return requirements.map((whole) => {
      if (isJsonObject(whole)) return { whole };
      throw invalidAnswer();
    });
  if (!simpleFields.some((name) => typeof data[name] === 'string')) throw invalidAnswer();
  return [{ simple: data }];
}

function invalidAnswer(): Error {
  return errors.invalidA2aRequest(
    'The task waits for an answer in a data part: { requirements: [...] } as in the status of the task, with the ' +
      'answers filled in, or { tool_call_id, confirmed, note, values, selected, result }. A workflow has step_id instead of tool_call_id.',
  );
}

/** A text answers one question that yes or no answers, and nothing else. */
function spokenAnswer(requirements: readonly JsonObject[], parts: readonly Part[]): Answers {
  const [only, ...more] = requirements;
  const said = parts.flatMap((part) => ('text' in part ? [part.text] : [])).join(' ');
  const confirmed = words.get(said.trim().toLowerCase().replace(/[.!]$/, ''));
  const simple = only && confirmableIn(only);
  if (simple === undefined || more.length > 0 || confirmed === undefined) throw invalidAnswer();
  return { simple: { ...simple, confirmed } };
}

/** The name of a question for a confirmation, of a call or of a step. */
function confirmableIn(requirement: JsonObject): JsonObject | undefined {
  const { tool_execution: tool, step_id: stepId, requires_confirmation: step } = requirement;
  if (isJsonObject(tool))
    return tool.requires_confirmation === true ? { tool_call_id: tool.tool_call_id ?? null } : undefined;
  return step === true && requirement.requires_user_input !== true ? { step_id: stepId ?? null } : undefined;
}

function callFields(answers: readonly Answers[]): Pick<ContinueForm, 'tools' | 'requirements'> {
  const requirements = answers.flatMap((answer) => ('whole' in answer ? [answer.whole] : []));
  const tools = answers.flatMap((answer) => ('simple' in answer ? [callAnswer(answer.simple)] : []));
  return {
    ...(requirements.length > 0 && { requirements: JSON.stringify(requirements) }),
    ...(tools.length > 0 && { tools: JSON.stringify(tools) }),
  };
}

/** The answer to a call, as a client of the run API fills it in. */
function callAnswer(simple: JsonObject): JsonObject {
  const { tool_call_id: callId = null, confirmed, note, values, selected, result } = simple;
  return {
    tool_call_id: callId,
    ...(confirmed !== undefined && { confirmed }),
    ...(note !== undefined && { confirmation_note: note }),
    ...(values !== undefined && { user_input_schema: filledIn(values), answered: true }),
    ...(selected !== undefined && { user_feedback_schema: chosen(selected) }),
    ...(result !== undefined && { result }),
  };
}

/** Of a form that comes back, only names and values are read. */
function filledIn(values: Json): Json {
  if (!isJsonObject(values)) throw invalidAnswer();
  return Object.entries(values).map(([name, value]) => ({
    name,
    field_type: 'str',
    description: null,
    value,
  }));
}

/** Labels for each question, or the labels of a single one. */
function chosen(selected: Json): Json {
  if (!Array.isArray(selected)) throw invalidAnswer();
  const lists = selected.every((one) => typeof one === 'string') ? [selected] : selected;
  return lists.map((labels) => ({ selected_options: labels }));
}

function stepFields(requirements: readonly JsonObject[], answers: readonly Answers[]) {
  const entries = answers.map((answer) =>
    'whole' in answer ? answer.whole : stepAnswer(requirements, answer.simple),
  );
  const failed = new Set(requirements.filter(isFailure).map(({ step_id: stepId }) => stepId));
  const ofErrors = entries.filter((entry) => failed.has(entry.step_id ?? null) && 'decision' in entry);
  const ofSteps = entries.filter((entry) => !ofErrors.includes(entry));
  return {
    ...(ofSteps.length > 0 && { step_requirements: JSON.stringify(ofSteps) }),
    ...(ofErrors.length > 0 && { error_requirements: JSON.stringify(ofErrors) }),
  };
}

/** A step that failed asks what becomes of it. */
function isFailure(requirement: JsonObject): boolean {
  return 'error_message' in requirement || 'error_type' in requirement;
}

/** The answer to a step, or to a call of the agent or team that executes a step. */
function stepAnswer(requirements: readonly JsonObject[], simple: JsonObject): JsonObject {
  const { step_id: stepId, tool_call_id: callId, note, values, selected, ...more } = simple;
  if (callId === undefined)
    return {
      ...more,
      step_id: stepId ?? null,
      ...(note !== undefined && { rejection_feedback: note }),
      ...(values !== undefined && { user_input: values }),
      ...(selected !== undefined && { selected_choices: selected }),
    };
  const asking = requirements.find(({ executor_requirements: calls }) =>
    Array.isArray(calls) ? calls.some((call) => callIdIn(call) === callId) : false,
  );
  if (asking === undefined)
    throw errors.invalidA2aRequest(`The task waits for no answer to the tool call '${String(callId)}'.`);
  const { step_id, executor_run_id } = asking;
  return {
    step_id: step_id ?? null,
    executor_run_id: executor_run_id ?? null,
    executor_requirements: [{ id: null, tool_execution: callAnswer(simple) }],
  };
}

function callIdIn(call: Json): Json | undefined {
  return isJsonObject(call) && isJsonObject(call.tool_execution)
    ? call.tool_execution.tool_call_id
    : undefined;
}
