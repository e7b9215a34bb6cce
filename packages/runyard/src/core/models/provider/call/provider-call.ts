import { setTimeout as sleep } from 'node:timers/promises';
import type { Abortable } from '../../../async/abort.js';
import { backOffMs } from '../../../async/back-off.js';
import { isPromise } from '../../../async/promises.js';
import { errorCode } from '../../../errors/error-code.js';
import { ModelError } from '../../model-error.js';
import type { AnswerHead, Arriving, Exchange, OutgoingRequest, Transport } from '../transport/transport.js';
import { certificateFaultIn } from './certificate-fault.js';
import type { ConnectionOptions } from './connection-options.js';
import { errorFromResponse } from './provider-failure.js';

/** One request to a provider. */
export interface ProviderCall extends OutgoingRequest {
  readonly provider: string;
  readonly signal: Abortable;
  /** The longest wait for the first byte of the answer. */
  readonly firstByteTimeoutMs: number;
  /** The longest silence after it. */
  readonly timeoutMs: number;
  readonly send: Transport;
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
  readonly #exchange: Exchange;
  readonly #onAbort = () => this.#exchange.abort(this.#call.signal.reason);
  /** Undefined when the rest of the answer is there: nothing can be late then. */
  #timer: NodeJS.Timeout | undefined;
  #first: Uint8Array | undefined;
  #waiting = true;
  #late: ModelError | undefined;
  #ended = false;
  #closed = false;
  contentType = '';

  static async open(call: ProviderCall): Promise<ProviderAnswer> {
    const answer = new ProviderAnswer(call);
    try {
      const head = await answer.#exchange.head;
      answer.contentType = head.contentType;
      if (head.status < 200 || head.status > 299) throw await answer.#refusal(head);
      const first = answer.read();
      answer.#first = isPromise(first) ? await first : first;
      clearTimeout(answer.#timer);
      answer.#timer = answer.#exchange.ended
        ? undefined
        : answer.#watch(call.timeoutMs, 'fell silent in the middle of its answer');
      return answer;
    } catch (error) {
      answer.close();
      throw answer.#explain(error);
    }
  }

  private constructor(call: ProviderCall) {
    this.#call = call;
    this.#exchange = call.send(call);
    call.signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#timer = this.#watch(call.firstByteTimeoutMs, 'sent no answer');
  }

  /** The next bytes, at once if they are there; undefined at the end. */
  read(): Arriving {
    if (this.#first) {
      const first = this.#first;
      this.#first = undefined;
      return first;
    }
    if (this.#ended) return undefined;
    const bytes = this.#exchange.read();
    if (isPromise(bytes)) return this.#waitFor(bytes);
    this.#waiting = false;
    if (bytes === undefined) this.#ended = true;
    return bytes;
  }

  async #waitFor(arriving: Promise<Uint8Array | undefined>): Promise<Uint8Array | undefined> {
    this.#waiting = true;
    this.#timer?.refresh();
    try {
      const bytes = await arriving;
      if (bytes === undefined) this.#ended = true;
      return bytes;
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
    for (;;) {
      const arriving = this.read();
      const bytes = isPromise(arriving) ? await arriving : arriving;
      if (bytes === undefined || size > limit) break;
      parts.push(bytes);
      size += bytes.byteLength;
    }
    const text = joined(parts).toString('utf8', 0, limit);
    // a byte order mark
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  /** Lets go of the connection. One that has only its formal end left is kept for the next call. */
  close(options: { readonly complete?: boolean } = {}): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    if (options.complete && !this.#ended && !this.#exchange.ended) {
      void this.#drain();
      return;
    }
    this.#call.signal.removeEventListener('abort', this.#onAbort);
    if (!this.#ended) this.#exchange.abort(new Error('The answer was left before its end.'));
  }

  async #refusal(head: AnswerHead): Promise<ModelError> {
    const { signal, provider, redact } = this.#call;
    const body = await this.text(64 * 1024).catch(() => '');
    signal.throwIfAborted();
    const { status, statusText } = head;
    return errorFromResponse(provider, { status, statusText, headers: head.headers() }, body, redact);
  }

  /** The timer keeps running while the reader is busy elsewhere; silence counts only while the reader waits. */
  #watch(ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => {
      if (!this.#waiting) return;
      const { provider } = this.#call;
      const text = `${provider} ${what} within ${ms} ms.`;
      this.#late = new ModelError(text, { provider, kind: 'timeout', retryable: true });
      this.#exchange.abort(this.#late);
    }, ms);
  }

  async #drain(): Promise<void> {
    const exchange = this.#exchange;
    const timer = setTimeout(() => exchange.abort(new Error('The answer has no end.')), drainMs);
    timer.unref();
    try {
      while ((await exchange.read()) !== undefined);
    } catch {
      // The answer was complete; how its connection ended is of no interest.
    } finally {
      clearTimeout(timer);
      this.#call.signal.removeEventListener('abort', this.#onAbort);
    }
  }

  /** Names the cause of a failure: from a `fetch`, an abort and a time-out come as all sorts of errors. */
  #explain(error: unknown): unknown {
    const { signal, provider, redact } = this.#call;
    if (signal.aborted) return signal.reason;
    if (error instanceof ModelError) return error;
    if (this.#late !== undefined) return this.#late;
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
    const certificateFault = certificateFaultIn(code);
    const fault = certificateFault ?? redact(reasonOf(cause, code));
    return new ModelError(`The connection to ${provider} failed: ${fault}`, {
      provider,
      kind: 'connection',
      retryable: certificateFault === undefined,
      cause,
    });
  }
}

/** Most answers are one piece, which needs no copy. */
function joined(parts: readonly Uint8Array[]): Buffer {
  const [first] = parts;
  if (first === undefined || parts.length > 1) return Buffer.concat(parts);
  return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
}

/** The network address of a provider is for the log: callers learn only the kind of failure. */
function reasonOf(cause: unknown, code: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  if (typeof code !== 'string') return text;
  const namesHost = ['address', 'hostname', 'host'].some((name) => name in Object(cause));
  if (namesHost || text === '' || text.includes(code)) return code;
  return `${code}: ${text}`;
}
