import { errors } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { EventStreamParser } from './event-stream.js';
import type { Model, ModelCallOptions, ModelChunk, ModelRequest, ModelResponse } from './model.js';
import { ModelError } from './model-error.js';
import { openAIRequestBody } from './openai-request.js';
import { OpenAIAnswer } from './openai-response.js';
import { callProvider, type ProviderAnswer, type ProviderCall, waitOrAbort } from './provider-call.js';
import { errorFromStream } from './provider-failure.js';

export interface OpenAICompatibleOptions {
  /** The provider's name for the model. */
  readonly id: string;
  /** Where `/chat/completions` is, e.g. `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Who serves it, as shown in listings and errors. */
  readonly provider?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest silence in the middle of an answer. Default two minutes. */
  readonly timeoutMs?: number;
  /** The longest wait for the first byte of an answer. Default five minutes. */
  readonly firstByteTimeoutMs?: number;
  /** How often a call that failed before its first byte is tried again. Default 2. */
  readonly retries?: number;
  /** Sent along with every request: `temperature`, `max_tokens`, `reasoning_effort` … */
  readonly parameters?: JsonObject;
  /** `prompted` for servers that do not know `response_format: json_schema`. */
  readonly structuredOutput?: 'native' | 'prompted';
  readonly fetch?: typeof fetch;
  /** How the pause before another try is waited for. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const longestAnswer = 64 * 1024 * 1024;

/** A model behind any server that speaks OpenAI's chat completions. */
export function openAICompatible(options: OpenAICompatibleOptions): Model {
  return new OpenAICompatibleModel(options);
}

class OpenAICompatibleModel implements Model {
  readonly id: string;
  readonly provider: string;
  readonly name = 'OpenAICompatible';
  readonly capabilities: Model['capabilities'];
  readonly #options: OpenAICompatibleOptions;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #secrets: readonly string[];

  constructor(options: OpenAICompatibleOptions) {
    const apiKey = options.apiKey?.trim();
    this.id = options.id;
    this.provider = options.provider ?? 'OpenAI-compatible server';
    this.capabilities = { structuredOutput: options.structuredOutput ?? 'native', tools: true };
    this.#options = options;
    this.#url = completionsUrl(options.baseUrl);
    this.#headers = {
      'content-type': 'application/json',
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : undefined),
      ...options.headers,
    };
    this.#secrets = [apiKey ?? '', ...Object.values(options.headers ?? {})].filter(
      (secret) => secret.length >= 6,
    );
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    const answer = await this.#call(request, options, false);
    try {
      const result = this.#completeAnswer(await answer.text(longestAnswer));
      answer.close({ complete: true });
      return result;
    } finally {
      answer.close();
    }
  }

  async *stream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelChunk> {
    const answer = await this.#call(request, options, true);
    try {
      if (/^(application\/json|text\/html)/i.test(answer.contentType)) {
        // The server ignores `stream`: what it sent is the whole answer.
        const response = this.#completeAnswer(await answer.text(longestAnswer));
        answer.close({ complete: true });
        if (response.reasoningContent) yield { type: 'reasoning', text: response.reasoningContent };
        if (response.content) yield { type: 'text', text: response.content };
        yield { type: 'response', response };
      } else {
        yield* this.#readStream(answer, options.signal);
      }
    } finally {
      answer.close();
    }
  }

  async *#readStream(answer: ProviderAnswer, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    const whole = new OpenAIAnswer();
    // One read may bring several events; they are handed on in order before the next read.
    let ready: ModelChunk[] = [];
    let done = false;
    const deliver = (chunk: ModelChunk) => void ready.push(chunk);
    const parser = new EventStreamParser((data, event) => {
      if (done) return;
      if (data === '[DONE]') done = true;
      else whole.accept(this.#chunk(data, event), deliver);
    });
    while (!done) {
      const bytes = await this.#nextBytes(answer, whole);
      let failure: unknown;
      try {
        if (bytes) parser.push(bytes);
        else parser.end();
      } catch (error) {
        failure = this.#protocolError(error);
      }
      if (ready.length > 0) {
        const chunks = ready;
        ready = [];
        for (const chunk of chunks) {
          signal.throwIfAborted();
          yield chunk;
        }
      }
      if (failure !== undefined) throw failure;
      if (!bytes) break;
    }
    if (!done && !whole.finished) {
      throw new ModelError(`${this.provider} ended the stream before the answer was complete.`, {
        provider: this.provider,
        kind: 'connection',
        retryable: true,
      });
    }
    // Before the last chunk, because a reader may leave with it: the connection is fit for the next call.
    answer.close({ complete: true });
    yield { type: 'response', response: whole.response() };
  }

  /** A connection that breaks after the answer was complete has broken nothing. */
  async #nextBytes(answer: ProviderAnswer, whole: OpenAIAnswer): Promise<Uint8Array | undefined> {
    try {
      return await answer.read();
    } catch (error) {
      if (whole.finished && error instanceof ModelError && error.kind !== 'refused') return undefined;
      throw error;
    }
  }

  async #call(request: ModelRequest, { signal }: ModelCallOptions, stream: boolean): Promise<ProviderAnswer> {
    signal.throwIfAborted();
    const body = await openAIRequestBody(
      request,
      {
        id: this.id,
        provider: this.provider,
        structuredOutput: this.capabilities.structuredOutput,
        parameters: this.#options.parameters ?? {},
      },
      stream,
    );
    const call: ProviderCall = {
      provider: this.provider,
      url: this.#url,
      headers: this.#headers,
      body,
      signal,
      firstByteTimeoutMs: this.#options.firstByteTimeoutMs ?? 300_000,
      timeoutMs: this.#options.timeoutMs ?? 120_000,
      retries: this.#options.retries ?? 2,
      fetch: this.#options.fetch ?? globalThis.fetch,
      wait: this.#options.wait ?? waitOrAbort,
      redact: this.#redact,
    };
    return callProvider(call);
  }

  #completeAnswer(text: string): ModelResponse {
    const answer = new OpenAIAnswer();
    try {
      const body = this.#chunk(text, '');
      if (!Array.isArray(body.choices) || body.choices.length === 0) {
        throw new Error(`an answer without choices: ${excerpt(text)}`);
      }
      answer.accept(body, () => {});
    } catch (error) {
      throw this.#protocolError(error);
    }
    return answer.response();
  }

  #chunk(text: string, event: string): JsonObject {
    let value: Json;
    try {
      value = JSON.parse(text) as Json;
    } catch {
      if (event === 'error') throw errorFromStream(this.provider, text, this.#redact);
      throw new Error(`something that is not JSON: ${excerpt(text)}`);
    }
    if (!isJsonObject(value)) throw new Error(`something that is not an object: ${excerpt(text)}`);
    if (value.error !== undefined && value.error !== null) {
      throw errorFromStream(this.provider, value.error, this.#redact);
    }
    if (event === 'error') throw errorFromStream(this.provider, value, this.#redact);
    return value;
  }

  #protocolError(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    const text = error instanceof Error ? error.message : String(error);
    return new ModelError(`${this.provider} sent ${this.#redact(text)}`, {
      provider: this.provider,
      kind: 'protocol',
    });
  }

  readonly #redact = (text: string): string => {
    let clean = text;
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, '***');
    return clean;
  };
}

function completionsUrl(baseUrl: string): string {
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
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  return url.href;
}

function excerpt(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
