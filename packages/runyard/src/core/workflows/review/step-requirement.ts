import type { Json, JsonObject } from '../../json.js';
import type { NodeType, ReviewSettings, UserInputField } from '../definition/node.js';
import type { StepIndex } from '../journal-records.js';
import type { StepFields } from '../workflow-events.js';

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

/** The answer of a person: the output of the `wait` step. Stored data. */
export type StepAnswer =
  | {
      readonly confirmed: boolean;
      readonly user_input?: JsonObject;
      readonly rejection_feedback?: string;
      /** What takes the place of what the step made. */
      readonly edited_output?: Json;
    }
  | { readonly selected_choices: string[] }
  | { readonly decision: 'retry' | 'skip' }
  /** Nobody did, and the time was up. */
  | { readonly timed_out: true };

/** The kinds of `wait` steps of a workflow. */
export type StepWaitKind =
  | 'step_review'
  | 'route_selection'
  | 'output_review'
  | 'iteration_review'
  | 'step_error';

export const stepWaitKinds: ReadonlySet<string> = new Set<StepWaitKind>([
  'step_review',
  'route_selection',
  'output_review',
  'iteration_review',
  'step_error',
]);

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
