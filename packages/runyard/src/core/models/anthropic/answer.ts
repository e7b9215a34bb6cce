import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Usage } from '../message.js';
import type { ModelChunk, ModelResponse } from '../model.js';
import { type AnswerPiece, type PieceOwner, responseParts } from '../provider/answer-pieces.js';
import type { GrowingAnswer } from '../provider/protocol.js';
import { count, usageOf } from '../provider/usage.js';

type Deliver = (chunk: ModelChunk) => void;

/** A block of the answer while its deltas arrive. */
interface GrowingBlock {
  readonly start: JsonObject;
  /** Text, thinking, or the JSON of a tool's input, as far as it has come. */
  text: string;
  signature: string;
}

/** Puts an answer together from the events of a stream, or from the one message of a call without streaming. */
export class AnthropicAnswer implements GrowingAnswer {
  ended = false;
  readonly #owner: PieceOwner;
  /** The tool whose input is the answer itself. */
  readonly #answerTool: string | undefined;
  readonly #blocks = new Map<number, GrowingBlock>();
  readonly #usage: Record<string, number> = {};
  #current: GrowingBlock | undefined;
  #stopReason: string | undefined;
  #refusal = '';
  #id: string | undefined;

  constructor(owner: PieceOwner, answerTool: string | undefined) {
    this.#owner = owner;
    this.#answerTool = answerTool;
  }

  get finished(): boolean {
    return this.#stopReason !== undefined;
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
        this.#count(event.usage);
        return undefined;
      case 'message_stop':
        this.ended = true;
        return undefined;
      case 'message':
        this.#message(event, deliver);
        return undefined;
      default:
        // `ping`, the end of a block, and whatever is added to the protocol.
        return undefined;
    }
  }

  addText(text: string, deliver: Deliver): void {
    if (this.#current) this.#current.text += text;
    deliver({ type: 'text', text });
  }

  response(): ModelResponse {
    const pieces = [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => this.#piece(block));
    if (this.#refusal !== '') pieces.push({ type: 'text', text: this.#refusal });
    const parts = responseParts(pieces, this.#owner, this.#id);
    return {
      ...parts,
      usage: this.#totalUsage(),
      finishReason: finishReason(this.#stopReason, parts.toolCalls.length > 0),
    };
  }

  #message(message: JsonObject, deliver: Deliver): void {
    if (typeof message.id === 'string') this.#id = message.id;
    this.#count(message.usage);
    if (Array.isArray(message.content)) {
      message.content.forEach((block, index) => {
        if (isJsonObject(block)) this.#begin(index, block, deliver);
      });
    }
    this.#stop(message, deliver);
  }

  #begin(index: number, start: JsonObject, deliver: Deliver): void {
    const block: GrowingBlock = { start, text: '', signature: '' };
    this.#blocks.set(index, block);
    if (typeof start.signature === 'string') block.signature = start.signature;
    // Usually empty here: the content follows in deltas.
    if (start.type === 'text') this.#grow(block, 'text', start.text, deliver);
    else if (start.type === 'thinking') this.#grow(block, 'reasoning', start.thinking, deliver);
    else if (isJsonObject(start.input) && Object.keys(start.input).length > 0) {
      this.#growInput(block, JSON.stringify(start.input), deliver);
    }
  }

  #delta(event: JsonObject, deliver: Deliver): string | undefined {
    const block = this.#blocks.get(Number(event.index));
    const delta = event.delta;
    if (!block || !isJsonObject(delta)) return undefined;
    switch (delta.type) {
      case 'text_delta':
        this.#grow(block, 'text', delta.text, deliver);
        this.#current = block;
        return typeof delta.text === 'string' && delta.text !== '' ? delta.text : undefined;
      case 'thinking_delta':
        this.#grow(block, 'reasoning', delta.thinking, deliver);
        return undefined;
      case 'signature_delta':
        if (typeof delta.signature === 'string') block.signature += delta.signature;
        return undefined;
      case 'input_json_delta':
        if (typeof delta.partial_json === 'string') this.#growInput(block, delta.partial_json, deliver);
        return undefined;
      default:
        return undefined;
    }
  }

  #grow(block: GrowingBlock, type: 'text' | 'reasoning', text: Json | undefined, deliver: Deliver): void {
    if (typeof text !== 'string' || text === '') return;
    block.text += text;
    deliver({ type, text });
  }

  #growInput(block: GrowingBlock, json: string, deliver: Deliver): void {
    block.text += json;
    if (this.#isAnswer(block) && json !== '') deliver({ type: 'text', text: json });
  }

  #isAnswer({ start }: GrowingBlock): boolean {
    return start.type === 'tool_use' && start.name === this.#answerTool;
  }

  #piece(block: GrowingBlock): AnswerPiece {
    const { start, text, signature } = block;
    if (start.type === 'text' || this.#isAnswer(block)) return { type: 'text', text };
    if (start.type === 'thinking') {
      return { type: 'reasoning', text, ...(signature !== '' && { data: { signature } }) };
    }
    if (start.type === 'tool_use') {
      return {
        type: 'call',
        call: { id: String(start.id), name: String(start.name), arguments: text || '{}' },
      };
    }
    return { type: 'block', block: text === '' ? start : { ...start, input: parsed(text) } };
  }

  #stop(message: JsonObject, deliver: Deliver): void {
    if (typeof message.stop_reason !== 'string') return;
    this.#stopReason = message.stop_reason;
    const explanation = isJsonObject(message.stop_details) ? message.stop_details.explanation : undefined;
    if (message.stop_reason !== 'refusal' || typeof explanation !== 'string') return;
    if ([...this.#blocks.values()].some(({ start, text }) => start.type === 'text' && text !== '')) return;
    this.#refusal = explanation;
    deliver({ type: 'text', text: explanation });
  }

  /** Counts are cumulative; proxies exist that send some only at the beginning and others only at the end. */
  #count(usage: Json | undefined): void {
    if (!isJsonObject(usage)) return;
    const details = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
    for (const [name, value] of Object.entries({ ...usage, thinking_tokens: details.thinking_tokens })) {
      this.#usage[name] = Math.max(this.#usage[name] ?? 0, count(value));
    }
  }

  #totalUsage(): Usage {
    const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: written = 0 } = this.#usage;
    return usageOf({
      // Anthropic counts cached tokens beside the input, not in it.
      inputTokens: (this.#usage.input_tokens ?? 0) + read + written,
      outputTokens: this.#usage.output_tokens ?? 0,
      cacheReadTokens: read,
      cacheWriteTokens: written,
      reasoningTokens: this.#usage.thinking_tokens ?? 0,
    });
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}

function finishReason(reason: string | undefined, called: boolean): ModelResponse['finishReason'] {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'content_filter';
    case 'end_turn':
    case 'stop_sequence':
    case 'tool_use':
      return called ? 'tool_calls' : 'stop';
    default:
      return called ? 'tool_calls' : 'other';
  }
}
