import type { JsonObject } from '../../json.js';
import { native } from '../../native-code.js';
import type {
  Model,
  ModelCallOptions,
  ModelCapabilities,
  ModelChunk,
  ModelRequest,
  ModelResponse,
} from '../model.js';
import { ModelError } from '../model-error.js';
import { AnswerReader } from './answer-reader.js';
import type { ConnectionOptions } from './connection-options.js';
import type { BodyOptions, GrowingAnswer, Protocol } from './protocol.js';
import { ProviderAnswer, type ProviderCall } from './provider-call.js';
import { ProviderClient } from './provider-client.js';

export interface ModelIdentity {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  readonly parameters?: JsonObject;
}

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
    let call = await this.#call(request, options, { stream: false, unsigned: false });
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#whole(await ProviderAnswer.open(call), request);
      } catch (error) {
        call = await this.#nextTry(call, error, attempt, request, false);
      }
    }
  }

  /** One generator, not one inside another: the hop between two of them costs as much as a token itself. */
  async *stream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelChunk> {
    let call = await this.#call(request, options, { stream: true, unsigned: false });
    for (let attempt = 0; ; attempt += 1) {
      let answer: ProviderAnswer | undefined;
      let delivered = false;
      try {
        answer = await ProviderAnswer.open(call);
        if (/^(application\/json|text\/html)/i.test(answer.contentType)) {
          // The server ignores `stream`: what it sent is the whole answer.
          const response = await this.#whole(answer, request);
          delivered = true;
          if (response.reasoningContent) yield { type: 'reasoning', text: response.reasoningContent };
          if (response.content) yield { type: 'text', text: response.content };
          yield { type: 'response', response };
          return;
        }
        const reader = this.#reader(request);
        while (!reader.done) {
          const bytes = await nextBytes(answer, reader.answer);
          for (const chunk of reader.take(bytes)) {
            options.signal.throwIfAborted();
            delivered = true;
            yield chunk;
          }
          if (reader.failure !== undefined) throw this.#client.protocolError(reader.failure);
        }
        if (!reader.complete) throw this.#unfinished();
        // Before the last chunk, because a reader may leave with it: the connection is fit for the next call.
        answer.close({ complete: true });
        const response = await reader.answer.response(request.media);
        delivered = true;
        yield { type: 'response', response };
        return;
      } catch (error) {
        answer?.close();
        if (delivered) throw error;
        call = await this.#nextTry(call, error, attempt, request, true);
      } finally {
        answer?.close();
      }
    }
  }

  async #call(request: ModelRequest, { signal }: ModelCallOptions, body: BodyOptions): Promise<ProviderCall> {
    signal.throwIfAborted();
    return this.#client.call(
      this.#protocol.url(body.stream),
      await this.#protocol.body(request, body),
      signal,
    );
  }

  /** What to send after a failure, when it is time to; throws the error if another try makes no sense. */
  async #nextTry(
    call: ProviderCall,
    error: unknown,
    attempt: number,
    request: ModelRequest,
    stream: boolean,
  ): Promise<ProviderCall> {
    if (refusesSignatures(error)) {
      const body = await this.#protocol.body(request, { stream, unsigned: true });
      if (body !== call.body) return { ...call, body };
    }
    await this.#client.pause(error, attempt, call.signal);
    return call;
  }

  async #whole(answer: ProviderAnswer, request: ModelRequest): Promise<ModelResponse> {
    const growing = await this.#client.whole(answer, (body, text) => {
      const lacking = this.#protocol.lacks(body);
      if (lacking !== undefined)
        throw new Error(`an answer without ${lacking}: ${this.#client.excerpt(text)}`);
      const whole = this.#protocol.answer(request, this.#client.fail);
      whole.accept(body, () => {});
      return whole;
    });
    return growing.response(request.media);
  }

  #reader(request: ModelRequest): AnswerReader {
    return new AnswerReader({
      answer: this.#protocol.answer(request, this.#client.fail),
      parse: (data, event) => this.#client.object(data, event),
      textOpening: this.#protocol.textOpening,
    });
  }

  #unfinished(): ModelError {
    return new ModelError(`${this.provider} ended the stream before the answer was complete.`, {
      provider: this.provider,
      kind: 'connection',
      retryable: true,
    });
  }
}

/** A connection that breaks after the answer was complete has broken nothing. */
async function nextBytes(answer: ProviderAnswer, growing: GrowingAnswer): Promise<Uint8Array | undefined> {
  try {
    return await answer.read();
  } catch (error) {
    if (growing.finished && error instanceof ModelError && error.kind !== 'refused') return undefined;
    throw error;
  }
}

/**
 * Signatures are bound to a model, an account, and with some providers to the conversation before them, which
 * may have been shortened. The answer to such a refusal is to go on without them.
 */
function refusesSignatures(error: unknown): boolean {
  return (
    error instanceof ModelError &&
    (error.status === 400 || error.status === 404) &&
    /signature|thinking. blocks?|encrypted.content|items are not persisted/i.test(error.message)
  );
}
