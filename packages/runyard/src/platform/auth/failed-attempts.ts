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

  /** So many are allowed within a minute. */
  constructor(private readonly allowed = 20) {}

  /** Counts one. Answers with the bound when the address had as many as are allowed within the last minute. */
  note(address: string, now: number): Limited | undefined {
    const known = this.#attempts.get(address);
    const times = (known?.times ?? []).filter((time) => time > now - windowMs && time <= now);
    const [oldest] = times;
    if (oldest === undefined || times.length < this.allowed) {
      this.#attempts.set(address, { times: [...times, now], limited: false });
      return undefined;
    }
    this.#attempts.set(address, { times, limited: true });
    return { retryAfterMs: oldest + windowMs - now, begins: known?.limited !== true };
  }
}
