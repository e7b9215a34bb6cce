import type { RunEvent } from '../events/run-event.js';
import type { StepFields, StepOutput } from '../events/workflow-event.js';
import type { StepRequirement } from './review/step-requirement.js';

/** The events of a workflow's run, in the words of the wire contract. */

export function workflowStarted(recovered: boolean): RunEvent {
  return { event: 'WorkflowStarted', ...(recovered && { recovered }) };
}

export function stepCompleted(step: StepFields, output: StepOutput, contentType: string): RunEvent {
  const { content, images, videos, audio } = output;
  return {
    event: 'StepCompleted',
    ...step,
    content,
    content_type: contentType,
    images: images ?? undefined,
    videos: videos ?? undefined,
    audio: audio ?? undefined,
    step_response: output,
  };
}

export function stepPaused(step: StepFields, requirement: StepRequirement): RunEvent {
  const { requires_confirmation, confirmation_message, requires_user_input } = requirement;
  const { user_input_message, user_input_schema } = requirement;
  return {
    event: 'StepPaused',
    ...step,
    requires_confirmation,
    confirmation_message: confirmation_message ?? undefined,
    requires_user_input,
    user_input_message: user_input_message ?? undefined,
    user_input_schema,
  };
}

export function routerPaused(step: StepFields, requirement: StepRequirement): RunEvent {
  const { available_choices, user_input_message, allow_multiple_selections } = requirement;
  return {
    event: 'RouterPaused',
    ...step,
    available_choices,
    user_input_message: user_input_message ?? undefined,
    allow_multiple_selections,
  };
}

export function stepOutputReview(step: StepFields, requirement: StepRequirement): RunEvent {
  const { output_review_message, requires_output_review } = requirement;
  return {
    event: 'StepOutputReview',
    ...step,
    output_review_message: output_review_message ?? undefined,
    requires_output_review,
  };
}
