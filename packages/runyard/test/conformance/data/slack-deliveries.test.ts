import { expect, test } from 'vitest';
import { Deliveries } from '../../../src/capabilities/slack/deliveries.js';
import { InstallationStore } from '../../../src/capabilities/slack/installations-store.js';
import { SlackStore } from '../../../src/capabilities/slack/store.js';
import { silentLog } from '../../../src/core/log.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { statement } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';
import { until } from '../../support/until.js';

forEachDatabase((_dialect, open) => {
  const delivery = (deliveryId: string, position: string) => ({
    mount: '/slack',
    deliveryId,
    lane: 'work' as const,
    orderKey: 'T1:C1:1',
    position,
    payload: '{}',
  });

  test('are stored once, taken by one process, and processed in the order of their thread', async () => {
    const place = await open();
    const store = new SlackStore(await place.open());
    expect(await store.put(delivery('b', '2'), 10)).toBe('stored');
    expect(await store.put(delivery('a', '1'), 10)).toBe('stored');
    expect(await store.put(delivery('a', '1'), 10)).toBe('known');
    expect(await store.put(delivery('c', '3'), 2)).toBe('full');
    const [first, ...others] = await store.claim('/slack', 'work', 'lease-1', 60_000, 5);
    expect([first?.deliveryId, others]).toEqual(['a', []]);
    expect(await store.claim('/slack', 'work', 'lease-2', 60_000, 5)).toEqual([]);
    expect([...(await store.renew(['lease-1', 'lease-2'], 60_000))]).toEqual(['lease-1']);
    expect(await store.assign(first!, 'run-1', 'T1:C1:1', '{}')).toBe(true);
    expect(await store.save(first!, '{"at":1}')).toBe(true);
    expect(await store.save({ ...first!, leaseId: 'another' }, '{}')).toBe(false);
    expect(await store.finish(first!, null)).toBe(true);
    expect((await store.claim('/slack', 'work', 'lease-3', 60_000, 5)).map((one) => one.deliveryId)).toEqual([
      'b',
    ]);
    expect((await store.runsOfThread('/slack', 'T1:C1:1', 5)).map((one) => one.runId)).toEqual(['run-1']);
    expect(await store.removeOld(-1_000, 10)).toBe(1);
    expect(await store.removeOldRuns(-1_000, -1_000, 10)).toBe(1);
  });

  test('are given up when no attempt came to its end, because the process ended in each', async () => {
    const place = await open();
    const store = new SlackStore(await place.open());
    await store.put(delivery('deadly', '1'), 10);
    for (let attempt = 1; attempt <= 10; attempt++)
      expect(await store.claim('/slack', 'work', `lease-${attempt}`, -1_000, 5)).toHaveLength(1);
    const handled: string[] = [];
    const handler = async ({ deliveryId }: { deliveryId: string }) => {
      handled.push(deliveryId);
      return { kind: 'done' as const };
    };
    const handlers = new Map([['/slack', handler]]);
    const deliveries = new Deliveries({ store, handlers, timers: systemTimers, log: silentLog });
    deliveries.start();
    await until('it is given up', async () => (await store.dueInMs('/slack')) === undefined);
    await deliveries.stop(0);
    expect(handled).toEqual([]);
  });

  test('wait a day while Slack cannot be reached: such an attempt does not count', async () => {
    const place = await open();
    const database = await place.open();
    const store = new SlackStore(database);
    const names = ['unreachable', 'old', 'refused'];
    for (const name of names) await store.put({ ...delivery(name, '1'), orderKey: name }, 10);
    for (let attempt = 1; attempt <= 9; attempt++)
      expect(await store.claim('/slack', 'work', `lease-${attempt}`, -1_000, 5)).toHaveLength(3);
    const aDayAgo = `UPDATE slack_deliveries SET created_at = created_at - 90000000 WHERE delivery_id = 'old'`;
    await database.change(statement('test_old', aDayAgo), []);
    const lasts: unknown[] = [];
    const handler = async ({ deliveryId, isLast }: { deliveryId: string; isLast: boolean }) => {
      lasts.push([deliveryId, isLast]);
      return { kind: 'retry' as const, reason: 'no', unreachable: deliveryId !== 'refused' };
    };
    const handlers = new Map([['/slack', handler]]);
    const deliveries = new Deliveries({ store, handlers, timers: systemTimers, log: silentLog });
    deliveries.start();
    await until('all were attempted', () => lasts.length === names.length);
    await deliveries.stop(1_000);
    expect(lasts.sort()).toEqual(names.sort().map((name) => [name, true]));
    await database.change(
      statement('test_due', 'UPDATE slack_deliveries SET next_at = 0 WHERE next_at > 0'),
      [],
    );
    const left = await store.claim('/slack', 'work', 'lease', 60_000, 5);
    expect(left).toMatchObject([{ deliveryId: 'unreachable', attempts: 10 }]);
  });

  test('are given up by a word of their thread unless they have begun', async () => {
    const place = await open();
    const store = new SlackStore(await place.open());
    for (const [name, position] of [
      ['a', '1'],
      ['b', '2'],
      ['later', '4'],
    ] as const)
      await store.put(delivery(name, position), 10);
    const [held] = await store.claim('/slack', 'work', 'lease-1', 60_000, 5);
    const word = { ...delivery('stop', '3'), orderKey: 'stop' };
    const openOnes = () => store.openBefore(word, 'T1:C1:1', '3', 5);
    expect((await openOnes()).map(({ deliveryId }) => deliveryId)).toEqual(['a', 'b']);
    const [first, second] = await openOnes();
    expect([await store.drop(first!, 'no'), await store.drop(second!, 'no')]).toEqual([false, true]);
    await store.assign(held!, 'run-9', 'T1:C1:1', '{}');
    await store.release(held!);
    expect(await openOnes()).toMatchObject([{ deliveryId: 'a', runId: 'run-9' }]);
    expect(await store.drop(first!, 'no')).toBe(false);
  });

  test('the token of a later installation is not removed with that of an earlier one', async () => {
    const place = await open();
    const store = new InstallationStore(await place.open());
    const one = { ownerId: 'T1', name: '', botUserId: 'U', scopes: '', installedBy: '' };
    await store.put('/slack', { ...one, sealedToken: 'first' });
    await store.put('/slack', { ...one, sealedToken: 'second' });
    await store.remove('/slack', 'T1', 'first');
    expect(await store.find('/slack', 'T1')).toMatchObject({ sealedToken: 'second' });
    await store.remove('/slack', 'T1', 'second');
    expect(await store.find('/slack', 'T1')).toBeUndefined();
  });
});
