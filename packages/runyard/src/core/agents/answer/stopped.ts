import type { AnswerEnding, Model } from '../../models/model.js';
import { explanationOf, ModelStopped } from '../../models/model-stopped.js';
import type { AgentSettings } from '../definition.js';
import type { ModelRecord } from '../journal-records.js';

/** The content of a run whose model stopped without a text; undefined for a model that is simply done. */
export function stopText(record: ModelRecord): string | undefined {
  const { content, media, toolCalls } = record;
  const isSilent = content.trim() === '' && media === undefined && toolCalls === undefined;
  return isSilent ? explanationOf(record) : undefined;
}

/** Whether asking again is of no use: the model, or its provider, refuses to answer. */
export function isDeclined({ finishReason }: Pick<Partial<AnswerEnding>, 'finishReason'>): boolean {
  return finishReason === 'refusal' || finishReason === 'content_filter';
}

/** Throws when the agent counts the reason for which the model stopped as a failure. */
export function assertAccepted({ failOn }: AgentSettings, model: Model, record: ModelRecord): void {
  if (failOn?.some((reason) => reason === record.finishReason)) throw new ModelStopped(model, record);
}
