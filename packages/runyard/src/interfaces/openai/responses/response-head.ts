import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { Run } from '../../../core/runs/run.js';
import { conversationId, partBefore, type ResponsePart, responseId } from './response-id.js';

/** What a run keeps of the request that started it, to show it in its response. */
export interface KeptRequest {
  readonly model: string;
  /** The id of the response before it. */
  readonly previous?: string;
  /** It belongs to a conversation, and not to a chain of responses. */
  readonly inConversation?: true;
  /** Only the request itself sees the response. */
  readonly isHidden?: true;
  readonly background?: true;
  readonly format?: JsonObject;
  readonly toolChoice?: Json;
}

/** What is stored with the run. */
export function keptMessage(kept: KeptRequest): JsonObject {
  return { response: { ...kept } };
}

/** A run that another interface started has nothing of it. */
export function keptRequest({ componentId, input }: Run): KeptRequest {
  const kept = input.options.clientMessage?.response;
  // only `keptMessage` writes it
  return isJsonObject(kept) ? (kept as unknown as KeptRequest) : { model: componentId };
}

/** All of a response that does not change while its run is executed. */
export function responseHead(run: Run, part: ResponsePart): JsonObject {
  const kept = keptRequest(run);
  const { metadata = {}, callerInput } = run.input.options;
  const before = partBefore(part);
  return {
    id: responseId(part),
    object: 'response',
    created_at: Math.floor(run.createdAt / 1000),
    background: kept.background ?? false,
    conversation: kept.inConversation ? { id: conversationId(run.sessionId) } : null,
    instructions: callerInput?.conversation?.instructions ?? null,
    max_output_tokens: null,
    metadata,
    model: kept.model,
    parallel_tool_calls: true,
    previous_response_id: before === undefined ? (kept.previous ?? null) : responseId(before),
    reasoning: { effort: null, summary: null },
    store: kept.isHidden !== true,
    temperature: null,
    text: { format: kept.format ?? { type: 'text' } },
    tool_choice: kept.toolChoice ?? 'auto',
    tools: (callerInput?.tools ?? []).map(({ name, description = null, inputSchema, strict = false }) => ({
      type: 'function',
      name,
      description,
      parameters: inputSchema,
      strict,
    })),
    top_p: null,
    truncation: 'disabled',
    user: null,
  };
}
