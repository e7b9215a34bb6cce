import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import type { Usage } from '../message.js';
import type { ModelChunk, ModelResponse } from '../model.js';
import { ModelError } from '../model-error.js';
import { storeMedia } from '../provider/answer/answer-media.js';
import {
  type AnswerPiece,
  hasGapAfter,
  type PieceOwner,
  responseParts,
  textGap,
} from '../provider/answer/answer-pieces.js';
import { count, usageOf } from '../provider/answer/usage.js';
import type { GrowingAnswer } from '../provider/protocol.js';
import { type Ending, endingParts } from './ending.js';
import { Grounding } from './grounding.js';
import { GrowingCalls } from './growing-calls.js';

type Deliver = (chunk: ModelChunk) => void;

/** Puts an answer together from the chunks of a stream, or from the one object of a call without streaming. */
export class GeminiAnswer implements GrowingAnswer {
  /** The protocol has no mark of its end but the end of the connection. */
  readonly ended = false;
  readonly #owner: PieceOwner;
  readonly #provider: string;
  readonly #pieces: AnswerPiece[] = [];
  readonly #calls = new GrowingCalls();
  readonly #grounding = new Grounding();
  readonly #made: { readonly inlineData: JsonObject; readonly data: string }[] = [];
  #ending: Ending | undefined;
  /** Sent with every chunk; the last one counts, for each count that it has. */
  readonly #usage: JsonObject = {};
  #id: string | undefined;

  constructor(owner: PieceOwner, provider: string) {
    this.#owner = owner;
    this.#provider = provider;
  }

  get finished(): boolean {
    return this.#ending !== undefined;
  }

  accept(chunk: JsonObject, deliver: Deliver): undefined {
    if (typeof chunk.responseId === 'string') this.#id = chunk.responseId;
    if (isJsonObject(chunk.usageMetadata)) Object.assign(this.#usage, chunk.usageMetadata);
    const candidate = Array.isArray(chunk.candidates) ? chunk.candidates.find(isFirst) : undefined;
    if (isJsonObject(candidate)) this.#candidate(candidate, deliver);
    if (isJsonObject(chunk.promptFeedback)) this.#blocked(chunk.promptFeedback, deliver);
  }

  addText(text: string, deliver: Deliver): void {
    this.#grow('text', text, undefined, deliver);
  }

  async response(contents: MediaContents): Promise<ModelResponse> {
    this.#calls.end(this.#ending?.word, this.#pieces.at(-1));
    const media: Media[] = [];
    for (const { inlineData, data } of this.#made) {
      const stored = await storeMedia(contents, String(inlineData.mimeType), Buffer.from(data, 'base64'));
      inlineData.hash = stored.hash;
      media.push(stored);
    }
    const parts = responseParts(this.#pieces, this.#owner, this.#id);
    return {
      ...parts,
      usage: usageFrom(this.#usage),
      ...endingParts(this.#ending, parts.toolCalls.length > 0),
      ...this.#grounding.part(this.#pieces),
      ...(media.length > 0 && { media }),
    };
  }

  #candidate(candidate: JsonObject, deliver: Deliver): void {
    const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined;
    const list = Array.isArray(parts) ? parts : [];
    // Without an iterator, which would cost a seventh of the time that a token takes here.
    for (let at = 0; at < list.length; at += 1) {
      const part = list[at];
      if (isJsonObject(part)) this.#part(part, deliver);
    }
    this.#grounding.accept(candidate);
    if (typeof candidate.finishReason === 'string') this.#end(candidate.finishReason, candidate);
  }

  #end(word: string, { finishMessage: message, safetyRatings }: JsonObject): void {
    this.#ending = { word, message, safetyRatings };
    if (/^(MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL)$/.test(word)) throw this.#spoiled(word, message);
  }

  #part(part: JsonObject, deliver: Deliver): void {
    const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : undefined;
    if (typeof part.text === 'string') {
      this.#grow(part.thought === true ? 'reasoning' : 'text', part.text, signature, deliver);
    } else if (isJsonObject(part.functionCall)) {
      const begun = this.#calls.accept(part.functionCall, signature);
      if (begun) this.#pieces.push(begun);
    } else if (isJsonObject(part.inlineData)) {
      this.#media(part, part.inlineData);
    } else if (!holdsData(part)) {
      this.#grow(part.thought === true ? 'reasoning' : 'text', '', signature, deliver);
    } else {
      // What Google ran itself (code, searches): it wants to see it again.
      this.#pieces.push({ type: 'block', block: part });
    }
  }

  /** The bytes are stored once, as media; the piece refers to them by their hash. */
  #media(part: JsonObject, { data, mimeType = 'image/png', ...rest }: JsonObject): void {
    if (part.thought === true || typeof data !== 'string') return;
    const inlineData = { ...rest, mimeType };
    this.#made.push({ inlineData, data });
    this.#pieces.push({ type: 'block', block: { ...part, inlineData } });
  }

  /** A part with a signature stays a part of its own: joined with another, its signature would not fit. */
  #grow(type: 'text' | 'reasoning', text: string, signature: string | undefined, deliver: Deliver): void {
    const last = this.#pieces.at(-1);
    if (signature === undefined && last?.type === type && last.data === undefined) {
      last.text += text;
      if (text !== '') deliver({ type, text });
      return;
    }
    if (text === '' && signature === undefined) return;
    const gap = type === 'text' && text !== '' && hasGapAfter(this.#pieces);
    const data = signature === undefined ? undefined : { data: { signature } };
    this.#pieces.push({ type, text, ...(gap && { gap }), ...data });
    if (text !== '') deliver({ type, text: gap ? textGap + text : text });
  }

  #blocked(feedback: JsonObject, deliver: Deliver): void {
    const { blockReason: word, blockReasonMessage: message, safetyRatings } = feedback;
    if (typeof word !== 'string' || word === 'BLOCKED_REASON_UNSPECIFIED') return;
    this.#ending = { word, message, safetyRatings, blocked: true };
    const said = typeof message === 'string' && message !== '';
    const text = said ? message : `The prompt was blocked by ${this.#provider} (${word}).`;
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

/** Of several candidates, the first is the answer. */
function isFirst(candidate: Json): boolean {
  return isJsonObject(candidate) && !candidate.index;
}

/** Google refuses to see a part again that holds nothing, or a signature alone. */
function holdsData(part: JsonObject): boolean {
  return Object.keys(part).some((name) => !/^(thought|thoughtSignature|partMetadata)$/.test(name));
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
