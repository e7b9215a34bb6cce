import { untilAborted } from '../async/abort.js';
import { newCallId } from '../ids.js';
import type { JsonObject } from '../json.js';
import { checkOptions, checkValue } from '../options/check-options.js';
import {
  anyOf,
  callable,
  error,
  instanceOf,
  json,
  listOf,
  name,
  objectOf,
  promise,
  required,
  text,
  word,
} from '../options/kinds.js';
import type { Citations } from './citations.js';
import type { ToolCall, Usage } from './message.js';
import {
  finishReasons,
  type Model,
  type ModelCallOptions,
  type ModelChunk,
  type ModelRequest,
  type ModelResponse,
} from './model.js';
import { storeMedia } from './provider/answer/answer-media.js';

export interface ScriptedToolCall {
  readonly name: string;
  /** An object is written as JSON; a string goes out as it is, so that a test can send what is malformed. */
  readonly arguments?: JsonObject | string;
  readonly id?: string;
  /** Set for a call of one of the provider's own tools that the client has to answer. */
  readonly client?: ToolCall['client'];
}

/** A picture, a sound or a document that a scripted model makes. */
export interface ScriptedMedia {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** One answer of a scripted model. */
export interface ScriptedAnswer {
  readonly text?: string;
  /** How a stream cuts the text. A promise among the pieces holds the stream until it is settled. */
  readonly chunks?: readonly (string | Promise<unknown>)[];
  readonly reasoning?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  readonly usage?: Partial<Usage>;
  readonly finishReason?: ModelResponse['finishReason'];
  readonly finishMessage?: string;
  readonly citations?: Citations;
  readonly media?: readonly ScriptedMedia[];
  readonly providerData?: JsonObject;
  /** Thrown after the text has been streamed. */
  readonly error?: Error | string;
  /** Holds the whole answer until it is settled. A function is given the signal of the call. */
  readonly waitFor?: Promise<unknown> | ((signal: AbortSignal) => Promise<unknown>);
}

export type ScriptedTurn =
  | string
  | ScriptedAnswer
  | ((request: ModelRequest, call: number) => string | ScriptedAnswer | Promise<string | ScriptedAnswer>);

export interface ScriptedModel extends Model {
  /** What the model was asked so far, in order. */
  readonly requests: readonly ModelRequest[];
}

export interface ScriptedModelOptions {
  readonly id?: string;
  readonly provider?: string;
  readonly structuredOutput?: 'native' | 'prompted';
}

const toolCall = objectOf<ScriptedToolCall>({
  name: required(text),
  arguments: anyOf(json, text),
  id: text,
  client: word('execution', 'confirmation'),
});

const media = objectOf<ScriptedMedia>({
  mimeType: required(name),
  bytes: required(instanceOf(Uint8Array, 'a Uint8Array')),
});

const answerKind = {
  ...anyOf(
    text,
    objectOf<ScriptedAnswer>({
      text,
      chunks: listOf(anyOf(text, promise)),
      reasoning: text,
      toolCalls: listOf(toolCall),
      usage: json,
      finishReason: word(...finishReasons),
      finishMessage: text,
      citations: json,
      media: listOf(media),
      providerData: json,
      error: anyOf(error, text),
      waitFor: anyOf(promise, callable),
    }),
  ),
  allowed: 'a text or an object',
};

const scriptKind = {
  ...anyOf(callable, listOf(anyOf(callable, answerKind))),
  allowed: 'a list of answers, or a function',
};

const scriptedModelOptions = objectOf<ScriptedModelOptions>({
  id: name,
  provider: name,
  structuredOutput: word('native', 'prompted'),
});

/**
 * A model for tests: it answers each call with the next turn of the script, or every call with the one function
 * given instead of a list.
 */
export function scriptedModel(
  script: readonly ScriptedTurn[] | Extract<ScriptedTurn, (...args: never[]) => unknown>,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  checkValue('scriptedModel()', 'the script', script, scriptKind);
  checkOptions('scriptedModel()', options, scriptedModelOptions);
  const requests: ModelRequest[] = [];
  const next = async (request: ModelRequest, signal: AbortSignal): Promise<ScriptedAnswer> => {
    signal.throwIfAborted();
    // The caller may change its list of messages later; the record shows it as it was.
    requests.push({ ...request, messages: [...request.messages], tools: [...request.tools] });
    const turn = typeof script === 'function' ? script : script[requests.length - 1];
    if (turn === undefined) throw scriptEnded(script.length, request);
    const answer =
      typeof turn === 'function' ? await untilAborted(turn(request, requests.length - 1), signal) : turn;
    if (typeof turn === 'function') checkValue('scriptedModel()', 'the answer', answer, answerKind);
    return typeof answer === 'string' ? { text: answer } : answer;
  };
  return {
    id: options.id ?? 'scripted',
    provider: options.provider ?? 'Runyard',
    name: 'Scripted',
    capabilities: { structuredOutput: options.structuredOutput ?? 'native', tools: true },
    requests,
    async generate(request, { signal }) {
      for await (const chunk of play(await next(request, signal), request, signal))
        if (chunk.type === 'response') return chunk.response;
      throw new Error('The script has no answer.');
    },
    async *stream(request: ModelRequest, { signal }: ModelCallOptions) {
      yield* play(await next(request, signal), request, signal);
    },
  };
}

async function* play(
  answer: ScriptedAnswer,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk> {
  const { waitFor, reasoning, error } = answer;
  if (waitFor) await untilAborted(typeof waitFor === 'function' ? waitFor(signal) : waitFor, signal);
  if (reasoning) yield { type: 'reasoning', text: reasoning };
  let content = '';
  for (const piece of answer.chunks ?? answer.text?.match(/\S+\s*|^\s+/g) ?? []) {
    signal.throwIfAborted();
    if (typeof piece !== 'string') {
      await untilAborted(piece, signal);
      continue;
    }
    content += piece;
    yield { type: 'text', text: piece };
  }
  signal.throwIfAborted();
  if (error !== undefined) throw typeof error === 'string' ? new Error(error) : error;
  const made = (answer.media ?? []).map(({ mimeType, bytes }) => storeMedia(request.media, mimeType, bytes));
  const response = responseOf(answer, answer.text ?? content);
  const media = await Promise.all(made);
  yield { type: 'response', response: media.length === 0 ? response : { ...response, media } };
}

function responseOf(answer: ScriptedAnswer, content: string): ModelResponse {
  const toolCalls = (answer.toolCalls ?? []).map((call) => ({
    id: call.id ?? newCallId(),
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
    ...(call.client !== undefined && { client: call.client }),
  }));
  const { inputTokens = 10, outputTokens = 5, ...rest } = answer.usage ?? {};
  return {
    content,
    ...(answer.reasoning ? { reasoningContent: answer.reasoning } : undefined),
    toolCalls,
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, ...rest },
    finishReason: answer.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    ...(answer.finishMessage !== undefined && { finishMessage: answer.finishMessage }),
    ...(answer.citations !== undefined && { citations: answer.citations }),
    ...(answer.providerData ? { providerData: answer.providerData } : undefined),
  };
}

function scriptEnded(turns: number, request: ModelRequest): Error {
  const last = request.messages.at(-1);
  const seen = last
    ? ` The last message was from ${last.role}: ${JSON.stringify(last.content.slice(0, 200))}.`
    : '';
  return new Error(
    `The scripted model has ${turns} turn(s) and was called once more. Add a turn to its script.${seen}`,
  );
}
