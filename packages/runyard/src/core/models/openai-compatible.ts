import { errors } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { EventStreamParser } from './event-stream.js';
import type { Model, ModelCallOptions, ModelChunk, ModelRequest, ModelResponse } from './model.js';
import { ModelError } from './model-error.js';
import { openAIRequestBody } from './openai-request.js';
import { OpenAIAnswer } from './openai-response.js';
import { callProvider, type ProviderAnswer, type ProviderCall, waitOrAbort } from './provider-call.js';
import { errorFromStream } from './provider-failure.js';
import { RepeatedDelta } from './repeated-delta.js';

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

  /** One generator, not one inside another: the hop between two of them costs as much as a token itself. */
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
        return;
      }
      const reader = new StreamReader((data, event) => this.#chunk(data, event));
      while (!reader.done) {
        const bytes = await this.#nextBytes(answer, reader.whole);
        for (const chunk of reader.take(bytes)) {
          options.signal.throwIfAborted();
          yield chunk;
        }
        if (reader.failure !== undefined) throw this.#protocolError(reader.failure);
      }
      if (!reader.complete) throw this.#unfinished();
      // Before the last chunk, because a reader may leave with it: the connection is fit for the next call.
      answer.close({ complete: true });
      yield { type: 'response', response: reader.whole.response() };
    } finally {
      answer.close();
    }
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

  #unfinished(): ModelError {
    return new ModelError(`${this.provider} ended the stream before the answer was complete.`, {
      provider: this.provider,
      kind: 'connection',
      retryable: true,
    });
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

/** Turns the bytes of a stream into chunks, as many as each read completes. */
class StreamReader {
  readonly whole = new OpenAIAnswer();
  /** What made the stream unreadable, after the chunks that came before it. */
  failure: unknown;
  /** There is nothing more to read. */
  done = false;
  #sawDone = false;
  #ready: ModelChunk[] = [];
  readonly #repeated = new RepeatedDelta();
  readonly #parse: (data: string, event: string) => JsonObject;
  readonly #parser = new EventStreamParser((data, event) => this.#accept(data, event));
  readonly #deliver = (chunk: ModelChunk) => void this.#ready.push(chunk);

  constructor(parse: (data: string, event: string) => JsonObject) {
    this.#parse = parse;
  }

  /** Whether the provider brought its answer to an end. */
  get complete(): boolean {
    return this.#sawDone || this.whole.finished;
  }

  take(bytes: Uint8Array | undefined): ModelChunk[] {
    this.#ready = [];
    try {
      if (bytes) this.#parser.push(bytes);
      else this.#parser.end();
    } catch (error) {
      this.failure = error;
    }
    this.done = this.#sawDone || bytes === undefined;
    return this.#ready;
  }

  #accept(data: string, event: string): void {
    if (this.#sawDone) return;
    const repeated = event === '' ? this.#repeated.textIn(data) : undefined;
    if (repeated !== undefined) {
      this.whole.addText(repeated, this.#deliver);
    } else if (data === '[DONE]') {
      this.#sawDone = true;
    } else {
      const onlyText = this.whole.accept(this.#parse(data, event), this.#deliver);
      if (onlyText !== undefined) this.#repeated.learn(data, onlyText);
    }
  }
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
