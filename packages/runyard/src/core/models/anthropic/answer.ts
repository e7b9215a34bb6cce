import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { FinishReason, ModelChunk, ModelResponse } from '../model.js';
import { type PieceOwner, responseParts, textGap } from '../provider/answer/answer-pieces.js';
import type { GrowingAnswer } from '../provider/protocol.js';
import { GrowingBlock } from './block.js';
import { citationsOf } from './citations.js';
import { MessageUsage } from './message-usage.js';

type Deliver = (chunk: ModelChunk) => void;

/**
 * Puts an answer together from the events of a stream, or from the one message of a call without streaming. An answer
 * that the provider pauses is one answer in several messages.
 */
export class AnthropicAnswer implements GrowingAnswer {
  ended = false;
  readonly #owner: PieceOwner;
  /** The tool whose input is the answer itself. */
  readonly #answerTool: string | undefined;
  readonly #blocks: GrowingBlock[] = [];
  readonly #usage = new MessageUsage();
  /** The blocks of the message that is being read, and those of a message before it in the same stream. */
  #open = new Map<number, GrowingBlock>();
  #repeated = new Map<number, GrowingBlock>();
  #current: GrowingBlock | undefined;
  /** Whether there is text, and whether something else came after it. */
  #spoken = false;
  #interrupted = false;
  #stopReason: string | undefined;
  #explanation = '';
  #refusal = '';
  #id: string | undefined;
  #container: string | undefined;

  constructor(owner: PieceOwner, answerTool: string | undefined, paused?: AnthropicAnswer) {
    this.#owner = owner;
    this.#answerTool = answerTool;
    if (paused === undefined) return;
    this.#blocks.push(...paused.#blocks);
    this.#usage.follow(paused.#usage);
    this.#spoken = paused.#spoken;
    this.#interrupted = paused.#interrupted;
    this.#container = paused.#container;
  }

  get finished(): boolean {
    return this.#stopReason !== undefined;
  }

