import { newId } from '../../ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ToolCall, Usage } from '../message.js';
import type { ModelChunk, ModelResponse } from '../model.js';
import type { GrowingAnswer } from '../provider/protocol.js';
import { count, noUsage, usageOf } from '../provider/usage.js';

/** A tool call while its fragments arrive. */
interface GrowingCall {
  id: string;
  name: string;
  arguments: string;
}

/** Puts an answer together from the chunks of a stream, or from the one object of a call without streaming. */
export class OpenAIAnswer implements GrowingAnswer {
  /** The end is a line of its own in this protocol, which the reader of the stream sees. */
  readonly ended = false;
  #content = '';
  #reasoning = '';
  #refusal = '';
  #finishReason: string | undefined;
  #usage: Usage = noUsage;
  #id: string | undefined;
  readonly #calls: GrowingCall[] = [];
  readonly #callByIndex = new Map<number, GrowingCall>();

  /** Whether the provider said that the answer is complete. */
  get finished(): boolean {
    return this.#finishReason !== undefined;
  }

  /**
   * Takes in one object of the wire and hands the text in it to `deliver`. Answers with the text if the object
   * held nothing else that matters.
   */
  accept(chunk: JsonObject, deliver: (chunk: ModelChunk) => void): string | undefined {
    if (this.#id === undefined && typeof chunk.id === 'string' && chunk.id !== '') this.#id = chunk.id;
    const usage = chunk.usage ?? (isJsonObject(chunk.x_groq) ? chunk.x_groq.usage : undefined);
    if (isJsonObject(usage)) this.#usage = usageFrom(usage);
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isJsonObject(choice)) return undefined;
    const part = choice.delta ?? choice.message;
    const onlyText = isJsonObject(part) ? this.#acceptPart(part, deliver) : undefined;
    if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') return onlyText;
    this.#finishReason = choice.finish_reason;
    return undefined;
  }

  addText(text: string, deliver: (chunk: ModelChunk) => void): void {
    this.#content += text;
    deliver({ type: 'text', text });
  }

  response(): ModelResponse {
    const toolCalls = this.#calls.filter((call) => call.name !== '').map(finishedCall);
    return {
      content: this.#content || this.#refusal,
      ...(this.#reasoning === '' ? undefined : { reasoningContent: this.#reasoning }),
      toolCalls,
      usage: this.#usage,
      finishReason:
        this.#refusal === '' ? finishReason(this.#finishReason, toolCalls.length > 0) : 'content_filter',
      ...(this.#id === undefined ? undefined : { providerData: { id: this.#id } }),
    };
  }

  #acceptPart(part: JsonObject, deliver: (chunk: ModelChunk) => void): string | undefined {
    let onlyText = true;
    const reasoning = part.reasoning_content ?? part.reasoning;
    if (typeof reasoning === 'string' && reasoning !== '') {
      onlyText = false;
      this.#reasoning += reasoning;
      deliver({ type: 'reasoning', text: reasoning });
    }
    const text = typeof part.content === 'string' ? part.content : textOfParts(part.content);
    if (text !== '') this.addText(text, deliver);
    if (typeof part.refusal === 'string' && part.refusal !== '') {
      onlyText = false;
      this.#refusal += part.refusal;
      deliver({ type: 'text', text: part.refusal });
    }
    if (Array.isArray(part.tool_calls)) {
      onlyText = false;
      for (const fragment of part.tool_calls) if (isJsonObject(fragment)) this.#acceptFragment(fragment);
    }
    return onlyText && text !== '' ? text : undefined;
  }

  #acceptFragment(fragment: JsonObject): void {
    const called = isJsonObject(fragment.function) ? fragment.function : {};
    const id = typeof fragment.id === 'string' ? fragment.id : '';
    const name = typeof called.name === 'string' ? called.name : '';
    const call = this.#callFor(fragment.index, id, name);
    if (call.id === '') call.id = id;
    if (call.name === '') call.name = name;
    if (typeof called.arguments === 'string') call.arguments += called.arguments;
    else if (isJsonObject(called.arguments)) call.arguments = JSON.stringify(called.arguments);
  }

  /**
   * Which call a fragment belongs to. The index decides where there is one, but servers exist that leave it out,
   * and others that number every call 0: there a new id, or a name after complete arguments, begins a new call.
   */
  #callFor(index: Json | undefined, id: string, name: string): GrowingCall {
    const numbered = typeof index === 'number';
    const sameId = id === '' || numbered ? undefined : this.#calls.find((call) => call.id === id);
    const current = numbered ? this.#callByIndex.get(index) : (sameId ?? this.#calls.at(-1));
    if (current && !beginsAnother(current, id, name)) return current;
    const begun: GrowingCall = { id: '', name: '', arguments: '' };
    this.#calls.push(begun);
    if (numbered) this.#callByIndex.set(index, begun);
    return begun;
  }
}

function beginsAnother(current: GrowingCall, id: string, name: string): boolean {
  if (id !== '' && current.id !== '') return id !== current.id;
  return name !== '' && current.name !== '' && isComplete(current.arguments);
}

function isComplete(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function finishedCall(call: GrowingCall): ToolCall {
  return { id: call.id || `call_${newId()}`, name: call.name, arguments: call.arguments };
}

/** Content in parts, as some servers send it. */
function textOfParts(content: Json | undefined): string {
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

function finishReason(reason: string | undefined, called: boolean): ModelResponse['finishReason'] {
  switch (reason) {
    case 'length':
    case 'content_filter':
      return reason;
    case 'tool_calls':
    case 'function_call':
      return called ? 'tool_calls' : 'stop';
    case 'stop':
    case undefined:
      return called ? 'tool_calls' : 'stop';
    default:
      return called ? 'tool_calls' : 'other';
  }
}

/** Cached and reasoning tokens are parts of the totals here, also where a provider counts them beside. */
function usageFrom(usage: JsonObject): Usage {
  const input = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isJsonObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const inputTokens = count(usage.prompt_tokens);
  const reasoningTokens = count(output.reasoning_tokens);
  const written = count(usage.completion_tokens);
  const total = count(usage.total_tokens);
  const reasoningBeside = reasoningTokens > 0 && total === inputTokens + written + reasoningTokens;
  return usageOf({
    inputTokens,
    outputTokens: reasoningBeside ? written + reasoningTokens : written,
    cacheReadTokens: count(input.cached_tokens ?? usage.prompt_cache_hit_tokens),
    cacheWriteTokens: count(input.cache_write_tokens),
    reasoningTokens,
    audioInputTokens: count(input.audio_tokens),
    audioOutputTokens: count(output.audio_tokens),
  });
}
