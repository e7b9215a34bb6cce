import type { Abortable } from '../../../async/abort.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../json.js';
import { ModelError } from '../../model-error.js';
import { fetchTransport } from '../transport/fetch-transport.js';
import { usualTransport } from '../transport/usual-transport.js';
import type { ConnectionOptions } from './connection-options.js';
import { ProviderAnswer, type ProviderCall, pauseBeforeRetry } from './provider-call.js';
import { errorFromStream } from './provider-failure.js';
import { redactor } from './redact.js';

export interface ProviderAccess {
  readonly provider: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What must not show in an error. */
  readonly secrets: readonly string[];
}

const longestAnswer = 64 * 1024 * 1024;

/** Requests to one provider: retries, time-outs, reading of JSON, errors without secrets. */
export class ProviderClient {
  readonly #access: ProviderAccess;
  readonly #connection: ConnectionOptions;
  readonly #headers: Readonly<Record<string, string>>;
  /** Takes secrets out of a text that came from outside. */
  readonly #redact: (text: string) => string;

  constructor(access: ProviderAccess, connection: ConnectionOptions) {
    this.#access = access;
    this.#connection = connection;
    this.#headers = byLowerCase({
      'content-type': 'application/json',
      ...access.headers,
      ...connection.headers,
    });
    this.#redact = redactor([...access.secrets, ...Object.values(connection.headers ?? {})]);
  }

  /** The answer to a request as `read` understands it. */
  async post<T>(
    url: string,
    body: JsonObject,
    signal: AbortSignal,
    read: (answer: JsonObject) => T,
  ): Promise<T> {
    const call = this.call(url, JSON.stringify(body), signal);
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await this.whole(await ProviderAnswer.open(call), read);
      } catch (error) {
        await this.pause(error, attempt, signal);
      }
    }
  }

  /** `streamed`: the answer is read while it is written. */
  call(url: string, body: string, signal: Abortable, streamed = false): ProviderCall {
    const { firstByteTimeoutMs = 300_000, timeoutMs = 120_000, fetch } = this.#connection;
    return {
      provider: this.#access.provider,
      url,
      headers: this.#headers,
      body,
      streamed,
      signal,
      firstByteTimeoutMs,
      timeoutMs,
      send: fetch === undefined ? usualTransport() : fetchTransport(fetch),
      redact: this.#redact,
    };
  }

  /** Waits until it is time for another try; throws the error if another makes no sense. */
  pause(error: unknown, attempt: number, signal: AbortSignal): Promise<void> {
    return pauseBeforeRetry(error, attempt, this.#connection, signal);
  }

  /** An answer that is one object. What `read` throws is what is wrong with it. */
  async whole<T>(answer: ProviderAnswer, read: (body: JsonObject, text: string) => T): Promise<T> {
    try {
      const text = await answer.text(longestAnswer);
      const result = this.#read(text, read);
      answer.close({ complete: true });
      return result;
    } finally {
      answer.close();
    }
  }

  #read<T>(text: string, read: (body: JsonObject, text: string) => T): T {
    try {
      return read(this.object(text), text);
    } catch (error) {
      throw this.protocolError(error);
    }
  }

  /** The object that a text of the wire holds. `event` is the name of the event that brought it. */
  object(text: string, event = ''): JsonObject {
    let value: Json;
    try {
      value = parseJson(text);
    } catch {
      if (event === 'error') throw this.fail(text);
      throw new Error(`something that is not JSON: ${this.excerpt(text)}`);
    }
    // Google wraps an error in a list where a stream was asked for.
    if (Array.isArray(value) && isJsonObject(value[0]) && value[0].error) value = value[0];
    if (!isJsonObject(value)) throw new Error(`something that is not an object: ${this.excerpt(text)}`);
    if (value.error !== undefined && value.error !== null) throw this.fail(value.error);
    if (event === 'error' || value.type === 'error' || value.object === 'error') throw this.fail(value);
    return value;
  }

  /** Without secrets before it is cut: half of one would not be recognised. */
  excerpt(text: string): string {
    const clean = this.#redact(text.slice(0, 10_000));
    return clean.length > 200 ? `${clean.slice(0, 200)}…` : clean;
  }

  protocolError(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    const { provider } = this.#access;
    const text = error instanceof Error ? error.message : String(error);
    return new ModelError(`${provider} sent ${this.#redact(text)}`, { provider, kind: 'protocol' });
  }

  readonly fail = (error: Json): ModelError => errorFromStream(this.#access.provider, error, this.#redact);
}

/** Later ones replace earlier ones of the same name, however it is written. Spaces around a value are no part of it. */
function byLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value).trim()]),
  );
}
