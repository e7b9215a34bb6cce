import { newId } from '../../ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media.js';
import type { Usage } from '../message.js';
import type { ModelChunk, ModelResponse } from '../model.js';
import { ModelError } from '../model-error.js';
import { storeMedia } from '../provider/answer-media.js';
import { type AnswerPiece, type PieceOwner, responseParts } from '../provider/answer-pieces.js';
import type { GrowingAnswer } from '../provider/protocol.js';
import { count, usageOf } from '../provider/usage.js';

type Deliver = (chunk: ModelChunk) => void;

/** Puts an answer together from the chunks of a stream, or from the one object of a call without streaming. */
export class GeminiAnswer implements GrowingAnswer {
  /** The protocol has no mark of its end but the end of the connection. */
  readonly ended = false;
  readonly #owner: PieceOwner;
  readonly #provider: string;
  readonly #pieces: AnswerPiece[] = [];
  readonly #made: { readonly mimeType: string; readonly data: string }[] = [];
  #finishReason: string | undefined;
  /** Sent with every chunk; the last one counts. */
  #usage: JsonObject = {};
  #id: string | undefined;

  constructor(owner: PieceOwner, provider: string) {
    this.#owner = owner;
    this.#provider = provider;
  }

  get finished(): boolean {
    return this.#finishReason !== undefined;
  }

  accept(chunk: JsonObject, deliver: Deliver): undefined {
    if (typeof chunk.responseId === 'string') this.#id = chunk.responseId;
    if (isJsonObject(chunk.usageMetadata)) this.#usage = chunk.usageMetadata;
    const candidate = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined;
    if (isJsonObject(candidate)) this.#candidate(candidate, deliver);
    if (isJsonObject(chunk.promptFeedback)) this.#blocked(chunk.promptFeedback, deliver);
  }

  addText(text: string, deliver: Deliver): void {
    this.#grow('text', text, undefined, deliver);
  }

  async response(contents: MediaContents): Promise<ModelResponse> {
    const parts = responseParts(this.#pieces, this.#owner, this.#id);
    const media: Media[] = [];
    for (const { mimeType, data } of this.#made) {
      media.push(await storeMedia(contents, mimeType, Buffer.from(data, 'base64')));
    }
    return {
      ...parts,
      usage: usageFrom(this.#usage),
      finishReason: finishReason(this.#finishReason, parts.toolCalls.length > 0),
      ...(media.length > 0 && { media }),
    };
  }

  #candidate(candidate: JsonObject, deliver: Deliver): void {
    const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined;
    for (const part of Array.isArray(parts) ? parts : []) if (isJsonObject(part)) this.#part(part, deliver);
    if (typeof candidate.finishReason !== 'string') return;
    this.#finishReason = candidate.finishReason;
    if (/^(MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL)$/.test(candidate.finishReason)) {
      throw this.#spoiled(candidate.finishReason, candidate.finishMessage);
    }
  }

  #part(part: JsonObject, deliver: Deliver): void {
    const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : undefined;
    if (isJsonObject(part.functionCall)) {
      this.#call(part.functionCall, signature);
    } else if (typeof part.text === 'string') {
      this.#grow(part.thought === true ? 'reasoning' : 'text', part.text, signature, deliver);
    } else if (isJsonObject(part.inlineData)) {
      const { mimeType, data } = part.inlineData;
      if (part.thought !== true && typeof data === 'string') {
        this.#made.push({ mimeType: String(mimeType ?? 'image/png'), data });
      }
    } else {
      // What Google ran itself (code, searches): it wants to see it again.
      this.#pieces.push({ type: 'block', block: part });
    }
  }

  /** A part with a signature stays a part of its own: joined with another, its signature would not fit. */
  #grow(type: 'text' | 'reasoning', text: string, signature: string | undefined, deliver: Deliver): void {
    const last = this.#pieces.at(-1);
    if (signature !== undefined) this.#pieces.push({ type, text, data: { signature } });
    else if (last?.type === type && last.data === undefined) last.text += text;
    else if (text !== '') this.#pieces.push({ type, text });
    if (text !== '') deliver({ type, text });
  }

  #call(call: JsonObject, signature: string | undefined): void {
    const given = typeof call.id === 'string' && call.id !== '' ? call.id : undefined;
    const data: JsonObject = { ...(given !== undefined && { id: true }), ...(signature && { signature }) };
    this.#pieces.push({
      type: 'call',
      call: {
        id: given ?? `call_${newId()}`,
        name: String(call.name ?? ''),
        arguments: JSON.stringify(call.args ?? {}),
      },
      ...(Object.keys(data).length > 0 && { data }),
    });
  }

  #blocked({ blockReason, blockReasonMessage }: JsonObject, deliver: Deliver): void {
    if (typeof blockReason !== 'string' || blockReason === 'BLOCKED_REASON_UNSPECIFIED') return;
    this.#finishReason = 'SAFETY';
    const said = typeof blockReasonMessage === 'string' && blockReasonMessage !== '';
    const text = said ? blockReasonMessage : `The prompt was blocked by ${this.#provider} (${blockReason}).`;
    this.#grow('text', text, undefined, deliver);
  }

  /** The model wrote a call that its own provider could not read. The next try mostly succeeds. */
  #spoiled(reason: string, message: Json | undefined): ModelError {
    const detail = typeof message === 'string' && message !== '' ? `: ${message}` : '.';
    return new ModelError(`${this.#provider} could not read the model's own call (${reason})${detail}`, {
      provider: this.#provider,
      kind: 'protocol',
      retryable: true,
    });
  }
}

function finishReason(reason: string | undefined, called: boolean): ModelResponse['finishReason'] {
  switch (reason) {
    case 'STOP':
      return called ? 'tool_calls' : 'stop';
    case 'MAX_TOKENS':
      return 'length';
    case 'SAFETY':
    case 'RECITATION':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'LANGUAGE':
    case 'IMAGE_SAFETY':
    case 'IMAGE_PROHIBITED_CONTENT':
    case 'IMAGE_RECITATION':
      return 'content_filter';
    default:
      return called ? 'tool_calls' : 'other';
  }
}

/** Cached tokens are part of the prompt here; thoughts are counted beside the candidates. */
function usageFrom(usage: JsonObject): Usage {
  const thoughts = count(usage.thoughtsTokenCount);
  return usageOf({
    inputTokens: count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount),
    outputTokens: count(usage.candidatesTokenCount) + thoughts,
    cacheReadTokens: count(usage.cachedContentTokenCount),
    reasoningTokens: thoughts,
    audioInputTokens: audioTokens(usage.promptTokensDetails),
    audioOutputTokens: audioTokens(usage.candidatesTokensDetails),
  });
}

function audioTokens(details: Json | undefined): number {
  const audio = Array.isArray(details)
    ? details.find((detail) => isJsonObject(detail) && detail.modality === 'AUDIO')
    : undefined;
  return isJsonObject(audio) ? count(audio.tokenCount) : 0;
}
