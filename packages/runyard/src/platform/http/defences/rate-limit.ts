import { isIPv6 } from 'node:net';
import { errors, RunyardError } from '../../../core/errors/errors.js';
import type { Caller } from '../../auth/caller.js';
import type { SharedCounts } from '../../net/shared-counts.js';

export interface RateLimitSettings {
  /** Requests of one caller in a minute; left out, nothing is limited. */
  readonly rateLimit?: number | undefined;
  /** How many of them may come at once. */
  readonly rateLimitBurst?: number | undefined;
}

/** How much a caller has left, and when that was so. */
interface Bucket {
  left: number;
  at: number;
}

/** The number of callers whose remaining requests a process remembers; a forgotten caller starts afresh. */
const mostCallers = 50_000;

/**
 * Counts the requests of callers, each for itself: as many as may come at once, and then as many as the time since
 * has brought back. Every process counts what it gets; with `shared` it receives what the others have counted.
 */
export class RateLimiter {
  /** Two generations: who was not seen for the whole life of one has everything back, and is forgotten with it. */
  #recent = new Map<string, Bucket>();
  #older = new Map<string, Bucket>();
  #begunAt: number;
  readonly #burst: number;
  readonly #perMs: number;

  constructor(
    private readonly perMinute: number,
    burst: number | undefined,
    private readonly now: () => number = () => performance.now(),
    private readonly mostRemembered = mostCallers,
    private readonly shared?: SharedCounts | undefined,
  ) {
    this.#burst = burst ?? perMinute;
    this.#perMs = perMinute / 60_000;
    this.#begunAt = now();
  }

  /** Undefined where nothing is limited. */
  static of(
    { rateLimit, rateLimitBurst }: RateLimitSettings,
    shared?: SharedCounts,
  ): RateLimiter | undefined {
    if (rateLimit === undefined) return undefined;
    return new RateLimiter(rateLimit, rateLimitBurst, undefined, undefined, shared);
  }

  /** Throws 429 for a caller who has used up their share. */
  takeFor(caller: Caller, clientAddress: string): void {
    this.#take(callerKey(caller, clientAddress));
  }

  takeForAddress(clientAddress: string): void {
    this.#take(addressKey(clientAddress));
  }

  /** Wrong tokens count for the address that they come from; other failures count for no caller. */
  takeForRefused(error: unknown, clientAddress: string): void {
    if (error instanceof RunyardError && error.status === 401)
      this.#take(`refused ${addressKey(clientAddress)}`);
  }

  #take(key: string): void {
    const now = this.now();
    const bucket = this.#bucketOf(key, now);
    bucket.left = Math.min(this.#burst, bucket.left + (now - bucket.at) * this.#perMs);
    bucket.at = now;
    if (bucket.left < 1) {
      const seconds = Math.max(1, Math.ceil((1 - bucket.left) / this.#perMs / 1000));
      throw errors.rateLimited(this.perMinute, this.#burst, seconds);
    }
    bucket.left -= 1;
    const allowance = { burst: this.#burst, intervalMs: 1 / this.#perMs };
    this.shared?.add(['requests', key], allowance, (waitMs) => this.#hold(key, waitMs));
  }

  /** What all processes have counted is more than this one has: the caller has something left only after the wait. */
  #hold(key: string, waitMs: number): void {
    const now = this.now();
    const bucket = this.#bucketOf(key, now);
    const left = bucket.left + (now - bucket.at) * this.#perMs;
    bucket.left = Math.min(left, 1 - waitMs * this.#perMs);
    bucket.at = now;
  }

  #bucketOf(key: string, now: number): Bucket {
    const recent = this.#recent.get(key);
    if (recent) return recent;
    if (this.#recent.size >= this.mostRemembered / 2 || now - this.#begunAt > this.#burst / this.#perMs) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#begunAt = now;
    }
    const bucket = this.#older.get(key) ?? { left: this.#burst, at: now };
    this.#recent.set(key, bucket);
    return bucket;
  }
}

/** An unproven name could be another one each time. */
export function isKnown({ proven, userId }: Caller): boolean {
  return proven && userId !== null;
}

/** What identifies a caller: the proven name, or the address. */
export function callerKey(caller: Caller, clientAddress: string): string {
  return isKnown(caller) ? `user ${caller.userId}` : addressKey(clientAddress);
}

/** A client with one IPv6 address has all of its /64: it counts as one. */
function addressKey(address: string): string {
  // Node looks closely: most addresses need not be
  if (!address.includes(':') || !isIPv6(address)) return `address ${address}`;
  return `network ${networkOf(address)}`;
}

function networkOf(address: string): string {
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