  /** Calls are answered first, and the provider continues with their results. */
  get continuation(): (() => GrowingAnswer) | undefined {
    const paused = this.#stopReason === 'pause_turn' || this.#stopReason === 'compaction';
    if (!paused || this.#blocks.some(({ kind }) => kind === 'call')) return undefined;
    return () => new AnthropicAnswer(this.#owner, this.#answerTool, this);
  }

  accept(event: JsonObject, deliver: Deliver): string | undefined {
    switch (event.type) {
      case 'content_block_delta':
        return this.#delta(event, deliver);
      case 'content_block_start':
        if (isJsonObject(event.content_block)) this.#begin(Number(event.index), event.content_block, deliver);
        return undefined;
      case 'message_start':
        if (isJsonObject(event.message)) this.#message(event.message, deliver);
        return undefined;
      case 'message_delta':
        if (isJsonObject(event.delta)) this.#stop(event.delta, deliver);
        this.#usage.add(event.usage);
        return undefined;
      case 'message_stop':
        this.ended = true;
        return undefined;
      case 'message':
        this.#message(event, deliver);
        return undefined;
      default:
        // A whole message of a server that leaves the type out; else `ping`, the end of a block, and later additions.
        if (Array.isArray(event.content)) this.#message(event, deliver);
        return undefined;
    }
  }

  addText(text: string, deliver: Deliver): void {
    if (this.#current) this.#current.text += text;
    deliver({ type: 'text', text });
  }

  response(): ModelResponse {
    const pieces = this.#blocks.filter((block) => !this.#isCutOff(block)).map((block) => block.piece());
    if (this.#refusal !== '') pieces.push({ type: 'text', text: this.#refusal });
    const { providerData, ...parts } = responseParts(pieces, this.#owner, this.#id);
    const reason = finishReason(this.#stopReason, parts.toolCalls.length > 0);
    const finishMessage = this.#finishMessage(reason);
    return {
      ...parts,
      usage: this.#usage.total,
      finishReason: reason,
      ...(finishMessage !== undefined && { finishMessage }),
      ...citationsOf(pieces).part,
      ...(providerData && {
        providerData: { ...providerData, ...(this.#container && { container: this.#container }) },
      }),
    };
  }

  #message(message: JsonObject, deliver: Deliver): void {
    if (this.#open.size > 0) this.#repeated = this.#open;
    this.#open = new Map();
    this.#stopReason = undefined;
    if (typeof message.id === 'string') {
      if (this.#id !== undefined && message.id !== this.#id) this.#usage.follow(this.#usage);
      this.#id = message.id;
    }
    this.#usage.add(message.usage);
    if (Array.isArray(message.content)) {
      message.content.forEach((block, index) => {
        if (isJsonObject(block)) this.#begin(index, block, deliver);
      });
    }
    this.#stop(message, deliver);
  }

  #begin(index: number, start: JsonObject, deliver: Deliver): void {
    const earlier = this.#open.get(index) ?? this.#repeated.get(index);
    let block = new GrowingBlock(start, this.#answerTool);
    const shown = block.kind === 'text' || block.kind === 'reasoning';
    if (earlier && shown && earlier.kind === block.kind) block.echo = earlier;
    else if (earlier && !shown && earlier.restart(start)) block = earlier;
    else this.#keep(block);
    this.#open.set(index, block);
    // Usually empty here: the content follows in deltas.
    if (start.type === 'text') this.#grow(block, start.text, deliver);
    else if (start.type === 'thinking') this.#grow(block, start.thinking, deliver);
    else if (start.input !== undefined) {
      const { input } = start;
      const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
      block.complete = text !== '' && text !== '{}';
      if (block.complete) this.#grow(block, text, deliver);
    }
  }

  #keep(block: GrowingBlock): void {
    this.#blocks.push(block);
    if (block.kind !== 'text') this.#interrupted = this.#spoken;
  }

  #delta(event: JsonObject, deliver: Deliver): string | undefined {
    const block = this.#open.get(Number(event.index));
    const delta = event.delta;
    if (!block || !isJsonObject(delta)) return undefined;
    if (delta.type === 'text_delta' && block.kind === 'text') {
      if (typeof delta.text !== 'string' || delta.text === '') return undefined;
      this.#current = block;
      if (block.echo === undefined && block.text !== '') this.addText(delta.text, deliver);
      else this.#grow(block, delta.text, deliver);
      return block.echo === undefined ? delta.text : undefined;
    }
    if (delta.type === 'thinking_delta' && block.kind === 'reasoning') {
      this.#grow(block, delta.thinking, deliver);
    } else if (delta.type === 'input_json_delta') {
      if (!block.complete) this.#grow(block, delta.partial_json, deliver);
    } else {
      block.add(delta);
    }
    return undefined;
  }

  #grow(block: GrowingBlock, text: Json | undefined, deliver: Deliver): void {
    if (typeof text !== 'string' || text === '') return;
    block.text += text;
    if (block.kind !== 'text' && block.kind !== 'reasoning') return;
    const news = block.echo === undefined ? text : this.#beyond(block.echo, block);
    if (news === '') return;
    if (block.kind === 'text' && news.length === block.text.length) {
      block.gap = this.#interrupted;
      this.#interrupted = false;
      this.#spoken = true;
    }
    const first = block.gap && news.length === block.text.length;
    deliver({ type: block.kind, text: first ? textGap + news : news });
  }

  /** What a block says that an earlier message of the stream has not said: proxies exist that begin an answer anew. */
  #beyond(echo: GrowingBlock, block: GrowingBlock): string {
    if (echo.text.startsWith(block.text)) return '';
    block.echo = undefined;
    if (this.#blocks.at(-1) !== echo || !block.text.startsWith(echo.text)) {
      this.#keep(block);
      return block.text;
    }
    this.#blocks.splice(-1, 1, block);
    block.gap = echo.gap;
    return block.text.slice(echo.text.length);
  }

  #stop(message: JsonObject, deliver: Deliver): void {
    if (isJsonObject(message.container) && typeof message.container.id === 'string') {
      this.#container = message.container.id;
    }
    if (typeof message.stop_reason !== 'string') return;
    this.#stopReason = message.stop_reason;
    if (message.stop_reason !== 'refusal' || !isJsonObject(message.stop_details)) return;
    const { explanation, category } = message.stop_details;
    if (typeof category === 'string') this.#explanation = category;
    if (typeof explanation !== 'string') return;
    this.#explanation = explanation;
    if (this.#spoken || explanation === '') return;
    this.#refusal = explanation;
    deliver({ type: 'text', text: explanation });
  }

  /** Whether it is a call that must not be made: its input may be half of what the model meant. */
  #isCutOff(block: GrowingBlock): boolean {
    if (block.kind !== 'call') return false;
    const reason = finishReason(this.#stopReason, true);
    return reason === 'refusal' || (reason === 'length' && block === this.#blocks.at(-1));
  }

  #finishMessage(reason: FinishReason): string | undefined {
    if (reason === 'other') return this.#stopReason;
    if (reason === 'refusal') return this.#explanation || undefined;
    const cut = reason === 'length' ? this.#blocks.find((block) => this.#isCutOff(block)) : undefined;
    const limit = this.#stopReason === 'max_tokens' ? 'maxTokens' : 'The context window';
    return cut && `${limit} cut off the call of ${cut.name}: it was not made.`;
  }
}

function finishReason(reason: string | undefined, called: boolean): FinishReason {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'refusal';
    case 'end_turn':
    case 'stop_sequence':
    case 'tool_use':
      return called ? 'tool_calls' : 'stop';
    case 'pause_turn':
    case 'compaction':
      return called ? 'tool_calls' : 'other';
    default:
      return 'other';
  }
}
