import { expect, it, vi } from 'vitest';
import { CachedResponseStore } from '../../../src/capabilities/response-cache/store.js';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { RetentionStore } from '../../../src/capabilities/retention/store.js';
import { silentLog } from '../../../src/core/log.js';
import { InProcessResponses } from '../../../src/core/models/cache/in-process-responses.js';
import type { ResponseCache } from '../../../src/core/models/cache/response-cache.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';

const hour = 3_600_000;
const kept = (key: string, response: string, ttlMs = hour) => ({ key, response, sessionId: 's', ttlMs });

async function keepsUntilExpiry(cache: ResponseCache): Promise<void> {
  expect(await cache.get('a')).toBeUndefined();
  await cache.put(kept('a', 'one \u0000'));
  await cache.put(kept('a', 'two \u0000'));
  await cache.put(kept('gone', 'gone', -1));
  expect([await cache.get('a'), await cache.get('gone'), await cache.get('b')]).toEqual([
    'two \u0000',
    undefined,
    undefined,
  ]);
}

async function sweptAt(database: Database, at: number): Promise<void> {
  const settings = { eventRetentionHours: 0, traceRetentionDays: 0 };
  const timers = { ...systemTimers, now: () => at };
  const retention = new RetentionService(database, { settings, timers, log: silentLog });
  await retention.sweep();
  await retention.end();
}

it('without a database, keeps the newest thousand', async () => {
  const cache = new InProcessResponses(systemTimers);
  await keepsUntilExpiry(cache);
  for (let number = 0; number < 1_000; number += 1) await cache.put(kept(`n${number}`, 'text'));
  expect([await cache.get('a'), await cache.get('n0')]).toEqual([undefined, 'text']);
});

forEachDatabase((_dialect, freshPlace) => {
  it('keeps an answer until it expires, and no more than may be kept', async () => {
    const database = await (await freshPlace()).open();
    const cache = new CachedResponseStore(database);
    await keepsUntilExpiry(cache);
    await cache.put(kept('later', 'text', 3 * hour));
    const count = async () =>
      (await database.query.selectFrom('cached_responses').select('cache_key').execute())
        .map((row) => row.cache_key)
        .sort();
    await sweptAt(database, Date.now());
    expect(await count()).toEqual(['a', 'later']);

    const surplus = vi.spyOn(RetentionStore.prototype, 'surplusUntil');
    surplus.mockImplementation(function (this: RetentionStore) {
      surplus.mockRestore();
      return this.surplusUntil(1);
    });
    await sweptAt(database, Date.now());
    expect(await count()).toEqual(['later']);
    await sweptAt(database, Date.now() + 4 * hour);
    expect(await count()).toEqual([]);
  });
});
