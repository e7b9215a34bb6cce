import { expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { ServiceAccountTokens } from '../../../src/capabilities/service-accounts/account-tokens.js';
import { ServiceAccountStore } from '../../../src/capabilities/service-accounts/store.js';
import { newAccountToken } from '../../../src/capabilities/service-accounts/token.js';
import { silentLog } from '../../../src/core/log.js';
import { RunSlots } from '../../../src/core/runs/leases/run-slots.js';
import { begin, engineOver, executable, gate } from '../../heart/harness.js';
import { type DatabasePlace, freshPostgres } from '../../support/databases.js';
import { redisServer } from '../../support/redis.js';
import { ServerBetween } from '../../support/server-between.js';
import { until } from '../../support/until.js';

async function databasesOf(place: DatabasePlace, count: number, redis: string) {
  const databases = [];
  for (let index = 0; index < count; index += 1) databases.push(await place.openUnprepared(redis));
  return databases;
}

test('an account that was revoked in one process is trusted by no other one', async () => {
  const [one, two] = await databasesOf(await freshPostgres(), 2, redisServer());
  const { token, hash, prefix } = newAccountToken();
  const facts = { tokenPrefix: prefix, scopes: [], userId: null, createdBy: null, createdAt: 1 };
  const ends = { expiresAt: null, lastUsedAt: null, revokedAt: null };
  const store = new ServiceAccountStore(one!);
  await store.insert({ id: 'account', name: 'bot', ...facts, ...ends }, hash);
  const tokensOf = (database: typeof one) =>
    new ServiceAccountTokens({ database: database!, cacheSeconds: 3_600, log: silentLog });
  const [here, there] = [tokensOf(one), tokensOf(two)];
  const isTrusted = () =>
    there.verify(token, '127.0.0.1').then(
      () => true,
      () => false,
    );
  expect(await isTrusted()).toBe(true);
  await store.revoke('account', Date.now());
  // it is cached
  expect(await isTrusted()).toBe(true);
  here.forget('account');
  await until('the other process has forgotten it', async () => !(await isTrusted()));
});

test('three processes lose Redis with hundreds of runs in line: each begins once, and users keep their turns', async () => {
  const between = await ServerBetween.before(redisServer());
  const databases = await databasesOf(await freshPostgres(), 3, between.url);
  const began: string[] = [];
  const held = gate<void>();
  const component = executable('held', async ({ run }) => {
    began.push(`${run.userId} ${run.input.content}`);
    await held.promise;
    return '';
  });
  const engines = databases.map((database, index) =>
    engineOver(new RunStore(database), [component], {
      owner: `process ${index}`,
      notifications: database.notifications,
      wakeUps: database.shared?.wakeUps,
      slots: new RunSlots({ executing: 2, waiting: 1_000 }),
    }),
  );
  for (const engine of engines) await engine.open();
  const queue = (at: number, userId: string, content: string) =>
    begin(engines[at]!, component, {
      input: { content, media: [], options: { stream: false } },
      userId,
      background: true,
    });
  for (let index = 0; index < 150; index += 1) await queue(0, 'ada', String(index));
  await expect.poll(() => began.length).toBe(6);
  await queue(1, 'bob', 'first');
  await between.refuse();
  await queue(2, 'bob', 'second');
  held.open();
  await until('all have begun', () => began.length === 152);
  expect(new Set(began).size).toBe(152);
  expect(began.indexOf('bob first')).toBeLessThanOrEqual(12);
  expect(began.indexOf('bob second')).toBeLessThanOrEqual(18);
});
