import { createHash } from 'node:crypto';
import type { Allowance } from '../../../core/allowance.js';
import { thrownError } from '../../../core/errors/thrown-error.js';
import type { RedisSpace } from './space.js';

/** So much of an allowance that all processes have in common. */
export interface SharedPart {
  /** The allowance, among all that are named in this place. */
  readonly key: readonly string[];
  readonly allowance: Allowance;
  /** Less than 0 gives something back. */
  readonly amount: number;
}

/**
 * `allowance.ts` in Redis, by its clock. Each key holds until when it is taken. All parts are taken, or none and the
 * longest wait is returned. `always` takes them in any case, and returns the wait of the next; `count` does so up to twice
 * the burst, so that many refused attempts have no long effect.
 */
const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local always = ARGV[1] ~= 'take'
local wait = 0
local taken = {}
for i, key in ipairs(KEYS) do
  local interval, burst, amount = tonumber(ARGV[i * 3 - 1]), tonumber(ARGV[i * 3]), tonumber(ARGV[i * 3 + 1])
  local before = math.max(tonumber(redis.call('GET', key) or '0'), now)
  local after = math.max(before + amount * interval, now)
  local counted, next = before, math.min(amount, burst)
  if always then
    if ARGV[1] == 'count' then after = math.min(after, now + 2 * burst * interval) end
    counted, next = after, 1
  end
  wait = math.max(wait, counted - (burst - next) * interval - now)
  taken[i] = after
end
if wait > 0 and not always then return math.ceil(wait) end
for i, key in ipairs(KEYS) do
  redis.call('SET', key, string.format('%.3f', taken[i]), 'PX', math.ceil(taken[i] - now) + 1000)
end
return math.ceil(wait)`;

const takeHash = createHash('sha1').update(takeScript).digest('hex');

/** What processes may do together so often. All functions reject when Redis is away. */
export class RedisAllowances {
  constructor(private readonly space: RedisSpace) {}

  get isReachable(): boolean {
    return this.space.connection.isReachable;
  }

  /** Takes all parts: 0, or in how many milliseconds that can be tried again. */
  take(parts: readonly SharedPart[]): Promise<number> {
    return this.run('take', parts);
  }

  /** Counts something that has happened. Answers in how many milliseconds the next one is allowed. */
  count(part: SharedPart): Promise<number> {
    return this.run('count', [part]);
  }

  /** What was taken was more than was said, or less. */
  async correct(part: SharedPart): Promise<void> {
    await this.run('always', [part]);
  }

  private async run(how: 'take' | 'count' | 'always', parts: readonly SharedPart[]): Promise<number> {
    const { client } = this.space.connection;
    const keys = parts.map(({ key }) => this.space.name(...key));
    const numbers = parts.flatMap(({ allowance, amount }) => [allowance.intervalMs, allowance.burst, amount]);
    try {
      return Number(await client.evalsha(takeHash, keys.length, ...keys, how, ...numbers));
    } catch (error) {
      // a server that was restarted or flushed does not know it
      if (!thrownError(error).message.startsWith('NOSCRIPT')) throw error;
      return Number(await client.eval(takeScript, keys.length, ...keys, how, ...numbers));
    }
  }
}
