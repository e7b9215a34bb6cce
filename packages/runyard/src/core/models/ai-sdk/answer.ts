import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media.js';
import type { Usage } from '../message.js';
import type { ModelChunk, ModelResponse } from '../model.js';
import { storeMedia } from '../provider/answer-media.js';
import { type AnswerPiece, type PieceOwner, responseParts } from '../provider/answer-pieces.js';
import { count, noUsage, usageOf } from '../provider/usage.js';
import { executedPart } from './prompt.js';
import type { AiSdkPart } from './types.js';

type TextPiece = Extract<AnswerPiece, { text: string }>;

/** Puts an answer together from the parts of a stream or of a whole result. */
export class AiSdkAnswer {
  readonly #owner: PieceOwner;
  readonly #pieces: AnswerPiece[] = [];
  readonly #open = new Map<unknown, TextPiece>();
  readonly #files: AiSdkPart[] = [];
  #finishReason: unknown;
  #usage: Usage = noUsage;
  id: string | undefined;

  constructor(owner: PieceOwner) {
    this.#owner = owner;
  }

  get finished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** Takes in one part, and answers with what of it is to be shown at once. */
  accept(part: AiSdkPart): ModelChunk | undefined {
    switch (part.type) {
      case 'text-delta':
        return this.#grow(part, 'text', part.delta);
      case 'reasoning-delta':
        return this.#grow(part, 'reasoning', part.delta);
      case 'text':
      case 'reasoning':
        this.#begin(part, part.type);
        return this.#grow(part, part.type, part.text);
      case 'text-start':
        this.#begin(part, 'text');
        return undefined;
      case 'reasoning-start':
        this.#begin(part, 'reasoning');
        return undefined;
      case 'text-end':
      case 'reasoning-end':
        this.#annotate(this.#open.get(part.id), part);
        this.#open.delete(part.id);
        return undefined;
      default:
        this.#other(part);
        return undefined;
    }
  }

  finish(usage: unknown, finishReason: unknown): void {
    this.#usage = usageFrom(isJsonObject(usage) ? usage : {});
    this.#finishReason = finishReason;
  }

  async response(contents: MediaContents): Promise<ModelResponse> {
    const parts = responseParts(this.#pieces, this.#owner, this.id);
    const media: Media[] = [];
    for (const file of this.#files) {
      const bytes = bytesOf(file.data);
      if (bytes) media.push(await storeMedia(contents, String(file.mediaType), bytes));
    }
    return {
      ...parts,
      usage: this.#usage,
      finishReason: finishReason(this.#finishReason, parts.toolCalls.length > 0),
      ...(media.length > 0 && { media }),
    };
  }

  #begin(part: AiSdkPart, type: 'text' | 'reasoning'): void {
    const piece: TextPiece = { type, text: '' };
    this.#annotate(piece, part);
    this.#pieces.push(piece);
    this.#open.set(part.id, piece);
  }

  #grow(part: AiSdkPart, type: 'text' | 'reasoning', text: unknown): ModelChunk | undefined {
    if (!this.#open.has(part.id)) this.#begin(part, type);
    const piece = this.#open.get(part.id);
    this.#annotate(piece, part);
    if (!piece || typeof text !== 'string' || text === '') return undefined;
    piece.text += text;
    return { type, text };
  }

  /** What the provider says beside a part goes back to it; later words replace earlier ones. */
  #annotate(piece: { data?: JsonObject } | undefined, { providerMetadata }: AiSdkPart): void {
    if (piece && isJsonObject(providerMetadata)) piece.data = { ...piece.data, ...providerMetadata };
  }

  #other(part: AiSdkPart): void {
    const metadata = isJsonObject(part.providerMetadata) ? part.providerMetadata : undefined;
    if (part.type === 'tool-call' && part.providerExecuted !== true) {
      const { toolCallId, toolName, input } = part;
      const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
      const call = { id: String(toolCallId), name: String(toolName), arguments: text || '{}' };
      this.#pieces.push({ type: 'call', call, ...(metadata && { data: metadata }) });
    } else if (part.type === 'tool-call' || part.type === 'tool-result') {
      this.#pieces.push({ type: 'block', block: executedPart(part as unknown as JsonObject, metadata) });
    } else if (part.type === 'file') {
      this.#files.push(part);
    } else if (part.type === 'response-metadata' && typeof part.id === 'string') {
      this.id = part.id;
    } else if (part.type === 'finish') {
      this.finish(part.usage, part.finishReason);
    }
  }
}

/** V2 and V3 hand the bytes over themselves, V4 in a wrapper that may also be a URL. */
function bytesOf(data: unknown): Uint8Array | undefined {
  if (data instanceof Uint8Array) return data;
  if (typeof data === 'string') return Buffer.from(data, 'base64');
  const { type, data: inner } = (data ?? {}) as { type?: unknown; data?: unknown };
  return type === 'data' ? bytesOf(inner) : undefined;
}

/** V2 names the reason alone, later versions beside the provider's own word. */
function finishReason(reason: unknown, called: boolean): ModelResponse['finishReason'] {
  const unified = isJsonObject(reason) ? reason.unified : reason;
  switch (unified) {
    case 'length':
      return 'length';
    case 'content-filter':
      return 'content_filter';
    case 'stop':
    case 'tool-calls':
      return called ? 'tool_calls' : 'stop';
    default:
      return called ? 'tool_calls' : 'other';
  }
}

/** V2 counts in one level, later versions by direction. */
function usageFrom(usage: JsonObject): Usage {
  const { inputTokens: input, outputTokens: output } = usage;
  if (isJsonObject(input) || isJsonObject(output)) {
    return nestedUsage(isJsonObject(input) ? input : {}, isJsonObject(output) ? output : {});
  }
  const read = count(usage.cachedInputTokens);
  const counted = count(input);
  return usageOf({
    // Some providers of that version count what was cached beside the input.
    inputTokens: counted < read ? counted + read : counted,
    outputTokens: count(output),
    cacheReadTokens: read,
    reasoningTokens: count(usage.reasoningTokens),
  });
}

function nestedUsage(input: JsonObject, output: JsonObject): Usage {
  const parts = (values: (Json | undefined)[]) =>
    values.reduce<number>((sum, value) => sum + count(value), 0);
  return usageOf({
    inputTokens: count(input.total) || parts([input.noCache, input.cacheRead, input.cacheWrite]),
    outputTokens: count(output.total) || parts([output.text, output.reasoning]),
    cacheReadTokens: count(input.cacheRead),
    cacheWriteTokens: count(input.cacheWrite),
    reasoningTokens: count(output.reasoning),
  });
}
