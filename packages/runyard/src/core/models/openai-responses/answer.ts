import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import { CitationList } from '../citations.js';
import type { Usage } from '../message.js';
import type { FinishReason, ModelChunk, ModelResponse } from '../model.js';
import type { ModelError } from '../model-error.js';
import { storeMedia } from '../provider/answer/answer-media.js';
import {
  type AnswerPiece,
  type PieceOwner,
  responseParts,
  textGap,
} from '../provider/answer/answer-pieces.js';
import { count, noUsage, usageOf } from '../provider/answer/usage.js';
import { mimeTypeOf } from '../provider/media-parts.js';
import type { GrowingAnswer } from '../provider/protocol.js';
import { addQueries, annotationsIn, cite, firstPart, textOf } from './citations.js';
import { clientCallOf } from './client-calls.js';
import {
  beginPart,
  type GrowingItem,
  ItemsByType,
  newItem,
  pieceOf,
  type ReasoningKind,
} from './growing-item.js';

type Deliver = (chunk: ModelChunk) => void;

/** Puts an answer together from the events of a stream, or from the one response of a call without streaming. */
export class ResponsesAnswer implements GrowingAnswer {
  ended = false;
  readonly #owner: PieceOwner;
  readonly #fail: (error: Json) => ModelError;
  /** In the order in which they began. */
  readonly #items: GrowingItem[] = [];
  readonly #byIndex = new Map<number, GrowingItem>();
  readonly #byId = new Map<string, GrowingItem>();
  /** Two items have the same index: their ids distinguish them. */
  #sharedIndex = false;
  readonly #messages: GrowingItem[] = [];
  /** The message whose text is delivered: the first that is not complete. The text of later ones waits for its end. */
  #currentMessage: GrowingItem | undefined;
  #completeMessages = 0;
  #hasSpoken = false;
  #status: string | undefined;
  #incomplete: string | undefined;
  #refusal: string | undefined;
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
    switch (type) {
      case 'response.output_text.delta':
        this.#grow(this.#item(event, 'message'), delta, deliver);
        return;
      case 'response.refusal.delta':
        if (typeof delta === 'string') this.#refusal = (this.#refusal ?? '') + delta;
        this.#grow(this.#item(event, 'message'), delta, deliver);
        return;
      case 'response.output_text.annotation.added':
        this.#annotate(this.#item(event, 'message'), event);
        return;
      case 'response.reasoning_summary_part.added':
        this.#beginPart(this.#item(event, 'reasoning'), 'summary', deliver);
        return;
      case 'response.reasoning_summary_text.delta':
        this.#grow(this.#item(event, 'reasoning'), delta, deliver);
        return;
      case 'response.reasoning_text.delta': {
        const item = this.#item(event, 'reasoning');
        if (item.parts.at(-1)?.kind !== 'content') this.#beginPart(item, 'content', deliver);
        this.#grow(item, delta, deliver);
        return;
      }
      case 'response.function_call_arguments.delta':
        this.#grow(this.#item(event, 'function_call'), delta, deliver);
        return;
      case 'response.image_generation_call.partial_image':
        this.#item(event, 'image_generation_call').text = String(event.partial_image_b64 ?? '');
        return;
      case 'response.output_item.added':
        if (isJsonObject(event.item)) this.#announce(this.#index(event, this.#items.length), event.item);
        return;
      case 'response.output_item.done':
        if (isJsonObject(event.item)) this.#end(this.#index(event), event.item, deliver);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.ended = true;
        if (isJsonObject(event.response)) this.#conclude(event.response, deliver);
        return;
      default:
        if (Array.isArray(event.output)) this.#conclude(event, deliver);
    }
  }

  addText(text: string, deliver: Deliver): void {
    this.#grow(this.#item({}, 'message'), text, deliver);
  }

  async response(contents: MediaContents): Promise<ModelResponse> {
    const pieces: AnswerPiece[] = [];
    const media: Media[] = [];
    const citations = new CitationList();
    const outputs = this.#items.filter(({ type }) => type.endsWith('_output'));
    const answered = new Set(outputs.map(({ wire }) => wire.call_id));
    let length = 0;
    for (const item of this.#items) {
      if (item.type === 'message') {
        if (item.text === '') continue;
        const gap = length > 0;
        const start = length + (gap ? textGap.length : 0);
        length = start + item.text.length;
        cite(citations, item.annotations, item.text, start);
        const { phase } = item.wire;
        pieces.push({
          type: 'text',
          text: item.text,
          gap,
          ...(typeof phase === 'string' && { data: { phase } }),
        });
      } else if (item.type === 'image_generation_call') {
        const image = await this.#image(item, contents);
        if (image === undefined) continue;
        media.push(image.media);
        if (image.block) pieces.push(image.block);
      } else if (!this.#isCutOff(item)) {
        addQueries(citations, item.wire);
        const piece = pieceOf(item, answered.has(item.client?.call.id));
        if (piece) pieces.push(piece);
      }
    }
    const parts = responseParts(pieces, this.#owner, this.#id);
    return {
      ...parts,
      usage: this.#usage,
      ...this.#finish(parts.toolCalls.length > 0),
      ...citations.part,
      ...(media.length > 0 && { media }),
    };
  }

  /** The item that a delta belongs to. */
  #item(event: JsonObject, type: string): GrowingItem {
    const { output_index, item_id } = event;
    const index = this.#index(event);
    const named =
      this.#sharedIndex || output_index === undefined ? this.#byId.get(String(item_id)) : undefined;
    const known = named ?? this.#byIndex.get(index);
    if (known !== undefined && known.type === type && !known.done) return known;
    return this.#begin(index, { type, id: item_id ?? '' });
  }

  /** The place of the item that an event is about; that of the last item where a server leaves it out. */
  #index({ output_index }: JsonObject, otherwise = Math.max(this.#items.length - 1, 0)): number {
    return typeof output_index === 'number' ? output_index : otherwise;
  }

  /**
   * The item of an event about a whole item. Items may share an index, or an id; and some servers name an item anew in
   * each event.
   */
  #found(index: number, { id, type }: JsonObject): GrowingItem | undefined {
    const placed = this.#byIndex.get(index);
    if (placed !== undefined && isNamed(placed, id)) return placed;
    return this.#byId.get(String(id)) ?? (placed?.type === type ? placed : undefined);
  }

  #announce(index: number, wire: JsonObject): void {
    const known = this.#found(index, wire);
    if (known !== undefined && isNamed(known, wire.id) && this.#byIndex.get(index) === known)
      known.wire = wire;
    else this.#begin(index, wire);
  }

  #begin(index: number, wire: JsonObject): GrowingItem {
    const item = newItem(wire);
    this.#items.push(item);
    if (this.#byIndex.has(index)) this.#sharedIndex = true;
    this.#byIndex.set(index, item);
    if (typeof wire.id === 'string' && wire.id !== '') this.#byId.set(wire.id, item);
    if (item.type !== 'message') return item;
    this.#messages.push(item);
    this.#currentMessage ??= item;
    return item;
  }

  #grow(item: GrowingItem, text: Json | undefined, deliver: Deliver): void {
    if (typeof text !== 'string' || text === '') return;
    const begins = item.text === '';
    item.text += text;
    if (item === this.#currentMessage)
      deliver({ type: 'text', text: begins && this.#hasSpoken ? textGap + text : text });
    else if (item.type === 'reasoning') deliver({ type: 'reasoning', text });
  }

  #beginPart(item: GrowingItem, kind: ReasoningKind, deliver: Deliver): void {
    this.#grow(item, beginPart(item, kind), deliver);
  }

  #annotate(item: GrowingItem, { annotation, content_index }: JsonObject): void {
    if (!isJsonObject(annotation)) return;
    // where a later part begins is known when the message is complete
    item.annotations.push({ wire: annotation, part: content_index ? undefined : firstPart });
  }

  #end(index: number, wire: JsonObject, deliver: Deliver): void {
    const known = this.#found(index, wire);
    const isOpen = known !== undefined && (!known.done || isNamed(known, wire.id));
    this.#complete(isOpen ? known : this.#begin(index, wire), wire, deliver);
  }

  /** An item as a whole. What of it did not come in deltas before is taken from here. */
  #complete(item: GrowingItem, wire: JsonObject, deliver: Deliver): void {
    item.wire = wire;
    if (item.type === 'message') this.#completeMessage(item, partsOf(wire.content), deliver);
    else if (item.type === 'reasoning') this.#completeReasoning(item, deliver);
    else if (item.type === 'function_call') item.text = argumentsOf(wire) || item.text;
    else if (wire.status !== 'incomplete') item.client = clientCallOf(wire);
    item.done = true;
    this.#passOn(deliver);
  }

  #completeReasoning(item: GrowingItem, deliver: Deliver): void {
    if (item.text !== '') return;
    for (const kind of ['summary', 'content'] as const) {
      for (const { text } of objects(item.wire[kind])) {
        this.#beginPart(item, kind, deliver);
        this.#grow(item, text, deliver);
      }
    }
  }

  #completeMessage(item: GrowingItem, content: readonly JsonObject[], deliver: Deliver): void {
    const refusals = content.filter(({ type }) => type === 'refusal');
    if (refusals.length > 0) this.#refusal = refusals.map(textOf).join('');
    const whole = content.map(textOf).join('');
    if (whole.startsWith(item.text)) this.#grow(item, whole.slice(item.text.length), deliver);
    const annotations = annotationsIn(content);
    if (annotations.length > 0) item.annotations = annotations;
  }

  /** Delivers the text of the messages that waited for the end of the one before them. */
  #passOn(deliver: Deliver): void {
    while (this.#currentMessage?.done) {
      this.#hasSpoken ||= this.#currentMessage.text !== '';
      this.#completeMessages += 1;
      this.#currentMessage = this.#messages[this.#completeMessages];
      if (!this.#currentMessage?.text) continue;
      deliver({ type: 'text', text: (this.#hasSpoken ? textGap : '') + this.#currentMessage.text });
    }
  }

  #conclude(response: JsonObject, deliver: Deliver): void {
    if (typeof response.id === 'string') this.#id = response.id;
    if (isJsonObject(response.usage)) this.#usage = usageFrom(response.usage);
    if (response.status === 'failed') throw this.#fail(response.error ?? 'no explanation');
    this.#completeMissing(objects(response.output), deliver);
    this.#status = String(response.status ?? 'completed');
    const details = response.incomplete_details;
    this.#incomplete = isJsonObject(details) ? String(details.reason) : undefined;
  }

  /**
   * Some servers leave out the events of a stream: the response at its end has all items. Others name the items anew
   * there, or leave some out: those are matched by their place, else by their order among items of the same type.
   */
  #completeMissing(output: readonly JsonObject[], deliver: Deliver): void {
    const named = output.map(({ id }) => this.#byId.get(String(id)));
    const others = new ItemsByType(this.#items, new Set(named));
    for (const [index, wire] of output.entries()) {
      const known = named[index] ?? others.take(String(wire.type), this.#byIndex.get(index));
      if (known?.done) continue;
      this.#complete(known ?? this.#begin(index, wire), wire, deliver);
    }
    for (const message of this.#messages) message.done = true;
    this.#passOn(deliver);
  }

  /** Whether the answer ended in the middle of this call: with half of its arguments it must not reach a tool. */
  #isCutOff({ type, text, wire, done }: GrowingItem): boolean {
    if (type === 'reasoning' || this.#status === undefined || this.#status === 'completed') return false;
    return !done || wire.status === 'incomplete' || (type === 'function_call' && !isJson(text));
  }

  async #image(
    { wire, text: unfinished }: GrowingItem,
    contents: MediaContents,
  ): Promise<{ media: Media; block?: AnswerPiece } | undefined> {
    const { type = '', id = '', result } = wire;
    const data = typeof result === 'string' && result !== '' ? result : unfinished;
    if (data === '') return undefined;
    const bytes = Buffer.from(data, 'base64');
    const media = await storeMedia(contents, mimeTypeOf({ kind: 'image', id: '' }, bytes), bytes);
    if (data !== result) return { media };
    // the bytes are stored once: they are put into the item when it goes back
    return { media, block: { type: 'block', block: { type, id, hash: media.hash ?? '' } } };
  }

  #finish(called: boolean): Pick<ModelResponse, 'finishReason' | 'finishMessage'> {
    const stopped = (finishReason: FinishReason, finishMessage = this.#status) => ({
      finishReason,
      ...(finishMessage !== undefined && { finishMessage }),
    });
    if (this.#incomplete === 'content_filter') return stopped('content_filter', this.#incomplete);
    if (this.#refusal !== undefined) return stopped('refusal', this.#refusal);
    if (this.#incomplete === 'max_output_tokens') return stopped('length', this.#incomplete);
    if (called) return { finishReason: 'tool_calls' };
    if (this.#status === 'completed') return { finishReason: 'stop' };
    return stopped('other', this.#incomplete);
  }
}

/** Whether an item has this id; one without an id has none in common with another. */
function isNamed({ wire }: GrowingItem, id: Json | undefined): boolean {
  return typeof id === 'string' && id !== '' && wire.id === id;
}

/** Some servers send the text of a message, or the arguments of a call, not in the form that the API has for them. */
function partsOf(content: Json | undefined): readonly JsonObject[] {
  return typeof content === 'string' ? [{ text: content }] : objects(content);
}

function argumentsOf({ arguments: given }: JsonObject): string {
  return typeof given === 'string' ? given : JSON.stringify(given ?? '').replace(/^""$/, '');
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
