import type { StepFields, StepIndex } from '../../events/workflow-event.js';
import type { JsonObject } from '../../json.js';
import { inputRecord, outputRecord } from '../../runs/journal/codec.js';
import {
  either,
  flag,
  json,
  jsonObject,
  list,
  nullable,
  number,
  object,
  optional,
  partly,
  type Shaped,
  text,
  word,
  yes,
} from '../../runs/journal/shapes.js';
import type { NodeType, ReviewSettings, UserInputField } from '../definition/node.js';

/**
 * What a step waits for, in the words of the wire: the input of its `wait` step. What is done later comes from here,
 * never from what a request says. Stored data.
 */
export type StepRequirement = {
  step_id: string;
  step_name: string;
  step_index: StepIndex;
  step_type: NodeType;
  requires_confirmation: boolean;
  confirmation_message: string | null;
  confirmed: boolean | null;
  on_reject: 'skip' | 'cancel' | 'else' | 'retry';
  requires_user_input: boolean;
  user_input_message: string | null;
  user_input: JsonObject | null;
  requires_route_selection: boolean;
  available_choices: string[] | null;
  allow_multiple_selections: boolean;
  selected_choices: string[] | null;
  requires_output_review: boolean;
  output_review_message: string | null;
  is_post_execution: boolean;
  rejection_feedback: string | null;
  retry_count: number;
  max_retries: number;
  timeout_at: string | null;
  on_timeout: 'cancel' | 'skip' | 'approve';
  user_input_schema?: JsonObject[];
  /** Of a question of a function that has a name. */
  question_name?: string;
};

/** What a step that failed waits for. Stored data. */
export type ErrorRequirement = {
  step_id: string;
  step_name: string;
  step_index: StepIndex;
  error_message: string;
  error_type: string;
  retry_count: number;
  decision: 'retry' | 'skip' | null;
};

/** Input of the `wait` steps of a workflow. */
export const stepQuestion = inputRecord(
  'question about a workflow step',
  1,
  partly<JsonObject & (StepRequirement | ErrorRequirement) & { covers?: string[] }>(
    object({
      step_id: text,
      step_name: text,
      step_index: either(number, list(number)),
      available_choices: optional(nullable(list(text))),
      user_input_schema: optional(list(object({ name: text }))),
      /** What the answer decides about, each in words: not for the wire. Records of earlier versions do not say it. */
      covers: optional(list(text)),
    }),
  ),
);

const noAnswer = object({ timed_out: yes });

/** Output of the same steps: the answer, or that there was none and the time was up. */
export const reviewAnswer = outputRecord(
  'answer of a review',
  1,
  either(
    noAnswer,
    object({
      confirmed: flag,
      user_input: optional(jsonObject),
      rejection_feedback: optional(text),
      /** What takes the place of what the step made. */
      edited_output: optional(json),
    }),
  ),
);

export const routeAnswer = outputRecord(
  'choice of a way',
  1,
  either(noAnswer, object({ selected_choices: list(text) })),
);

export const failureAnswer = outputRecord(
  'answer about a failure',
  1,
  object({ decision: word('retry', 'skip') }),
);

export const stepAnswer = outputRecord(
  'answer about a workflow step',
  1,
  either(routeAnswer.shape, failureAnswer.shape, reviewAnswer.shape),
);

export type StepAnswer = Shaped<typeof stepAnswer.shape>;

/** The kinds of `wait` steps of a workflow. */
export const stepWaitKinds = [
  'step_review',
  'route_selection',
  'output_review',
  'iteration_review',
  'step_error',
  'step_suspend',
] as const;

export type StepWaitKind = (typeof stepWaitKinds)[number];

const defaultMaxRetries = 3;

/** A requirement in which nothing is asked for yet. */
export function requirementOf(
  { step_id, step_name, step_index }: StepFields,
  type: NodeType,
  review: ReviewSettings,
  retryCount: number,
): StepRequirement {
  return {
    step_id,
    step_name,
    step_index,
    step_type: type,
    requires_confirmation: false,
    confirmation_message: null,
    confirmed: null,
    on_reject: review.onReject ?? 'skip',
    requires_user_input: false,
    user_input_message: null,
    user_input: null,
    requires_route_selection: false,
    available_choices: null,
    allow_multiple_selections: false,
    selected_choices: null,
    requires_output_review: false,
    output_review_message: null,
    is_post_execution: false,
    rejection_feedback: null,
    retry_count: retryCount,
    max_retries: review.maxRetries ?? defaultMaxRetries,
    timeout_at: null,
    on_timeout: review.onTimeout ?? 'cancel',
  };
}

export function fieldBody({ name, type, description, required, allowedValues }: UserInputField): JsonObject {
  return {
    name,
    field_type: type ?? 'str',
    description: description ?? null,
    value: null,
    required: required ?? true,
    ...(allowedValues !== undefined && { allowed_values: [...allowedValues] }),
  };
}
