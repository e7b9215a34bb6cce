import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { fieldsOf } from '../../core/objects.js';
import { version } from '../version.js';

const compress = promisify(gzip);

/** Smaller bodies are not worth it. */
const compressedFrom = 1024;
const timeoutMs = 10_000;
const retryDelaysMs = [1_000, 2_000, 4_000, 8_000, 16_000];
const longestWaitMs = 60_000;

/** What is sent. */
type Signal = 'traces' | 'metrics';

export interface DeliveryOptions {
  /** The address of a collector, or of its traces. `/v1/traces` or `/v1/metrics` is added. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The outcome of a request: taken, to be tried again, or refused for good. */
type Outcome =
  | { readonly taken: true; readonly rejected: number }
  | { readonly taken: false; readonly again: boolean; readonly reason: string; readonly waitMs?: number };

export interface Delivered {
  /** How many spans, or points of metrics, the collector said that it did not keep. */
  readonly rejected: number;
}

/** A body that the collector does not take, now or at all. */
export class NotDelivered extends Error {}

/** Sends bodies to a collector, one at a time. */
export class OtlpDelivery {
  private readonly url: string;
  private readonly headers: Readonly<Record<string, string>>;
  private underWay: AbortController | undefined;
  private isAborted = false;
  private isHurried = false;
  private endWait: () => void = () => {};

  constructor({ endpoint, headers }: DeliveryOptions, signal: Signal) {
    const url = new URL(endpoint);
    const path = url.pathname.replace(/\/+$/, '').replace(/\/v1\/traces$/, '');
    url.pathname = `${path}/v1/${signal}`;
    const credentials = basicCredentials(url);
    // a request is not made to an address that holds them
    url.username = '';
    url.password = '';
    this.url = url.href;
    this.headers = {
      ...(credentials !== undefined && { authorization: credentials }),
      ...headers,
      'content-type': 'application/json',
      'user-agent': `runyard/${version}`,
    };
  }

  /** Where it goes, for people to read: without anything that may be secret. */
  get place(): string {
    return new URL(this.url).origin;
  }

  /** Sends one body, again when the collector is unavailable or overloaded. Throws `NotDelivered`. */
  async deliver(body: string): Promise<Delivered> {
    const packed = body.length < compressedFrom ? body : await compress(body);
    for (let failures = 0; ; failures += 1) {
      const outcome = await this.post(packed);
      if (outcome.taken) return { rejected: outcome.rejected };
      const delay = retryDelaysMs[failures];
      if (!outcome.again || delay === undefined || this.isHurried) throw new NotDelivered(outcome.reason);
      await this.wait(Math.min(Math.max(spread(delay), outcome.waitMs ?? 0), longestWaitMs));
    }
  }

  /** What waits to be tried again is tried once more at once, and nothing waits from now on. */
  hurry(): void {
    this.isHurried = true;
    this.endWait();
  }

  /** Ends the request in flight. */
  abort(): void {
    this.hurry();
    this.isAborted = true;
    this.underWay?.abort();
  }

  private async post(body: string | Uint8Array): Promise<Outcome> {
    if (this.isAborted) return { taken: false, again: false, reason: 'the service stops' };
    const isPacked = typeof body !== 'string';
    const request = new AbortController();
    this.underWay = request;
    const timeUp = setTimeout(() => request.abort(new Error('no answer in time')), timeoutMs).unref();
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        headers: { ...this.headers, ...(isPacked && { 'content-encoding': 'gzip' }) },
        body,
        // headers that hold a key go nowhere else
        redirect: 'manual',
        signal: request.signal,
      });
      const answer = await response.text();
      if (response.ok) return { taken: true, rejected: rejectedIn(answer) };
      const { status, headers } = response;
      const waitMs = retryAfterMs(headers.get('retry-after'));
      const again = status === 429 || status === 408 || status >= 500;
      return { taken: false, again, reason: `HTTP ${status}`, ...(waitMs !== undefined && { waitMs }) };
    } catch (error) {
      return { taken: false, again: true, reason: reasonOf(error) };
    } finally {
      clearTimeout(timeUp);
    }
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      // an otherwise idle process does not stay alive for an unavailable collector
      const timer = setTimeout(resolve, ms).unref();
      this.endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(plain).toString('base64')}`;
}

/** Several processes that lost the same collector do not come back in the same moment. */
function spread(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}

function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

/** The collector may keep a part of a request and refuse the rest. */
function rejectedIn(answer: string): number {
  try {
    const { rejectedSpans, rejectedDataPoints } = fieldsOf(JSON.parse(answer).partialSuccess);
    return Number(rejectedSpans ?? rejectedDataPoints ?? 0) || 0;
  } catch {
    return 0;
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = fieldsOf(error);
  return String(fieldsOf(cause).code ?? fieldsOf(cause).message ?? message);
}
