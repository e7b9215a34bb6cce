import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Usage } from '../message.js';
import type { ModelChunk, ModelResponse } from '../model.js';
import type { ModelError } from '../model-error.js';
import { type AnswerPiece, type PieceOwner, responseParts } from '../provider/answer-pieces.js';
import type { GrowingAnswer } from '../provider/protocol.js';
import { count, noUsage, usageOf } from '../provider/usage.js';
import { summarySeparator } from './request.js';

type Deliver = (chunk: ModelChunk) => void;

/** One item of the output while its deltas arrive. */
interface GrowingItem {
  readonly type: 'message' | 'reasoning' | 'function_call';
  id: string;
  /** The text, the summary of the reasoning, or the arguments, as far as they have come. */
  text: string;
  /** Of a summary: how long each part is that is complete. */
  readonly lengths: number[];
  details: JsonObject;
}

/** Puts an answer together from the events of a stream, or from the one response of a call without streaming. */
export class ResponsesAnswer implements GrowingAnswer {
  ended = false;
  readonly #owner: PieceOwner;
  readonly #fail: (error: Json) => ModelError;
  readonly #items = new Map<number, GrowingItem>();
  #status: string | undefined;
  #incomplete: string | undefined;
  #refused = false;
  #usage: Usage = noUsage;
  #id: string | undefined;

  constructor(owner: PieceOwner, fail: (error: Json) => ModelError) {
    this.#owner = owner;
    this.#fail = fail;
  }

  get finished(): boolean {
    return this.#status !== undefined;
  }

  accept(event: JsonObject, deliver: Deliver): undefined {
    const { type, delta } = event;
    const index = Number(event.output_index ?? 0);
    switch (type) {
      case 'response.output_text.delta':
        this.#grow(this.#item(index, 'message'), delta, deliver);
        return;
      case 'response.refusal.delta':
        this.#refused = true;
        this.#grow(this.#item(index, 'message'), delta, deliver);
        return;
      case 'response.reasoning_summary_part.added':
        this.#nextSummary(this.#item(index, 'reasoning'), deliver);
        return;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#grow(this.#item(index, 'reasoning'), delta, deliver);
        return;
      case 'response.function_call_arguments.delta':
        this.#grow(this.#item(index, 'function_call'), delta, deliver);
        return;
      case 'response.output_item.added':
      case 'response.output_item.done':
        if (isJsonObject(event.item)) this.#take(index, event.item, type.endsWith('done'), deliver);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.ended = true;
        if (isJsonObject(event.response)) this.#conclude(event.response, deliver);
        return;
      default:
        if (event.object === 'response') this.#conclude(event, deliver);
    }
  }

  addText(text: string, deliver: Deliver): void {
    this.#grow(this.#item(0, 'message'), text, deliver);
  }

  response(): ModelResponse {
    const items = [...this.#items].sort(([a], [b]) => a - b);
    const pieces = items.map(([, item]) => piece(item));
    const parts = responseParts(pieces, this.#owner, this.#id);
    return { ...parts, usage: this.#usage, finishReason: this.#finishReason(parts.toolCalls.length > 0) };
  }

  #item(index: number, type: GrowingItem['type']): GrowingItem {
    const known = this.#items.get(index);
    if (known) return known;
    const begun: GrowingItem = { type, id: '', text: '', lengths: [], details: {} };
    this.#items.set(index, begun);
    return begun;
  }

  #grow(item: GrowingItem, text: Json | undefined, deliver: Deliver): void {
    if (typeof text !== 'string' || text === '') return;
    item.text += text;
    if (item.type === 'message') deliver({ type: 'text', text });
    else if (item.type === 'reasoning') deliver({ type: 'reasoning', text });
  }

  #nextSummary(item: GrowingItem, deliver: Deliver): void {
    if (item.text === '') return;
    item.lengths.push(item.text.length - lengthBefore(item));
    this.#grow(item, summarySeparator, deliver);
  }

  /** An item as a whole. What of it did not come in deltas before is taken from here. */
  #take(index: number, wire: JsonObject, whole: boolean, deliver: Deliver): void {
    if (wire.type !== 'message' && wire.type !== 'reasoning' && wire.type !== 'function_call') return;
    const item = this.#item(index, wire.type);
    item.details = wire;
    item.id = String(wire.call_id ?? wire.id ?? item.id);
    if (!whole) return;
    if (wire.type === 'function_call') {
      if (typeof wire.arguments === 'string') item.text = wire.arguments;
    } else if (wire.type === 'message') {
      const content = Array.isArray(wire.content) ? wire.content.filter(isJsonObject) : [];
      if (content.some(({ type }) => type === 'refusal')) this.#refused = true;
      if (item.text === '')
        for (const { text, refusal } of content) this.#grow(item, text ?? refusal, deliver);
    } else if (item.text === '') {
      for (const { text } of Array.isArray(wire.summary) ? wire.summary.filter(isJsonObject) : []) {
        this.#nextSummary(item, deliver);
        this.#grow(item, text, deliver);
      }
    }
  }

  #conclude(response: JsonObject, deliver: Deliver): void {
    if (typeof response.id === 'string') this.#id = response.id;
    if (isJsonObject(response.usage)) this.#usage = usageFrom(response.usage);
    if (response.status === 'failed') throw this.#fail(response.error ?? 'no explanation');
    if (this.#items.size === 0 && Array.isArray(response.output)) {
      response.output.forEach((item, index) => {
        if (isJsonObject(item)) this.#take(index, item, true, deliver);
      });
    }
    this.#status = String(response.status ?? 'completed');
    const details = response.incomplete_details;
    this.#incomplete = isJsonObject(details) ? String(details.reason) : undefined;
  }

  #finishReason(called: boolean): ModelResponse['finishReason'] {
    if (this.#refused || this.#incomplete === 'content_filter') return 'content_filter';
    if (this.#incomplete === 'max_output_tokens') return 'length';
    if (called) return 'tool_calls';
    return this.#status === 'completed' ? 'stop' : 'other';
  }
}

function lengthBefore({ lengths }: GrowingItem): number {
  return lengths.reduce((sum, length) => sum + length + summarySeparator.length, 0);
}

function piece(item: GrowingItem): AnswerPiece {
  const { type, id, text, lengths, details } = item;
  if (type === 'message') {
    const { phase } = details;
    return { type: 'text', text, ...(typeof phase === 'string' && { data: { phase } }) };
  }
  if (type === 'function_call') {
    return { type: 'call', call: { id, name: String(details.name ?? ''), arguments: text } };
  }
  // Without its encrypted content the item means nothing to a server that stored nothing.
  const encrypted = details.encrypted_content;
  if (typeof encrypted !== 'string' || encrypted === '') return { type: 'reasoning', text };
  const all = text === '' ? [] : [...lengths, text.length - lengthBefore(item)];
  return { type: 'reasoning', text, data: { id, encrypted_content: encrypted, lengths: all } };
}

function usageFrom(usage: JsonObject): Usage {
  const input = isJsonObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return usageOf({
    inputTokens: count(usage.input_tokens),
    outputTokens: count(usage.output_tokens),
    cacheReadTokens: count(input.cached_tokens),
    cacheWriteTokens: count(input.cache_write_tokens),
    reasoningTokens: count(output.reasoning_tokens),
  });
}
