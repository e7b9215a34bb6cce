import type { JsonObject } from '../json.js';
import type { FinishReason, Model } from './model.js';
import { ModelError } from './model-error.js';

/** The reasons that an agent may count as failures. */
export type UnfinishedReason = Exclude<FinishReason, 'stop' | 'tool_calls'>;

const meanings: Readonly<Partial<Record<FinishReason, string>>> = {
  refusal: 'The model declined to answer',
  content_filter: 'The content filter of the provider withheld the answer',
  length: 'The model reached its limit of output tokens',
};

interface Stop {
  readonly finishReason: FinishReason;
  readonly finishMessage?: string;
}

/** Why an answer is missing or incomplete; undefined for a complete one, and where the reason is unknown. */
export function explanationOf({ finishReason, finishMessage }: Stop): string | undefined {
  if (finishReason === 'stop' || finishReason === 'tool_calls') return undefined;
  if (!finishMessage) return meanings[finishReason] && `${meanings[finishReason]}.`;
  // a model's own text needs no introduction; a filter gives only a single word as its reason
  if (finishReason === 'refusal') return finishMessage;
  return `${meanings[finishReason] ?? 'The model stopped for another reason'}: ${finishMessage}`;
}

/** A model stopped for a reason that its agent counts as a failure (`failOn`). */
export class ModelStopped extends ModelError {
  override readonly code = 'model_stopped';

  /** `answer` is what the model gave nevertheless, as the journal keeps it: it has been paid for. */
  constructor(
    private readonly model: Pick<Model, 'id' | 'provider'>,
    readonly answer: Stop,
  ) {
    const explanation = explanationOf(answer) ?? 'The provider did not say why.';
    super(
      `The model '${model.id}' of ${model.provider} did not complete its answer (${answer.finishReason}): ${explanation}`,
      { provider: model.provider, kind: 'stopped', reason: 'stopped' },
    );
    this.name = 'ModelStopped';
  }

  override get facts(): JsonObject {
    const { finishReason, finishMessage } = this.answer;
    return {
      ...super.facts,
      model: this.model.id,
      model_provider: this.model.provider,
      finish_reason: finishReason,
      ...(finishMessage !== undefined && { finish_message: finishMessage }),
    };
  }
}
