import type { Abortable } from '../../async/abort.js';
import { isPromise } from '../../async/promises.js';
import type { JsonObject } from '../../json.js';
import { native } from '../../native-code.js';
import type { Message } from '../message.js';
import type {
  Model,
  ModelCallOptions,
  ModelCapabilities,
  ModelChunk,
  ModelRequest,
  ModelResponse,
} from '../model.js';
import { ModelError } from '../model-error.js';
import { stopOf } from '../step-call-options.js';
import { AnswerReader } from './answer/answer-reader.js';
import type { ConnectionOptions } from './call/connection-options.js';
import { ProviderAnswer, type ProviderCall } from './call/provider-call.js';
import { ProviderClient } from './call/provider-client.js';
import type { BodyOptions, GrowingAnswer, Protocol } from './protocol.js';

export interface ModelIdentity {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  readonly parameters?: JsonObject;
}

/** A provider that pauses more often than this is not let continue: the caller gets what there is. */
const mostContinuations = 10;

/** One request and the answer to it, with how often it was tried and how often the provider has paused. */
interface Exchange {
  readonly request: ModelRequest;
  readonly call: ProviderCall;
  readonly body: BodyOptions;
  readonly begin: () => GrowingAnswer;
  readonly attempt: number;
  readonly continuations: number;
  readonly options: ModelCallOptions;
}

interface Settled {
  readonly response: ModelResponse;
  readonly next?: Exchange | undefined;
}

/** A whole answer is read at once, at its end. */
const unheard = () => {};

/** A model behind HTTP, whatever its protocol: retries, time-outs, streams, errors. */
export class ProviderModel implements Model {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  readonly parameters: JsonObject;
  readonly #protocol: Protocol;
  readonly #client: ProviderClient;

  constructor(identity: ModelIdentity, protocol: Protocol, connection: ConnectionOptions) {
    this.id = identity.id;
    this.provider = identity.provider;
    this.name = identity.name;
    this.capabilities = identity.capabilities;
    this.parameters = identity.parameters ?? {};
    this.#protocol = protocol;
    this.#client = new ProviderClient({ provider: this.provider, ...protocol }, connection);
    // without a `fetch` of the application
    if (connection.fetch === undefined && connection.wait === undefined) native(this);
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    const begun = this.#exchange(request, options, false);
    let exchange = isPromise(begun) ? await begun : begun;
    for (;;) {
      try {
        const answer = await this.#whole(exchange, await ProviderAnswer.open(exchange.call));
        const settled = this.#settle(exchange, answer);
        const { response, next } = isPromise(settled) ? await settled : settled;
        if (next === undefined) return response;
        exchange = next;
      } catch (error) {
        exchange = await this.#nextTry(exchange, error);
      }
    }
  }

  /** One generator, not one inside another: the hop between two of them costs as much as a token itself. */
  async *stream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelChunk> {
    const stop = stopOf(options);
    const begun = this.#exchange(request, options, true);
    let exchange = isPromise(begun) ? await begun : begun;
    for (;;) {
      let answer: ProviderAnswer | undefined;
      let delivered = false;
      try {
        answer = await ProviderAnswer.open(exchange.call);
        let growing: GrowingAnswer;
        const ignoresStream = /^(application\/json|text\/html)/i.test(answer.contentType);
        if (ignoresStream) {
          // What it sent is the whole answer.
          growing = await this.#whole(exchange, answer);
        } else {
          const reader = this.#reader(exchange);
          growing = reader.answer;
          while (!reader.done) {
            const arriving = answer.read();
            const bytes = isPromise(arriving) ? await unlessFinished(arriving, growing) : arriving;
            for (const chunk of reader.take(bytes)) {
              stop.throwIfAborted();
              delivered = true;
              yield chunk;
            }
            if (reader.failure !== undefined) throw this.#client.protocolError(reader.failure);
          }
          if (!reader.complete) throw this.#unfinished(reader.strays);
        }
        // Before the last chunk, because a reader may leave with it: the connection is fit for the next call.
        answer.close({ complete: true });
        const settled = this.#settle(exchange, growing);
        const { response, next } = isPromise(settled) ? await settled : settled;
        delivered = true;
        if (ignoresStream) yield* chunksOf(response, exchange.body.paused);
        if (next === undefined) {
          yield { type: 'response', response };
          return;
        }
        exchange = next;
      } catch (error) {
        answer?.close();
        if (delivered) throw error;
        exchange = await this.#nextTry(exchange, error);
      } finally {
        answer?.close();
      }
    }
  }

