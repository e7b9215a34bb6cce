import { describe, expect, test } from 'vitest';
import type { RunyardError } from '../../../src/core/errors/errors.js';
import { newId } from '../../../src/core/ids.js';
import { ModelError } from '../../../src/core/models/model-error.js';
import { ModelPace } from '../../../src/core/models/pace/model-pace.js';
import { anonymousCaller } from '../../../src/platform/auth/caller.js';
import { FailedAttempts } from '../../../src/platform/auth/failed-attempts.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { RedisAllowances } from '../../../src/platform/engine/redis/allowances.js';
import { sharedThrough } from '../../../src/platform/engine/redis/engine.js';
import { RedisSpace } from '../../../src/platform/engine/redis/space.js';
import { RateLimiter } from '../../../src/platform/http/defences/rate-limit.js';
import { openRedis, redisServer } from '../../support/redis.js';
import { ServerBetween } from '../../support/server-between.js';
import { until } from '../../support/until.js';

/** So many processes of one database, each with its own connection to Redis. */
async function processes(count: number, url?: string): Promise<RedisSpace[]> {
  const identity = newId();
  const spaces = [];
  for (let index = 0; index < count; index += 1) spaces.push(new RedisSpace(await openRedis(url), identity));
  return spaces;
}

const lost = ({ connection }: RedisSpace) => until('Redis is lost', () => !connection.isReachable);
const back = ({ connection }: RedisSpace) => until('Redis is back', () => connection.isReachable);

/** Very slow: nothing comes back during a test. */
const hourly = { burst: 5, intervalMs: 3_600_000 };

describe('an allowance', () => {
  test('is taken by all processes together, all of its parts or none', async () => {
    const [one, two] = (await processes(2)).map((space) => new RedisAllowances(space));
    const part = (key: string, amount: number) => ({ key: [key], allowance: hourly, amount });
    expect(await one!.take([part('a', 3)])).toBe(0);
    expect(await two!.take([part('a', 3)])).toBeGreaterThan(0);
    expect(await two!.take([part('b', 5), part('a', 3)])).toBeGreaterThan(0);
    expect(await two!.take([part('b', 5), part('a', 2)])).toBe(0);
    expect(await one!.take([part('b', 1)])).toBeGreaterThan(0);
    // more than a burst is taken when nothing else is, and what was not used is given back
    expect(await one!.take([part('c', 50)])).toBe(0);
    expect(await two!.take([part('c', 1)])).toBeGreaterThan(0);
    await one!.correct(part('c', -50));
    expect(await two!.take([part('c', 1)])).toBe(0);
  });

  test('a correction neither forgives what is taken nor forgets what is beyond the burst', async () => {
    const [space] = await processes(1);
    const allowances = new RedisAllowances(space!);
    const part = (amount: number) => ({ key: ['a'], allowance: hourly, amount });
    expect(await allowances.take([part(50)])).toBe(0);
    await allowances.correct(part(1));
    // 51 are taken: 47 hours until there is room for one beside four others
    expect(await allowances.take([part(1)])).toBeGreaterThan(46 * hourly.intervalMs);
    await allowances.correct(part(50));
    expect(await allowances.take([part(1)])).toBeGreaterThan(96 * hourly.intervalMs);
  });

  test('is known again after Redis was flushed', async () => {
    const [space] = await processes(1);
    const allowances = new RedisAllowances(space!);
    await space!.connection.client.script('FLUSH');
    expect(await allowances.take([{ key: ['a'], allowance: hourly, amount: 1 }])).toBe(0);
  });
});

describe('the rate of requests', () => {
  const caller = { ...anonymousCaller, proven: true, userId: 'ada' };
  const limiterOf = (space: RedisSpace) =>
    RateLimiter.of({ rateLimit: 60, rateLimitBurst: 5 }, sharedThrough(space).counts)!;
  const isRefused = (limiter: RateLimiter) => {
    try {
      limiter.takeFor(caller, '127.0.0.1');
      return false;
    } catch (error) {
      return (error as RunyardError).status === 429;
    }
  };

  test('holds over all processes, and in each one alone while Redis is away', async () => {
    const between = await ServerBetween.before(redisServer());
    const spaces = await processes(2, between.url);
    const [one, two] = spaces.map(limiterOf);
    for (let request = 0; request < 5; request += 1) one!.takeFor(caller, '127.0.0.1');
    // the other process receives it with its first request
    await until('the second process refuses', () => isRefused(two!));
    await between.refuse();
    await Promise.all(spaces.map(lost));
    const alone = limiterOf(spaces[0]!);
    for (let request = 0; request < 5; request += 1) expect(isRefused(alone)).toBe(false);
    expect(isRefused(alone)).toBe(true);
  });
});

