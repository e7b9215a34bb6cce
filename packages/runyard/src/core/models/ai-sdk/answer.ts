import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import { fieldsOf } from '../../objects.js';
import { CitationList, type CitedFields } from '../citations.js';
import type { Usage } from '../message.js';
import type { FinishReason, ModelChunk, ModelResponse } from '../model.js';
import { linkedMedia, storeMedia } from '../provider/answer/answer-media.js';
import {
  type AnswerPiece,
  hasGapAfter,
  type PieceOwner,
  responseParts,
  textGap,
  withoutCutCalls,
} from '../provider/answer/answer-pieces.js';
import { count, noUsage, usageOf } from '../provider/answer/usage.js';
import { executedPart, optionsOf } from './prompt.js';
import type { AiSdkPart } from './types.js';

type TextPiece = Extract<AnswerPiece, { text: string }> & { gap?: boolean };

/** Puts an answer together from the parts of a stream or of a whole result. */
export class AiSdkAnswer {
  readonly #owner: PieceOwner;
  readonly #pieces: AnswerPiece[] = [];
  readonly #open = new Map<unknown, TextPiece>();
  /** Where the last block about a call of the provider's own is, by the id of the call. */
  readonly #executed = new Map<unknown, number>();
  readonly #growing: { text?: TextPiece; reasoning?: TextPiece } = {};
  readonly #files: { readonly part: AiSdkPart; readonly block: JsonObject }[] = [];
  readonly #citations = new CitationList();
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
      case 'reasoning': {
        const chunk = this.#grow(part, part.type, part.text);
        this.#end(part);
        return chunk;
      }
      case 'text-start':
        this.#begin(part, 'text');
        return undefined;
      case 'reasoning-start':
        this.#begin(part, 'reasoning');
        return undefined;
      case 'text-end':
      case 'reasoning-end':
        this.#end(part);
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
    const media: Media[] = [];
    for (const { part, block } of this.#files) {
      const made = await madeMedia(part, contents);
      if (made === undefined) continue;
      media.push(made);
      block.media = { ...made };
    }
    const end = endingOf(this.#finishReason, false).finishReason;
    const { pieces, cut } = withoutCutCalls(end === 'length' ? this.#answeredPieces() : this.#pieces, end);
    const parts = responseParts(pieces.map(withArguments), this.#owner, this.id);
    const { finishReason, finishMessage = cut } = endingOf(this.#finishReason, parts.toolCalls.length > 0);
    return {
      ...parts,
      usage: this.#usage,
      finishReason,
      ...(finishMessage !== undefined && { finishMessage }),
      ...this.#citations.part,
      ...(media.length > 0 && { media }),
    };
  }

  /** Without the calls of the provider's own tools that were cut off: it refuses to see one without its result. */
  #answeredPieces(): AnswerPiece[] {
    const blocks = this.#pieces.flatMap((piece) => (piece.type === 'block' ? [piece.block] : []));
    const answered = new Set(blocks.map(({ type, toolCallId }) => type === 'tool-result' && toolCallId));
    return this.#pieces.filter(
      (piece) =>
        piece.type !== 'block' ||
        piece.block.type !== 'tool-call' ||
        answered.has(piece.block.toolCallId ?? ''),
    );
  }

  #begin(part: AiSdkPart, type: 'text' | 'reasoning'): TextPiece {
    const piece: TextPiece = { type, text: '' };
    this.#annotate(piece, part);
    this.#open.set(part.id, piece);
    return piece;
  }

  /** A piece has its place from its first text on, so that the content is what was shown, in that order. */
  #grow(part: AiSdkPart, type: 'text' | 'reasoning', text: unknown): ModelChunk | undefined {
    let piece = this.#open.get(part.id) ?? this.#begin(part, type);
    this.#annotate(piece, part);
    if (typeof text !== 'string' || text === '') return undefined;
    if (piece !== this.#growing[type]) {
      if (piece.text !== '') piece = this.#begin(part, type);
      if (type === 'text' && hasGapAfter(this.#pieces)) piece.gap = true;
      this.#pieces.push(piece);
      this.#growing[type] = piece;
    }
    const gap = piece.gap === true && piece.text === '';
    piece.text += text;
    return { type, text: gap ? textGap + text : text };
  }

  #end(part: AiSdkPart): void {
    const piece = this.#open.get(part.id);
    this.#annotate(piece, part);
    this.#open.delete(part.id);
    // a thought that is not shown
    if (piece?.data && piece.text === '') this.#pieces.push(piece);
  }

