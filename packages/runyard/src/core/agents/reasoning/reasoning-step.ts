import { isJsonObject, type Json } from '../../json.js';
import type { OutputFormat } from '../../models/model.js';

const nextActions = ['final_answer', 'continue', 'validate', 'reset'] as const;

/** One step of thinking before an answer, in the words of the wire contract. */
export type ReasoningStep = {
  title: string | null;
  action: string | null;
  result: string | null;
  reasoning: string | null;
  next_action: (typeof nextActions)[number] | null;
  /** Between 0 and 1. */
  confidence: number | null;
};

const text = (description: string) => ({ type: ['string', 'null'], description });

export const reasoningStepFormat: OutputFormat = {
  name: 'ReasoningStep',
  strict: true,
  schema: {
    type: 'object',
    properties: {
      title: text('What this step is about, in a few words'),
      reasoning: text('The thought itself'),
      action: text('What is done in this step, in the first person'),
      result: text('What came of it'),
      next_action: {
        type: 'string',
        enum: [...nextActions],
        description:
          'final_answer: enough is known to answer. continue: more thinking is needed. validate: the result has to be checked first. reset: what was thought so far is wrong.',
      },
      confidence: { type: ['number', 'null'], description: 'How sure you are of the result, from 0 to 1' },
    },
    required: ['title', 'reasoning', 'action', 'result', 'next_action', 'confidence'],
    additionalProperties: false,
  },
};

/** What a model answered, as a step: whatever it left out or got wrong is null. */
export function reasoningStepFrom(value: Json | undefined): ReasoningStep | undefined {
  if (!isJsonObject(value)) return undefined;
  const step = {
    title: textOrNull(value.title),
    action: textOrNull(value.action),
    result: textOrNull(value.result),
    reasoning: textOrNull(value.reasoning),
  };
  if (Object.values(step).every((field) => field === null)) return undefined;
  return {
    ...step,
    next_action: nextActions.find((action) => action === value.next_action) ?? null,
    confidence: typeof value.confidence === 'number' ? Math.min(Math.max(value.confidence, 0), 1) : null,
  };
}

/** Steps as text for people and models to read. */
export function reasoningText(steps: readonly ReasoningStep[]): string {
  return steps.map(stepText).join('\n\n');
}

function stepText({ title, reasoning, action, result }: ReasoningStep, position: number): string {
  const lines = [`## ${title ?? `Step ${position + 1}`}`];
  if (reasoning !== null) lines.push(reasoning);
  if (action !== null) lines.push(`Action: ${action}`);
  if (result !== null) lines.push(`Result: ${result}`);
  return lines.join('\n');
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
