import { randomUUID } from 'node:crypto';
import { parseJson } from '../../../core/json.js';
import {
  allowancesOf,
  type ModelRate,
  type ModelTurns,
  OwnModelTurns,
} from '../../../core/models/pace/model-turns.js';
import { fieldsOf } from '../../../core/objects.js';
import type { Timers } from '../../../core/timers.js';
import { RedisAllowances } from './allowances.js';
import type { RedisSpace } from './space.js';

/** How often a process says that it is there, and after how long without that it does not count. */
const presentMs = 10_000;
const goneMs = 30_000;

/**
 * The turns of all processes of a database. While Redis is away, a process takes those of its own share: the rate,
 * divided by the number of processes that were there last.
 */
export class RedisModelTurns implements ModelTurns {
  readonly #own: OwnModelTurns;
  readonly #allowances: RedisAllowances;
  readonly #process = randomUUID();
  #processes = 1;
  #presentAt = Number.NEGATIVE_INFINITY;
  readonly #listeners = new Set<(model: string, ms: number) => void>();
  readonly #announce: (rest: string) => void;

  constructor(
    private readonly space: RedisSpace,
    private readonly timers: Timers,
  ) {
    this.#own = new OwnModelTurns(() => timers.elapsed());
    this.#allowances = new RedisAllowances(space);
    this.#announce = space.channel('model-rests', (message) => {
      const rest = readRest(message);
      if (rest !== undefined) for (const listener of this.#listeners) listener(rest.model, rest.ms);
    });
  }

  async take(model: string, rate: ModelRate, tokens: number): Promise<number> {
    if (this.#allowances.isReachable) {
      void this.#bePresent();
      try {
        return await this.#allowances.take(partsOf(model, rate, tokens));
      } catch {
        // it was lost in this moment
      }
    }
    return this.#own.take(model, this.#shareOf(rate), tokens);
  }

  correct(model: string, rate: ModelRate, tokens: number): void {
    const tokenRate = { tokensPerMinute: rate.tokensPerMinute };
    if (rate.tokensPerMinute === undefined) return;
    if (!this.#allowances.isReachable) this.#own.correct(model, this.#shareOf(rate), tokens);
    else for (const part of partsOf(model, tokenRate, tokens)) this.#allowances.correct(part).catch(() => {});
  }

  announceRest(model: string, ms: number): void {
    this.#announce(JSON.stringify({ model, ms }));
  }

  onRest(listener: (model: string, ms: number) => void): void {
    this.#listeners.add(listener);
  }

  #shareOf({ requestsPerMinute, tokensPerMinute }: ModelRate): ModelRate {
    const share = (whole: number | undefined) =>
      whole === undefined ? undefined : Math.max(1, Math.floor(whole / this.#processes));
    return { requestsPerMinute: share(requestsPerMinute), tokensPerMinute: share(tokensPerMinute) };
  }

  /** Counts the processes that call models, for the day on which each has to do without the others. */
  async #bePresent(): Promise<void> {
    const now = this.timers.elapsed();
    if (now - this.#presentAt < presentMs) return;
    this.#presentAt = now;
    const { client } = this.space.connection;
    const key = this.space.name('model-callers');
    try {
      const [seconds = 0, micros = 0] = await client.time();
      const at = Number(seconds) * 1000 + Number(micros) / 1000;
      await client.zadd(key, at, this.#process);
      await client.zremrangebyscore(key, '-inf', at - goneMs);
      await client.pexpire(key, goneMs);
      this.#processes = Math.max(1, await client.zcard(key));
    } catch {
      // the number stays what it was
    }
  }
}

function partsOf(model: string, rate: ModelRate, tokens: number) {
  return allowancesOf(rate, tokens).map(({ name, allowance, amount }) => ({
    key: ['model', name, model],
    allowance,
    amount,
  }));
}

/** Every client of the Redis can send on the channel. */
function readRest(message: string): { model: string; ms: number } | undefined {
  try {
    const { model, ms } = fieldsOf(parseJson(message));
    return typeof model === 'string' && typeof ms === 'number' && ms > 0 ? { model, ms } : undefined;
  } catch {
    return undefined;
  }
}