  /** What the provider says beside a part goes back to it; later words replace earlier ones. */
  #annotate(piece: { data?: JsonObject } | undefined, { providerMetadata }: AiSdkPart): void {
    if (piece && isJsonObject(providerMetadata)) piece.data = { ...piece.data, ...providerMetadata };
  }

  /** Parts of a kind that is not known here say nothing that an answer needs. */
  #other(part: AiSdkPart): void {
    const metadata = isJsonObject(part.providerMetadata) ? part.providerMetadata : undefined;
    switch (part.type) {
      case 'tool-call':
        if (part.providerExecuted === true) this.#block(executedPart(part, metadata));
        else this.#call(part, metadata);
        return;
      case 'tool-result':
        if (part.preliminary !== true) this.#block(executedPart(part, metadata));
        return;
      case 'tool-approval-request':
        this.#ask(part);
        return;
      case 'file':
        this.#files.push({ part, block: this.#block({ type: 'file', ...optionsOf(metadata) }) });
        return;
      case 'source':
        this.#citations.add(citationOf(part));
        return;
      case 'response-metadata':
        if (typeof part.id === 'string') this.id = part.id;
        return;
      case 'finish':
        this.finish(part.usage, part.finishReason);
    }
  }

  #block(block: JsonObject): JsonObject {
    const length = this.#pieces.push({ type: 'block', block });
    this.#executed.set(block.toolCallId, length - 1);
    return block;
  }

  #call({ toolCallId, toolName, input }: AiSdkPart, data: JsonObject | undefined): void {
    const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    const call = { id: String(toolCallId), name: String(toolName), arguments: text };
    this.#pieces.push({ type: 'call', call, ...(data && { data }) });
  }

  /** The provider makes this call itself, once the client has approved it. */
  #ask({ approvalId, toolCallId }: AiSdkPart): void {
    const at = this.#executed.get(toolCallId) ?? -1;
    const piece = this.#pieces[at];
    if (piece?.type !== 'block' || piece.block.type !== 'tool-call' || typeof approvalId !== 'string') return;
    const { toolName, input } = piece.block;
    const called = { id: String(toolCallId), name: String(toolName), arguments: JSON.stringify(input) };
    const call = { ...called, client: 'confirmation' } as const;
    this.#pieces[at] = { type: 'call', call, data: { approvalId, part: piece.block } };
  }
}

function withArguments(piece: AnswerPiece): AnswerPiece {
  if (piece.type !== 'call' || piece.call.arguments !== '') return piece;
  return { ...piece, call: { ...piece.call, arguments: '{}' } };
}

async function madeMedia(part: AiSdkPart, contents: MediaContents): Promise<Media | undefined> {
  const { mediaType = 'application/octet-stream', data } = part;
  const { type, url } = fieldsOf(data);
  if (type === 'url') return linkedMedia(String(mediaType), String(url));
  const bytes = bytesOf(data);
  return bytes && storeMedia(contents, String(mediaType), bytes);
}

/** V2 and V3 hand the bytes over themselves, V4 in a wrapper. */
function bytesOf(data: unknown): Uint8Array | undefined {
  if (data instanceof Uint8Array) return data;
  if (typeof data === 'string') return Buffer.from(data, 'base64');
  const { type, data: inner } = fieldsOf(data);
  return type === 'data' ? bytesOf(inner) : undefined;
}

/** What only some providers know of a source is below their name. */
function citationOf({ url, title, filename, providerMetadata }: AiSdkPart): CitedFields {
  const [more = {}] = Object.values(isJsonObject(providerMetadata) ? providerMetadata : {}).filter(
    isJsonObject,
  );
  return { url, title, filename, citedText: more.citedText, fileId: more.fileId };
}

type Ending = { readonly finishReason: FinishReason; readonly finishMessage?: string };

/** V2 names the reason alone, later versions beside the provider's own word. */
function endingOf(reason: unknown, called: boolean): Ending {
  const { unified, raw = unified } = typeof reason === 'string' ? { unified: reason } : fieldsOf(reason);
  switch (unified) {
    case 'length':
      return { finishReason: 'length' };
    case 'content-filter':
      if (raw === 'refusal') return { finishReason: 'refusal' };
      return { finishReason: 'content_filter', ...(!/^content.filter$/.test(String(raw)) && said(raw)) };
    case 'stop':
    case 'tool-calls':
      return { finishReason: called ? 'tool_calls' : 'stop' };
    default:
      if (called) return { finishReason: 'tool_calls' };
      return { finishReason: 'other', ...(!/^(other|unknown)$/.test(String(raw)) && said(raw)) };
  }
}

function said(word: unknown): Partial<Ending> {
  return typeof word === 'string' ? { finishMessage: word } : {};
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
