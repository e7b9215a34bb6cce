import type { SharedCounts } from '../net/shared-counts.js';
import { RecentMap } from './recent-map.js';

const windowMs = 60_000;
/** So many addresses are watched; of more, the one that failed longest ago is forgotten. */
const watchedAddresses = 10_000;

interface Attempts {
  /** When the last ones were, at most as many as are allowed. */
  readonly times: readonly number[];
  readonly limited: boolean;
}

export interface Limited {
  readonly retryAfterMs: number;
  /** Whether this is the first attempt beyond what is allowed. */
  readonly begins: boolean;
}

/** Counts failed attempts by the address that they come from. */
export class FailedAttempts {
  readonly #attempts = new RecentMap<Attempts>(watchedAddresses);

  /** So many are allowed within a minute. With `shared`, those that reach other processes count too. */
  constructor(
    private readonly allowed = 20,
    private readonly shared?: { readonly name: string; readonly counts: SharedCounts | undefined },
  ) {}

  /** Counts one. Answers with the bound when the address had as many as are allowed within the last minute. */
  note(address: string, now: number): Limited | undefined {
    const known = this.#attempts.get(address);
    const times = (known?.times ?? []).filter((time) => time > now - windowMs && time <= now);
    const [oldest] = times;
    if (oldest === undefined || times.length < this.allowed) {
      this.#attempts.set(address, { times: [...times, now], limited: false });
      this.#share(address, now);
      return undefined;
    }
    this.#attempts.set(address, { times, limited: true });
    return { retryAfterMs: oldest + windowMs - now, begins: known?.limited !== true };
  }

  /** Once all processes together have seen too many, this one counts as if it had seen them itself. */
  #share(address: string, now: number): void {
    const allowance = { burst: this.allowed, intervalMs: windowMs / this.allowed };
    this.shared?.counts?.add([this.shared.name, address], allowance, (waitMs) => {
      const time = now - windowMs + Math.min(waitMs, windowMs);
      this.#attempts.set(address, { times: Array(this.allowed).fill(time), limited: false });
    });
  }
}
