import type { Timers } from '../../timers.js';
import type { KeptResponse, ResponseCache } from './response-cache.js';

/** How many answers are kept without a database; beyond it the oldest are removed. */
const keptResponses = 1_000;

/** Answers for agents that are run without a service: nothing outlives the process. */
export class InProcessResponses implements ResponseCache {
  private readonly kept = new Map<string, { readonly response: string; readonly expiresAt: number }>();

  constructor(private readonly timers: Pick<Timers, 'now'>) {}

  async get(key: string): Promise<string | undefined> {
    const found = this.kept.get(key);
    if (found === undefined || found.expiresAt > this.timers.now()) return found?.response;
    this.kept.delete(key);
    return undefined;
  }

  async put({ key, response, ttlMs }: KeptResponse): Promise<void> {
    this.kept.delete(key);
    this.kept.set(key, { response, expiresAt: this.timers.now() + ttlMs });
    const [oldest] = this.kept.keys();
    if (this.kept.size > keptResponses && oldest !== undefined) this.kept.delete(oldest);
  }
}
