import { errors } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
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
import type { BodyOptions, GrowingAnswer, Protocol } from './protocol.js';
import { ProviderAnswer, type ProviderCall, retryDelay, waitOrAbort } from './provider-call.js';
import { errorFromStream } from './provider-failure.js';
import { redactor } from './redact.js';

/** How a provider is reached, the same for every adapter. */
export interface ConnectionOptions {
  /** Sent along with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest silence in the middle of an answer. Default two minutes. */
  readonly timeoutMs?: number;
  /** The longest wait for the first byte of an answer. Default five minutes. */
  readonly firstByteTimeoutMs?: number;
  /** How often a call is tried again that failed before any of its answer was used. Default 2. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
  /** How the pause before another try is waited for. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface ModelIdentity {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  readonly parameters?: JsonObject;
}

const longestAnswer = 64 * 1024 * 1024;

/** A model behind HTTP, whatever its protocol: retries, time-outs, streams, errors. */
export class ProviderModel implements Model {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  readonly parameters: JsonObject;
  readonly #protocol: Protocol;
  readonly #connection: ConnectionOptions;
  /** Takes secrets out of a text that came from outside. */
  readonly #redact: (text: string) => string;

  constructor(identity: ModelIdentity, protocol: Protocol, connection: ConnectionOptions) {
    this.id = identity.id;
    this.provider = identity.provider;
    this.name = identity.name;
    this.capabilities = identity.capabilities;
    this.parameters = identity.parameters ?? {};
    this.#protocol = protocol;
    this.#connection = connection;
    // without a `fetch` of the application
    if (connection.fetch === undefined && connection.wait === undefined) native(this);
    this.#redact = redactor([...protocol.secrets, ...Object.values(connection.headers ?? {})]);
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
          if (reader.failure !== undefined) throw this.#protocolError(reader.failure);
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
    const { firstByteTimeoutMs = 300_000, timeoutMs = 120_000, fetch = globalThis.fetch } = this.#connection;
    return {
      provider: this.provider,
      url: this.#protocol.url(body.stream),
      headers: {
        'content-type': 'application/json',
        ...this.#protocol.headers,
        ...this.#connection.headers,
      },
      body: await this.#protocol.body(request, body),
      signal,
      firstByteTimeoutMs,
      timeoutMs,
      fetch,
      redact: this.#redact,
    };
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
    const { retries = 2, wait = waitOrAbort } = this.#connection;
    const delay = retryDelay(error, attempt, retries);
    if (delay === undefined) throw error;
    await wait(delay, call.signal);
    call.signal.throwIfAborted();
    return call;
  }

  async #whole(answer: ProviderAnswer, request: ModelRequest): Promise<ModelResponse> {
    try {
      const text = await answer.text(longestAnswer);
      const growing = this.#protocol.answer(request, this.#fail);
      try {
        const body = this.#event(text, '');
        const lacking = this.#protocol.lacks(body);
        if (lacking !== undefined) throw new Error(`an answer without ${lacking}: ${this.#excerpt(text)}`);
        growing.accept(body, () => {});
      } catch (error) {
        throw this.#protocolError(error);
      }
      answer.close({ complete: true });
      return await growing.response(request.media);
    } finally {
      answer.close();
    }
  }

  #reader(request: ModelRequest): AnswerReader {
    return new AnswerReader({
      answer: this.#protocol.answer(request, this.#fail),
      parse: (data, event) => this.#event(data, event),
      textOpening: this.#protocol.textOpening,
    });
  }

  #event(text: string, event: string): JsonObject {
    let value: Json;
    try {
      value = JSON.parse(text) as Json;
    } catch {
      if (event === 'error') throw this.#fail(text);
      throw new Error(`something that is not JSON: ${this.#excerpt(text)}`);
    }
    // Google wraps an error in a list where a stream was asked for.
    if (Array.isArray(value) && isJsonObject(value[0]) && value[0].error) value = value[0];
    if (!isJsonObject(value)) throw new Error(`something that is not an object: ${this.#excerpt(text)}`);
    if (value.error !== undefined && value.error !== null) throw this.#fail(value.error);
    if (event === 'error' || value.type === 'error') throw this.#fail(value);
    return value;
  }

  #unfinished(): ModelError {
    return new ModelError(`${this.provider} ended the stream before the answer was complete.`, {
      provider: this.provider,
      kind: 'connection',
      retryable: true,
    });
  }

  /** Without secrets before it is cut: half of one would not be recognised. */
  #excerpt(text: string): string {
    const clean = this.#redact(text.slice(0, 10_000));
    return clean.length > 200 ? `${clean.slice(0, 200)}…` : clean;
  }

  #protocolError(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    const text = error instanceof Error ? error.message : String(error);
    return new ModelError(`${this.provider} sent ${this.#redact(text)}`, {
      provider: this.provider,
      kind: 'protocol',
    });
  }

  readonly #fail = (error: Json): ModelError => errorFromStream(this.provider, error, this.#redact);
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

/** The address of an endpoint below a base URL, whose query is kept. */
export function endpoint(
  baseUrl: string,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  if (!URL.canParse(baseUrl)) {
    throw errors.invalidConfig(
      `The base URL '${baseUrl}' of a model is not a URL. Give one such as http://127.0.0.1:8000/v1.`,
    );
  }
  const url = new URL(baseUrl);
  if (url.username || url.password) {
    throw errors.invalidConfig(
      `The base URL of a model at ${url.host} holds a user name or password. Give them in headers.`,
    );
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}