  #exchange(request: ModelRequest, options: ModelCallOptions, stream: boolean): Exchange | Promise<Exchange> {
    const begin = () => this.#protocol.answer(request, this.#client.fail);
    const body: BodyOptions = { stream, unsigned: false };
    const exchange = (call: ProviderCall): Exchange => ({
      request,
      call,
      body,
      begin,
      options,
      attempt: 0,
      continuations: 0,
    });
    const call = this.#call(request, stopOf(options), body);
    return isPromise(call) ? call.then(exchange) : exchange(call);
  }

  #call(request: ModelRequest, signal: Abortable, body: BodyOptions): ProviderCall | Promise<ProviderCall> {
    signal.throwIfAborted();
    const call = (text: string) =>
      this.#client.call(this.#protocol.url(body.stream), text, signal, body.stream);
    const text = this.#protocol.body(request, body);
    return isPromise(text) ? text.then(call) : call(text);
  }

  /** The response, and what to send if the provider paused before its end. */
  #settle(exchange: Exchange, answer: GrowingAnswer): Settled | Promise<Settled> {
    const response = answer.response(exchange.request.media);
    if (isPromise(response) || answer.continuation !== undefined)
      return this.#settleInTurn(exchange, answer, response);
    return { response, next: undefined };
  }

  async #settleInTurn(
    exchange: Exchange,
    answer: GrowingAnswer,
    made: ModelResponse | Promise<ModelResponse>,
  ): Promise<Settled> {
    const { request, continuations, options } = exchange;
    const response = await made;
    const begin = answer.continuation;
    if (begin === undefined) return { response };
    if (continuations === mostContinuations) {
      const finishMessage = `${this.provider} paused the answer more than ${mostContinuations} times.`;
      return { response: { ...response, finishReason: 'other', finishMessage } };
    }
    const body = { ...exchange.body, paused: messageOf(response) };
    const call = await this.#call(request, exchange.call.signal, body);
    return {
      response,
      next: { request, call, body, begin, options, attempt: 0, continuations: continuations + 1 },
    };
  }

  /** What to send after a failure, when it is time to; throws the error if another try makes no sense. */
  async #nextTry(exchange: Exchange, error: unknown): Promise<Exchange> {
    const { call, request, attempt, options: given } = exchange;
    if (refusesSignatures(error)) {
      const options = { ...exchange.body, unsigned: true };
      const body = await this.#protocol.body(request, options);
      if (body !== call.body) return { ...exchange, call: { ...call, body }, body: options };
    }
    given.failedTry?.(error);
    await this.#client.pause(error, attempt, given.signal);
    return { ...exchange, attempt: attempt + 1 };
  }

  #whole({ begin }: Exchange, opened: ProviderAnswer): Promise<GrowingAnswer> {
    return this.#client.whole(opened, (body, text) => {
      const lacking = this.#protocol.lacks(body);
      if (lacking !== undefined)
        throw new Error(`an answer without ${lacking}: ${this.#client.excerpt(text)}`);
      const whole = begin();
      whole.accept(body, unheard);
      return whole;
    });
  }

  #reader({ begin }: Exchange): AnswerReader {
    return new AnswerReader({
      answer: begin(),
      parse: (data, event) => this.#client.object(data, event),
      textOpening: this.#protocol.textOpening,
    });
  }

  #unfinished(strays: string): ModelError {
    try {
      this.#client.object(strays);
    } catch (error) {
      if (error instanceof ModelError) return error;
    }
    return new ModelError(`${this.provider} ended the stream before the answer was complete.`, {
      provider: this.provider,
      kind: 'connection',
      retryable: true,
    });
  }
}

function messageOf({ content, reasoningContent, toolCalls, providerData }: ModelResponse): Message {
  return {
    id: 'paused',
    role: 'assistant',
    content,
    createdAt: 0,
    toolCalls,
    ...(reasoningContent !== undefined && { reasoningContent }),
    ...(providerData !== undefined && { providerData }),
  };
}

/** The whole of a response as chunks, without what was said before the pause. */
function* chunksOf(response: ModelResponse, before: Message | undefined): Generator<ModelChunk> {
  const reasoning = response.reasoningContent?.slice(before?.reasoningContent?.length ?? 0);
  const text = response.content.slice(before?.content.length ?? 0);
  if (reasoning) yield { type: 'reasoning', text: reasoning };
  if (text) yield { type: 'text', text };
}

/** A connection that breaks after the answer was complete has broken nothing. */
async function unlessFinished(
  arriving: Promise<Uint8Array | undefined>,
  growing: GrowingAnswer,
): Promise<Uint8Array | undefined> {
  try {
    return await arriving;
  } catch (error) {
    if (growing.finished && error instanceof ModelError && error.kind !== 'refused') return undefined;
    throw error;
  }
}

/**
 * Signatures are bound to a model, an account, and with some providers to the conversation before them, which
 * may have been shortened. After such a refusal the call is made without them.
 */
function refusesSignatures(error: unknown): boolean {
  return (
    error instanceof ModelError &&
    (error.status === 400 || error.status === 404) &&
    /signature|thinking. blocks?|encrypted.content|items are not persisted/i.test(error.message)
  );
}
