import { setTimeout as wait } from 'node:timers/promises';
import { shownFault } from '../../net/fetch-content.js';
import { FetchRefused, guardedStream } from '../../net/guarded-fetch.js';
import { whole } from '../bytes.js';
import { withRetries } from '../retries.js';
import { pageAddress } from './addresses.js';
import { allowsAll, allowsNothing, type Robots, readRobots } from './robots.js';

export interface WebLimits {
  /** Hosts that may be reached although their addresses are not public. */
  readonly allowedHosts: readonly string[];
  /** Of one file. */
  readonly maxBytes: number;
  /** For one file. */
  readonly timeoutMs: number;
  /** How long a server may send nothing. */
  readonly idleMs: number;
  /** Between two requests to one host. */
  readonly pauseMs: number;
  /** Before a request that failed is sent again; each time twice as long. */
  readonly retryMs: number;
}

export interface WebAnswer {
  /** After redirects. */
  readonly url: string;
  /** Without its parameters. */
  readonly mediaType: string | undefined;
  /** In bytes, when the server says it and the body is not packed. */
  readonly size: number | undefined;
  /** The encoding that the server names, of a text. */
  readonly charset: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  close(): void;
  isClosed(): boolean;
}

/** An answer that says why it has no content. */
class RefusedWithStatus extends FetchRefused {
  constructor(readonly status: number) {
    super(`The address answered with status ${status}.`);
  }
}

/** The token by which `robots.txt` files can address Runyard. */
const agent = 'runyard';
const robotsBytes = 512_000;
const robotsTimeoutMs = 10_000;
const mostSites = 100;

/** Asks web servers on behalf of one reading: politely, and as the guard allows. Its errors may be shown. */
export class WebClient {
  readonly #robots = new Map<string, Promise<Robots>>();
  readonly #nextRequests = new Map<string, number>();

  constructor(
    private readonly limits: WebLimits,
    private readonly signal: AbortSignal,
  ) {}

  /** Throws `FetchRefused` for everything but an answer with a body. */
  async open(address: string): Promise<WebAnswer> {
    await this.#pause(new URL(address));
    return this.#open(address, this.limits.maxBytes, this.limits.timeoutMs);
  }

  /** Whether the site lets programs read the page. */
  async allows(address: string): Promise<boolean> {
    return (await this.#robotsOf(new URL(address).origin)).allows(address);
  }

  async #open(address: string, maximumBytes: number, timeoutMs: number): Promise<WebAnswer> {
    const { allowedHosts, idleMs, retryMs } = this.limits;
    const options = { allowedHosts, maximumBytes, timeoutMs, idleMs, signal: this.signal };
    const answer = await this.#shown(
      withRetries(() => guardedStream(address, options), this.signal, { delayMs: retryMs }),
    );
    if (answer.status !== 200) {
      answer.close();
      throw new RefusedWithStatus(answer.status);
    }
    const type = answer.headers['content-type'] ?? '';
    const mediaType = type.split(';', 1)[0]?.trim().toLowerCase() || undefined;
    const isPacked = (answer.headers['content-encoding'] ?? '') !== '';
    const length = answer.headers['content-length'];
    let isClosed = false;
    return {
      url: pageAddress(answer.url) ?? answer.url,
      mediaType,
      size: isPacked || length === undefined ? undefined : Number(length),
      charset: charsetOf(type),
      body: this.#shownBody(answer.body),
      close: () => {
        isClosed = true;
        answer.close();
      },
      isClosed: () => isClosed,
    };
  }

  async #shown<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.signal.throwIfAborted();
      throw shownFault(error);
    }
  }

  async *#shownBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      this.signal.throwIfAborted();
      throw shownFault(error);
    }
  }

  #robotsOf(origin: string): Promise<Robots> {
    const known = this.#robots.get(origin);
    if (known) return known;
    if (this.#robots.size >= mostSites) return Promise.resolve(allowsNothing);
    const robots = this.#readRobots(origin);
    this.#robots.set(origin, robots);
    return robots;
  }

  async #readRobots(origin: string): Promise<Robots> {
    try {
      const { body } = await this.#open(`${origin}/robots.txt`, robotsBytes, robotsTimeoutMs);
      return readRobots((await whole(body, robotsBytes, 'robots.txt')).toString(), agent);
    } catch (error) {
      this.signal.throwIfAborted();
      // A site without the file allows everything; one that cannot be asked now, nothing.
      return error instanceof RefusedWithStatus && error.status < 500 ? allowsAll : allowsNothing;
    }
  }

  async #pause({ host, origin }: URL): Promise<void> {
    const { delayMs } = (await this.#robots.get(origin)) ?? allowsAll;
    const now = performance.now();
    const at = Math.max(now, this.#nextRequests.get(host) ?? 0);
    this.#nextRequests.set(host, at + Math.max(this.limits.pauseMs, delayMs));
    if (at > now) await wait(at - now, undefined, { signal: this.signal });
  }
}

function charsetOf(type: string): string | undefined {
  const isText = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:xml|json))/i.test(type);
  return isText ? /;.*charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1] : undefined;
}
