import type { Json, JsonObject } from '../json.js';
import type { RunEvent } from '../runs/events/logged-event.js';
import type { StepOutput } from './definition/functions.js';
import type { StepIndex } from './journal-records.js';

/** The events of a workflow's run, in the words of the wire contract. */

/** Which step an event is about. */
export type StepFields = {
  readonly step_id: string;
  readonly parent_step_id?: string;
  readonly step_name: string;
  readonly step_index: StepIndex;
};

export function workflowStarted(recovered: boolean): RunEvent {
  return { name: 'WorkflowStarted', payload: recovered ? { recovered } : {} };
}

export function stepStarted(step: StepFields): RunEvent {
  return { name: 'StepStarted', payload: step };
}

export function stepOutputEvent(step: StepFields, output: StepOutput): RunEvent {
  return { name: 'StepOutput', payload: { ...step, step_output: output } };
}

export function stepCompleted(step: StepFields, output: StepOutput, contentType: string): RunEvent {
  const { content, images, videos, audio } = output;
  return {
    name: 'StepCompleted',
    payload: {
      ...step,
      content,
      content_type: contentType,
      images: images ?? undefined,
      videos: videos ?? undefined,
      audio: audio ?? undefined,
      step_response: output,
    },
  };
}

export function stepError(step: StepFields, error: string): RunEvent {
  return { name: 'StepError', payload: { ...step, error } };
}

export function stepContinued(step: StepFields): RunEvent {
  return { name: 'StepContinued', payload: step };
}

/** Beginning and end of a group of steps, or of an iteration. */
export function groupEvent(name: string, step: StepFields, payload: JsonObject): RunEvent {
  return { name, payload: { ...step, ...payload } };
}

export function stepPaused(step: StepFields, requirement: JsonObject): RunEvent {
  const { requires_confirmation, confirmation_message, requires_user_input } = requirement;
  const { user_input_message, user_input_schema } = requirement;
  return {
    name: 'StepPaused',
    payload: {
      ...step,
      requires_confirmation,
      confirmation_message: confirmation_message ?? undefined,
      requires_user_input,
      user_input_message: user_input_message ?? undefined,
      user_input_schema: user_input_schema ?? undefined,
    },
  };
}

export function routerPaused(step: StepFields, requirement: JsonObject): RunEvent {
  const { available_choices, user_input_message, allow_multiple_selections } = requirement;
  return {
    name: 'RouterPaused',
    payload: {
      ...step,
      available_choices,
      user_input_message: user_input_message ?? undefined,
      allow_multiple_selections,
    },
  };
}

export function stepOutputReview(step: StepFields, requirement: JsonObject): RunEvent {
  const { output_review_message, requires_output_review } = requirement;
  return {
    name: 'StepOutputReview',
    payload: {
      ...step,
      output_review_message: output_review_message ?? undefined,
      requires_output_review,
    },
  };
}

export function stepExecutorPaused(step: StepFields, executor: JsonObject): RunEvent {
  return { name: 'StepExecutorPaused', payload: { ...step, ...executor } };
}

export function stepExecutorContinued(step: StepFields, executor: JsonObject): RunEvent {
  return { name: 'StepExecutorContinued', payload: { ...step, ...executor } };
}

export const workflowAgentStarted: RunEvent = { name: 'WorkflowAgentStarted', payload: {} };

export function workflowAgentCompleted(content: Json): RunEvent {
  return { name: 'WorkflowAgentCompleted', payload: { content } };
}

/** What every event says about itself: an event of the application cannot pass for another one. */
const ownFields = new Set([
  'created_at',
  'event',
  'event_index',
  'run_id',
  'session_id',
  'workflow_id',
  'workflow_name',
  'nested_depth',
]);

export function customEvent(fields: JsonObject, step: Partial<StepFields>): RunEvent {
  const given = Object.entries(fields).filter(([name]) => !ownFields.has(name));
  return { name: 'CustomEvent', payload: { ...Object.fromEntries(given), ...step } };
}
