import type { ModelResponse } from '../../models/model.js';
import type { Writable } from '../../objects.js';
import type { ModelRecord } from '../journal-records.js';

/** What is recorded of what a model said. */
export function modelRecordOf(response: ModelResponse, timeToFirstToken: number): ModelRecord {
  const { content, finishReason, usage } = response;
  // stored: fields without a value are not there, and the others in this order
  const record: Writable<ModelRecord> = { content, finishReason, usage: { ...usage }, timeToFirstToken };
  if (response.finishMessage) record.finishMessage = response.finishMessage;
  if (response.citations !== undefined) record.citations = response.citations;
  if (response.reasoningContent) record.reasoning = response.reasoningContent;
  if (response.toolCalls.length > 0) record.toolCalls = response.toolCalls.map((call) => ({ ...call }));
  if (response.providerData !== undefined) record.providerData = response.providerData;
  if (response.media?.length) record.media = response.media;
  if (response.cached === true) record.cached = true;
  return record;
}

export function elapsedSeconds(started: number): number {
  return Math.round(performance.now() - started) / 1000;
}
