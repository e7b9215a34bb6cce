import { createHash } from 'node:crypto';
import type { VerifiedToken } from './claims.js';

interface Kept {
  readonly token: VerifiedToken;
  readonly until: number;
}

const mostTokens = 1000;
const longestMs = 60_000;

/**
 * Tokens that were good a moment ago, so that a client that calls often costs one check a minute. Kept under their
 * hash, none longer than it is valid; a change of the keys empties it.
 */
export class VerifiedTokens {
  readonly #kept = new Map<string, Kept>();
  #generation = 0;

  constructor(private readonly now: () => number) {}

  /** Changes whenever everything is forgotten. */
  get generation(): number {
    return this.#generation;
  }

  key(token: string): string {
    return createHash('sha256').update(token).digest('base64');
  }

  get(key: string): VerifiedToken | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    if (kept.until > this.now()) return kept.token;
    this.#kept.delete(key);
    return undefined;
  }

  /** Keeps it, unless everything was forgotten since its check began: its key may be gone. */
  add(key: string, token: VerifiedToken, generation: number): void {
    if (generation !== this.#generation) return;
    if (this.#kept.size >= mostTokens) {
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined) this.#kept.delete(oldest);
    }
    const until = Math.min(this.now() + longestMs, token.expiresAt ?? Number.POSITIVE_INFINITY);
    this.#kept.set(key, { token, until });
  }

  clear(): void {
    this.#generation++;
    this.#kept.clear();
  }
}
