import { setTimeout as sleep } from 'node:timers/promises';
import { backOffMs } from '../../../back-off.js';
import { errorCode } from '../../../errors/error-code.js';
import { ModelError } from '../../model-error.js';
import type { ConnectionOptions } from './connection-options.js';
import { errorFromResponse } from './provider-failure.js';

/** One request to a provider. */
export interface ProviderCall {
  readonly provider: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** The longest wait for the first byte of the answer. */
  readonly firstByteTimeoutMs: number;
  /** The longest silence after it. */
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  /** Takes secrets out of a text that came from outside. */
  readonly redact: (text: string) => string;
}

/** The longest pause that is waited for when a provider asks for one: beyond it, the caller gets the error. */
const longestRetryWaitMs = 30_000;
const drainMs = 1_000;

async function waitOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/** Waits until it is time for another try; throws the error if another makes no sense. */
export async function pauseBeforeRetry(
  error: unknown,
  attempt: number,
  { retries = 2, wait = waitOrAbort }: Pick<ConnectionOptions, 'retries' | 'wait'>,
  signal: AbortSignal,
): Promise<void> {
  const delay = retryDelay(error, attempt, retries);
  if (delay === undefined) throw error;
  await wait(delay, signal);
  signal.throwIfAborted();
}

/**
 * How long to wait before another try of a call whose answer has not been used; undefined if another try makes no
 * sense. `attempt` counts from 0.
 */
function retryDelay(error: unknown, attempt: number, retries: number): number | undefined {
  if (!(error instanceof ModelError) || !error.retryable || attempt >= retries) return undefined;
  // A provider that was silent for the whole time-out has used up the caller's patience already.
  if (error.kind === 'timeout') return undefined;
  const delay = Math.max(error.retryAfterMs ?? 0, backOffMs({ delayMs: 500, maximumMs: 8_000 }, attempt));
  return delay > longestRetryWaitMs ? undefined : delay;
}

/** The answer of a provider while it is being read. The code that opens one closes it. */
export class ProviderAnswer {
  readonly #call: ProviderCall;
  readonly #controller = new AbortController();
  readonly #onAbort = () => this.#controller.abort(this.#call.signal.reason);
  #timer: NodeJS.Timeout;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #first: Uint8Array | undefined;
  #waiting = true;
  #ended = false;
  #closed = false;
  contentType = '';

  static async open(call: ProviderCall): Promise<ProviderAnswer> {
    const answer = new ProviderAnswer(call);
    try {
      await answer.#begin();
      return answer;
    } catch (error) {
      answer.close();
      throw answer.#explain(error);
    }
  }

  private constructor(call: ProviderCall) {
    this.#call = call;
    call.signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#timer = this.#watch(call.firstByteTimeoutMs, 'sent no answer');
  }

  /** The next bytes; undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#first) {
      const first = this.#first;
      this.#first = undefined;
      return first;
    }
    if (this.#ended || !this.#reader) return undefined;
    this.#waiting = true;
    this.#timer.refresh();
    try {
      const { done, value } = await this.#reader.read();
      if (done) this.#ended = true;
      return value;
    } catch (error) {
      throw this.#explain(error);
    } finally {
      this.#waiting = false;
    }
  }

  /** The rest as text, of which at most `limit` bytes are kept. */
  async text(limit: number): Promise<string> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for (let bytes = await this.read(); bytes !== undefined && size <= limit; bytes = await this.read()) {
      parts.push(bytes);
      size += bytes.byteLength;
    }
    // not `toString`, which keeps a byte order mark
    return new TextDecoder().decode(Buffer.concat(parts).subarray(0, limit));
  }

  /** Lets go of the connection. One that has only its formal end left is kept for the next call. */
  close(options: { readonly complete?: boolean } = {}): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    if (!this.#ended && options.complete && this.#reader) {
      void this.#drain(this.#reader);
      return;
    }
    this.#call.signal.removeEventListener('abort', this.#onAbort);
    if (!this.#ended) this.#controller.abort();
  }

  async #begin(): Promise<void> {
    const { call, controller } = { call: this.#call, controller: this.#controller };
    const response = await call.fetch(call.url, {
      method: 'POST',
      headers: call.headers,
      body: call.body,
      signal: controller.signal,
      // A redirect would carry the key to another host.
      redirect: 'manual',
    });
    this.contentType = response.headers.get('content-type') ?? '';
    this.#reader = response.body?.getReader();
    if (!response.ok) {
      const body = await this.text(64 * 1024).catch(() => '');
      call.signal.throwIfAborted();
      throw errorFromResponse(call.provider, response, body, call.redact);
    }
    this.#first = await this.read();
    clearTimeout(this.#timer);
    this.#timer = this.#watch(call.timeoutMs, 'fell silent in the middle of its answer');
  }

  /** The timer keeps running while the reader is busy elsewhere; silence counts only while the reader waits. */
  #watch(ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => {
      if (!this.#waiting) return;
      const { provider } = this.#call;
      this.#controller.abort(
        new ModelError(`${provider} ${what} within ${ms} ms.`, {
          provider,
          kind: 'timeout',
          retryable: true,
        }),
      );
    }, ms);
  }

  async #drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const timer = setTimeout(() => this.#controller.abort(), drainMs);
    timer.unref();
    try {
      while (!(await reader.read()).done);
    } catch {
      // The answer was complete; how its connection ended is of no interest.
    } finally {
      clearTimeout(timer);
      this.#call.signal.removeEventListener('abort', this.#onAbort);
    }
  }

  /** Names the cause of a failure: an abort and a time-out surface from fetch as all sorts of errors. */
  #explain(error: unknown): unknown {
    const { signal, provider, redact } = this.#call;
    if (signal.aborted) return signal.reason;
    if (error instanceof ModelError) return error;
    if (this.#controller.signal.reason instanceof ModelError) return this.#controller.signal.reason;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = errorCode(cause);
    if (typeof code === 'string' && /TIMEOUT/.test(code)) {
      return new ModelError(`${provider} did not answer in time (${code}).`, {
        provider,
        kind: 'timeout',
        retryable: true,
        cause,
      });
    }
    return new ModelError(`The connection to ${provider} failed: ${redact(reasonOf(cause, code))}`, {
      provider,
      kind: 'connection',
      retryable: true,
      cause,
    });
  }
}

/** The network address of a provider is for the log: callers learn only the kind of failure. */
function reasonOf(cause: unknown, code: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  if (typeof code !== 'string') return text;
  const namesHost = ['address', 'hostname', 'host'].some((name) => name in Object(cause));
  if (namesHost || text === '' || text.includes(code)) return code;
  return `${code}: ${text}`;
}
