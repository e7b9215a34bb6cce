import type { RunEvent } from '../../runs/events/logged-event.js';
import type { ReasoningStep } from './reasoning-step.js';

/** What a run tells about its thinking, in the words of the wire contract. */

export const reasoningStarted: RunEvent = { name: 'ReasoningStarted', payload: {} };

/** Streamed pieces of a model's own thinking. */
export const reasoningContentDelta: RunEvent = {
  name: 'ReasoningContentDelta',
  payload: { reasoning_content: '' },
  streamedField: 'reasoning_content',
};

/** `text` is everything that was thought so far. */
export function reasoningStepMade(step: ReasoningStep, text: string): RunEvent {
  return {
    name: 'ReasoningStep',
    payload: { content: { ...step }, content_type: 'ReasoningStep', reasoning_content: text },
  };
}

export function reasoningCompleted(steps: readonly ReasoningStep[]): RunEvent {
  return {
    name: 'ReasoningCompleted',
    payload: {
      content: { reasoning_steps: steps.map((step) => ({ ...step })) },
      content_type: 'ReasoningSteps',
    },
  };
}
