import { errors } from '../../errors/errors.js';
import { idFrom } from '../../ids.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { Requirement } from '../../runs/context.js';
import { decoded, read } from '../../runs/journal/codec.js';
import type { Run, StepRecord } from '../../runs/run.js';
import type { InputField, InputFieldType } from '../../tools/questions/person-form.js';
import type { ToolAnswer, ToolRequirement } from '../../tools/questions/requirement.js';
import {
  type StepAnswer,
  type StepWaitKind,
  stepAnswer,
  stepQuestion,
  stepWaitKinds,
} from '../../workflows/review/step-requirement.js';
import type { ToolRequirementState } from './tool-requirements.js';

/**
 * What a workflow asks that an agent runs as a tool, in the words in which agents ask: a confirmation, fields to fill in,
 * or a choice. So everyone who answers an agent can answer its workflows.
 */

type Asked = ReturnType<typeof questionIn>;

function questionIn(step: StepRecord) {
  return read(step, stepQuestion);
}

function stepKindOf(name: string): StepWaitKind | undefined {
  return stepWaitKinds.find((known) => known === name);
}

/** What the steps of a workflow wait or waited for. `steps` are those of its own run. */
export function workflowQuestionsOf(run: Run, steps: readonly StepRecord[]): readonly ToolRequirementState[] {
  return steps.flatMap((step) => {
    const stepKind = step.kind === 'wait' ? stepKindOf(step.name) : undefined;
    if (stepKind === undefined) return [];
    const requirement = requirementIn(run, step.key, questionIn(step), step.startedAt, step.attempt);
    const answer = step.status === 'completed' ? answerOf(read(step, stepAnswer)) : null;
    return [{ waitKey: step.key, toolKey: step.key, requirement, answer, stepKind }];
  });
}

const toolWaits: readonly string[] = [
  'confirmation',
  'user_input',
  'user_feedback',
  'external_execution',
  'unknown_outcome',
] satisfies ToolRequirement['kind'][];

/** Whether a tool call waits, and not a step of a workflow. */
export function isToolWait({ kind }: Requirement): boolean {
  return toolWaits.includes(kind);
}

/** The question of a workflow that has just paused; nothing for one that waits for its time. */
export function workflowQuestion({ key, kind, data }: Requirement, run: Run): ToolRequirement[] {
  if (stepKindOf(kind) === undefined) return [];
  const asked = decoded(stepQuestion, data, { runId: run.runId, key });
  return [requirementIn(run, key, asked, 0, run.attempt)];
}

function requirementIn(
  { runId, input }: Pick<Run, 'runId' | 'input'>,
  key: string,
  asked: Asked,
  createdAt: number,
  attempt: number,
): ToolRequirement {
  const id = idFrom(`${input.salt ?? runId} ${runId} ${key}`);
  const common = { id, callId: id, toolName: asked.step_name, args: {}, createdAt, askedIn: attempt };
  if ('error_message' in asked)
    return {
      ...common,
      ...choice(`'${asked.step_name}' failed: ${asked.error_message} What now?`, ['retry', 'skip'], false),
    };
  if (asked.requires_route_selection)
    return {
      ...common,
      ...choice(
        asked.user_input_message ?? `Which way is to be taken at '${asked.step_name}'?`,
        asked.available_choices ?? [],
        asked.allow_multiple_selections,
      ),
    };
  if (asked.requires_user_input)
    return {
      ...common,
      kind: 'user_input',
      message: asked.user_input_message ?? asked.confirmation_message ?? `Values for '${asked.step_name}'`,
      inputFields: (asked.user_input_schema ?? []).map(fieldOf),
    };
  const message = asked.is_post_execution ? asked.output_review_message : asked.confirmation_message;
  const about = asked.is_post_execution ? 'Accept what it made' : 'Let it run';
  return { ...common, kind: 'confirmation', message: message ?? `'${asked.step_name}': ${about}?` };
}

function choice(question: string, labels: readonly string[], multiSelect: boolean) {
  const options = labels.map((label) => ({ label, description: null }));
  return {
    kind: 'user_feedback',
    message: question,
    questions: [{ question, header: null, multiSelect, options }],
  } as const;
}

function fieldOf(field: JsonObject): InputField {
  const { name, field_type, description, required, allowed_values: allowed } = field;
  return {
    name: String(name),
    // as `user_input_schema` of the step has it
    type: (field_type ?? 'str') as InputFieldType,
    description: typeof description === 'string' ? description : null,
    ...(required === false && { optional: true }),
    ...(Array.isArray(allowed) && { schema: { enum: allowed } }),
  };
}

/** How the answer is stored: what the workflow waits for. */
export function toStepAnswer(stepKind: StepWaitKind, toolName: string, answer: ToolAnswer): StepAnswer {
  if (answer.answer === 'input') return { confirmed: true, user_input: answer.values };
  const [labels = []] = answer.answer === 'feedback' ? answer.selected : [];
  if (stepKind === 'step_error') return { decision: labels[0] === 'retry' ? 'retry' : 'skip' };
  if (stepKind === 'route_selection') {
    if (labels.length > 0) return { selected_choices: [...labels] };
    throw errors.invalidAnswer(`The answer to '${toolName}': choose one of its options.`);
  }
  if (answer.answer !== 'confirmed')
    throw errors.invalidAnswer(`The answer to '${toolName}': give confirmed, true or false.`);
  const { confirmed, note } = answer;
  return { confirmed, ...(note !== undefined && { rejection_feedback: note }) };
}

function answerOf(answer: StepAnswer): ToolAnswer {
  if ('timed_out' in answer)
    return { answer: 'confirmed', confirmed: false, note: 'No answer came in time.' };
  if ('selected_choices' in answer) return { answer: 'feedback', selected: [answer.selected_choices] };
  if ('decision' in answer) return { answer: 'feedback', selected: [[answer.decision]] };
  const { confirmed, user_input, rejection_feedback: note } = answer;
  if (isJsonObject(user_input ?? null)) return { answer: 'input', values: user_input ?? {} };
  return { answer: 'confirmed', confirmed, ...(note !== undefined && { note }) };
}
