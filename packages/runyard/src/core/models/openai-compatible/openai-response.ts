import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { MediaContents } from '../../media/media.js';
import type { Usage } from '../message.js';
import type { FinishReason, ModelChunk, ModelResponse } from '../model.js';
import type { ModelError } from '../model-error.js';
import {
  type AnswerPiece,
  type PieceOwner,
  responseParts,
  withoutCutCalls,
} from '../provider/answer/answer-pieces.js';
import { count, noUsage, usageOf } from '../provider/answer/usage.js';
import type { GrowingAnswer } from '../provider/protocol.js';
import { GrowingCalls } from './growing-calls.js';
import { GrowingReasoning } from './growing-reasoning.js';
import { MadeMedia } from './made-media.js';
import { Sources } from './sources.js';

type Deliver = (chunk: ModelChunk) => void;

export interface OpenAIAnswerOptions {
  readonly owner: PieceOwner;
  readonly fail: (error: Json) => ModelError;
  /** The format that sounds were asked for in. */
  readonly audioFormat: string;
}

/** Puts an answer together from the chunks of a stream, or from the one object of a call without streaming. */
export class OpenAIAnswer implements GrowingAnswer {
  /** The end is a line of its own in this protocol, which the reader of the stream sees. */
  readonly ended = false;
  readonly #options: OpenAIAnswerOptions;
  #content = '';
  #refusal = '';
  #isRefusalShown = false;
  #finishReason: string | undefined;
  #explanation: string | undefined;
  #usage: Usage = noUsage;
  #id: string | undefined;
  /** Which of several choices is read: the one that begins first. */
  #choice: number | undefined;
  begun = false;
  readonly #reasoning = new GrowingReasoning();
  // made by the first of them: most answers are text alone
  #calls: GrowingCalls | undefined;
  #sources: Sources | undefined;
  #media: MadeMedia | undefined;

  constructor(options: OpenAIAnswerOptions) {
    this.#options = options;
  }

  /** Whether the provider said that the answer is complete. */
  get finished(): boolean {
    return this.#finishReason !== undefined;
  }

