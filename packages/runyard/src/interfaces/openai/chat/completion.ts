import type { JsonObject } from '../../../core/json.js';
import type { Outcome, TokenCounts } from './outcome.js';

/** What a completion and each of its chunks say about themselves. */
export interface CompletionHead {
  readonly runId: string;
  readonly model: string;
  /** Milliseconds. */
  readonly createdAt: number;
}

const idPrefix = 'chatcmpl-';

/** The run that the id of a completion leads to. */
export function runIdOf(completionId: string): string | undefined {
  return completionId.startsWith(idPrefix) ? completionId.slice(idPrefix.length) : undefined;
}

export function headFields({ runId, model, createdAt }: CompletionHead, object: string): JsonObject {
  return { id: `${idPrefix}${runId}`, object, created: Math.floor(createdAt / 1000), model };
}

export function completionOf(head: CompletionHead, outcome: Outcome): JsonObject {
  const { content, refusal, reasoning, toolCalls, annotations, finishReason, usage, runyard } = outcome;
  const message: JsonObject = {
    role: 'assistant',
    content,
    refusal,
    ...(reasoning !== undefined && reasoning !== '' && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: [...toolCalls] }),
    annotations: [...annotations],
  };
  return {
    ...headFields(head, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    usage: usageBody(usage),
    service_tier: 'default',
    system_fingerprint: null,
    runyard,
  };
}

export function usageBody({
  input,
  output,
  cached,
  reasoning,
  audioInput,
  audioOutput,
}: TokenCounts): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: audioInput },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: audioOutput,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