test('failed attempts at one process count at the others', async () => {
  const between = await ServerBetween.before(redisServer());
  const spaces = await processes(2, between.url);
  const attemptsOf = (space: RedisSpace) =>
    new FailedAttempts(3, { name: 'tests', counts: sharedThrough(space).counts });
  const [one, two] = spaces.map(attemptsOf);
  for (let attempt = 0; attempt < 3; attempt += 1) one!.note('here', Date.now());
  await until('the second process refuses', () => two!.note('here', Date.now()) !== undefined);
  expect(two!.note('there', Date.now())).toBeUndefined();
  await between.refuse();
  await Promise.all(spaces.map(lost));
  // what it knows stays, and what is new counts by itself
  expect(two!.note('here', Date.now())).toBeDefined();
  const alone = attemptsOf(spaces[1]!);
  const noted = [1, 2, 3, 4].map(() => alone.note('here', Date.now()) !== undefined);
  expect(noted).toEqual([false, false, false, true]);
});

describe('the pace of a model', () => {
  const model = { id: 'gpt', provider: 'OpenAI' };
  const calling = { userId: 'ada', component: 'agent writer' };
  const paceOf = (space: RedisSpace, requestsPerMinute: number) =>
    new ModelPace(
      { gpt: { requestsPerMinute } },
      sharedThrough(space).modelTurns(systemTimers),
      systemTimers,
    );
  const signal = new AbortController().signal;

  test('is shared by processes; a process without Redis has its share, and shares again when it is back', async () => {
    const between = await ServerBetween.before(redisServer());
    const spaces = await processes(2, between.url);
    const turns = spaces.map((space) => sharedThrough(space).modelTurns(systemTimers));
    const rate = { requestsPerMinute: 40 };
    const takeAll = async (which: number) => {
      let taken = 0;
      while ((await turns[which]!.take('m', rate, 0)) === 0) taken += 1;
      return taken;
    };
    // a tenth of a minute at once, and whatever a slow machine lets pass
    expect(await takeAll(0)).toBeGreaterThanOrEqual(4);
    const wait = await turns[1]!.take('m', rate, 0);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60_000 / 36);
    await until('both know of each other', async () => {
      const { client } = spaces[0]!.connection;
      return (await client.zcard(spaces[0]!.name('model-callers'))) === 2;
    });
    await between.refuse();
    await Promise.all(spaces.map(lost));
    // its own count begins now: nothing stops because Redis is away
    expect(await takeAll(1)).toBeGreaterThanOrEqual(1);
    await between.open();
    await Promise.all(spaces.map(back));
    await until('there is a turn again', async () => (await turns[0]!.take('m', rate, 0)) === 0);
  });

  test('a provider that refuses one process is left alone by all', async () => {
    const [one, two] = (await processes(2)).map((space) => paceOf(space, 1_000_000));
    await Promise.all([one, two].map((pace) => pace!.enter(calling, model, signal)));
    expect(two!.restMs(model)).toBe(0);
    const refusal = { provider: 'OpenAI', kind: 'refused', status: 429, retryAfterMs: 50_000 } as const;
    await until('the other process is notified', () => {
      one!.failed(model, new ModelError('too many', refusal));
      return two!.restMs(model) > 0;
    });
  });
});

test('of the processes that are notified of a queued run one is chosen; without Redis all are', async () => {
  const between = await ServerBetween.before(redisServer());
  const spaces = await processes(3, between.url);
  const wakeUps = spaces.map((space) => sharedThrough(space).wakeUps);
  const chosen = (runId: string) => Promise.all(wakeUps.map((one) => one.isChosen(runId)));
  const [first, second] = await Promise.all([chosen('run 1'), chosen('run 2')]);
  expect(first.filter(Boolean)).toHaveLength(1);
  expect(second.filter(Boolean)).toHaveLength(1);
  between.silence();
  expect(await chosen('run 3')).toEqual([true, true, true]);
});