  /**
   * Takes in one object of the wire and hands the text in it to `deliver`. Answers with the text if the object
   * held nothing else that matters.
   */
  accept(chunk: JsonObject, deliver: Deliver): string | undefined {
    if (this.#id === undefined && typeof chunk.id === 'string' && chunk.id !== '') this.#id = chunk.id;
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    const groq = isJsonObject(chunk.x_groq) ? chunk.x_groq : undefined;
    if (groq?.error) throw this.#options.fail(groq.error);
    const usage = chunk.usage ?? groq?.usage;
    if (isJsonObject(usage)) this.#usage = usageFrom(usage);
    if (chunk.search_results) this.#sourcesSoFar().list('search_results', chunk.search_results);
    if (chunk.citations) this.#sourcesSoFar().list('citations', chunk.citations);
    if (!isJsonObject(choice)) return undefined;
    this.begun = true;
    if (typeof choice.index === 'number') {
      this.#choice ??= choice.index;
      if (choice.index !== this.#choice) return undefined;
    }
    if (isJsonObject(choice.usage)) this.#usage = usageFrom(choice.usage);
    if (choice.error) throw this.#options.fail(choice.error);
    const { delta } = choice;
    const part = delta ?? choice.message;
    const onlyText = isJsonObject(part) ? this.#acceptPart(part, part !== delta, deliver) : undefined;
    if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') return onlyText;
    this.#finish(choice.finish_reason, choice);
    return undefined;
  }

  addText(text: string, deliver: Deliver): void {
    this.#content += text;
    deliver({ type: 'text', text });
  }

  response(contents: MediaContents): ModelResponse | Promise<ModelResponse> {
    const media = this.#media?.part(contents, this.#options.audioFormat);
    if (media === undefined) return this.#response();
    return media.then((part) => ({ ...this.#response(), ...part }));
  }

  #response(): ModelResponse {
    const all: AnswerPiece[] = [...this.#reasoning.pieces];
    if (this.#content !== '') all.push({ type: 'text', text: this.#content });
    if (this.#calls !== undefined) all.push(...this.#calls.pieces);
    const { pieces, cut } = withoutCutCalls(all, finishReasonOf(this.#finishReason, false));
    const parts = responseParts(pieces, this.#options.owner, this.#id);
    const finishReason = finishReasonOf(this.#finishReason, parts.toolCalls.length > 0);
    const finishMessage =
      this.#refusal ||
      this.#explanation ||
      cut ||
      (finishReason === 'other' ? this.#finishReason : undefined);
    // fields without a value are there, too: most answers have the same ones, and are read faster so
    return {
      content: parts.content,
      reasoningContent: parts.reasoningContent,
      toolCalls: parts.toolCalls,
      providerData: parts.providerData,
      usage: this.#usage,
      finishReason: this.#refusal === '' ? finishReason : 'refusal',
      finishMessage: finishMessage || undefined,
      citations: this.#sources?.part(this.#content).citations,
    };
  }

  #sourcesSoFar(): Sources {
    this.#sources ??= new Sources();
    return this.#sources;
  }

  #mediaSoFar(): MadeMedia {
    this.#media ??= new MadeMedia();
    return this.#media;
  }

  #acceptPart(part: JsonObject, isWhole: boolean, deliver: Deliver): string | undefined {
    const { content, refusal, audio, context } = part;
    if (typeof content === 'string' && content !== '' && isPlain(part)) {
      this.addText(content, deliver);
      return content;
    }
    this.#reason(this.#reasoning.accept(part, isWhole), deliver);
    if (isJsonObject(audio)) {
      this.#mediaSoFar().addAudio(audio.data);
      this.#say(audio.transcript, deliver);
    }
    if (Array.isArray(content)) for (const item of content) this.#acceptItem(item, deliver);
    else this.#say(content, deliver);
    if (typeof refusal === 'string') this.#refuse(refusal, deliver);
    for (const call of objectsIn(part.tool_calls)) {
      this.#calls ??= new GrowingCalls();
      this.#calls.accept(call, isWhole);
    }
    for (const image of objectsIn(part.images)) this.#mediaSoFar().addImage(image);
    for (const annotation of objectsIn(part.annotations)) this.#sourcesSoFar().annotate(annotation);
    if (isJsonObject(context)) this.#sourcesSoFar().list('context', context.citations);
    for (const [at, tool] of objectsIn(part.executed_tools).entries()) {
      const { index = at, search_results: found } = tool;
      this.#sourcesSoFar().list(
        `executed_tools ${String(index)}`,
        isJsonObject(found) ? found.results : found,
      );
    }
    return undefined;
  }

  /** Content comes in parts from Mistral, and from others that show more than text. */
  #acceptItem(item: Json, deliver: Deliver): void {
    if (!isJsonObject(item)) this.#say(item, deliver);
    else if (item.type === 'thinking') this.#reason(this.#reasoning.think(item), deliver);
    else if (item.type === 'reference') this.#sourcesSoFar().refer(item);
    else if (item.type === 'image_url') this.#mediaSoFar().addImage(item);
    else if (typeof item.refusal === 'string') this.#refuse(item.refusal, deliver);
    else this.#say(item.text, deliver);
  }

  #say(text: Json | undefined, deliver: Deliver): void {
    if (typeof text === 'string' && text !== '') this.addText(text, deliver);
  }

  #reason(text: string, deliver: Deliver): void {
    if (text !== '') deliver({ type: 'reasoning', text });
  }

  /** A refusal is shown where there is nothing else to show. */
  #refuse(text: string, deliver: Deliver): void {
    if (this.#refusal === '') this.#isRefusalShown = this.#content === '';
    if (this.#isRefusalShown) this.#say(text, deliver);
    this.#refusal += text;
  }

  #finish(reason: string, choice: JsonObject): void {
    if (reason === 'error') throw this.#options.fail('the model stopped with an error');
    this.#finishReason = reason;
    if (reason === 'content_filter') this.#explanation = filtersOf(choice);
  }
}

/** Whether a part holds text alone. Servers also send fields that they leave empty. */
function isPlain(part: JsonObject): boolean {
  return (
    isEmpty(part.reasoning_content) &&
    isEmpty(part.reasoning) &&
    isEmpty(part.reasoning_details) &&
    isEmpty(part.refusal) &&
    isEmpty(part.tool_calls) &&
    isEmpty(part.annotations) &&
    isEmpty(part.images) &&
    isEmpty(part.audio) &&
    isEmpty(part.context) &&
    isEmpty(part.executed_tools)
  );
}

function isEmpty(value: Json | undefined): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

const nothing: readonly JsonObject[] = [];

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : nothing;
}

/** Azure says which of its filters stopped an answer. */
function filtersOf({ content_filter_results: results }: JsonObject): string {
  return Object.entries(isJsonObject(results) ? results : {})
    .flatMap(([category, result]) => {
      if (!isJsonObject(result) || result.filtered !== true) return [];
      return typeof result.severity === 'string' ? `${category} (${result.severity})` : category;
    })
    .join(', ');
}

function finishReasonOf(reason: string | undefined, called: boolean): FinishReason {
  switch (reason?.toLowerCase()) {
    case 'length':
    case 'model_length':
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'content_filter':
    case 'sensitive':
    case 'safety':
      return 'content_filter';
    case 'tool_calls':
    case 'tool_use':
    case 'function_call':
    case 'stop':
    case 'stop_sequence':
    case 'eos':
    case 'eos_token':
    case 'end_turn':
    case 'complete':
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
  const reasoningTokens = count(output.reasoning_tokens ?? usage.reasoning_tokens);
  const written = count(usage.completion_tokens);
  const total = count(usage.total_tokens);
  const reasoningBeside =
    reasoningTokens > written || (reasoningTokens > 0 && total === inputTokens + written + reasoningTokens);
  return usageOf({
    inputTokens,
    outputTokens: reasoningBeside ? written + reasoningTokens : written,
    cacheReadTokens: count(input.cached_tokens ?? usage.cached_tokens ?? usage.prompt_cache_hit_tokens),
    cacheWriteTokens: count(input.cache_write_tokens),
    reasoningTokens,
    audioInputTokens: count(input.audio_tokens),
    audioOutputTokens: count(output.audio_tokens),
  });
}
