import type { StoredToken } from './store.js';

/** How many hashes one query looks up. */
const batchSize = 500;

type Find = (hashes: readonly string[]) => Promise<ReadonlyMap<string, StoredToken>>;

interface Waiting {
  readonly promise: Promise<StoredToken | undefined>;
  resolve(found: StoredToken | undefined): void;
  reject(error: unknown): void;
}

/**
 * Looks tokens up with one query at a time; the next query takes all tokens that arrive during it. So a flood
 * of wrong tokens costs the database one connection and not one query each, while a valid token among them is found
 * as soon as the query before it has ended: no caller has to be turned away unchecked.
 */
export class TokenLookups {
  #waiting = new Map<string, Waiting>();
  #busy = false;

  constructor(private readonly find: Find) {}

  /** The account of a token, read after the call: a lookup never joins a query that has begun. */
  lookUp(hash: string): Promise<StoredToken | undefined> {
    const known = this.#waiting.get(hash);
    if (known !== undefined) return known.promise;
    const waiting = newWaiting();
    this.#waiting.set(hash, waiting);
    if (!this.#busy) void this.#work();
    return waiting.promise;
  }

  /** Never rejects: each waiting caller gets the failure. */
  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, batchSize);
      for (const [hash] of batch) this.#waiting.delete(hash);
      try {
        const found = await this.find(batch.map(([hash]) => hash));
        for (const [hash, { resolve }] of batch) resolve(found.get(hash));
      } catch (error) {
        for (const [, { reject }] of batch) reject(error);
      }
    }
    this.#busy = false;
  }
}

function newWaiting(): Waiting {
  let resolve!: Waiting['resolve'];
  let reject!: Waiting['reject'];
  const promise = new Promise<StoredToken | undefined>((onFound, onFailed) => {
    resolve = onFound;
    reject = onFailed;
  });
  return { promise, resolve, reject };
}
