import { expect, test } from 'vitest';
import { anyRecord } from '../../src/core/runs/journal/records.js';
import { answers, begin, engineOver, executable, freshStore, gate } from './harness.js';

test('a run whose lease ended while it was being taken over is executed once', async () => {
  const store = await freshStore();
  const commit = store.commit.bind(store);
  const landed = gate();
  const acknowledged = gate();
  store.commit = async (writes) => {
    const refused = await commit(writes);
    if (writes.some(({ claims }) => claims !== undefined)) {
      landed.open();
      await acknowledged.promise;
    }
    return refused;
  };
  const entries: string[] = [];
  const door = gate();
  const component = executable('a', async (context) => {
    await context.wait({ key: 'q', kind: 'question', data: {} });
    entries.push(context.entry);
    await door.promise;
    return 'done';
  });
  const engine = engineOver(store, [component], { leaseMs: 1 });
  const { runId, ended } = await begin(engine, component);
  await ended;
  const answering = engine.answer(runId, answers({ 'wait:q': 'yes' }));
  await landed.promise;
  await expect.poll(async () => (await store.leases.expired(1, 0)).length).toBe(1);
  await engine.recover();
  acknowledged.open();
  const handle = await answering;
  expect(engine.handle(runId)?.run.attempt).toBe(handle.run.attempt);
  door.open();
  expect((await handle.ended).run).toMatchObject({ status: 'completed', attempt: 3 });
  expect(entries).toEqual(['continued']);
});

test('an execution that lost its run to a later one of the same process ends without it', async () => {
  const store = await freshStore();
  const doors = [gate(), gate(), gate()];
  const component = executable('a', async (context) => {
    const { attempt } = context.run;
    await doors[attempt - 1]!.promise;
    return await context.step('s', { kind: 'tool', name: 's', record: anyRecord }, async () => attempt);
  });
  const isOver = () => expect.poll(async () => (await store.leases.expired(1, 0)).length).toBe(1);
  const dead = engineOver(store, [component], { leaseMs: 1 });
  const { runId } = await begin(dead, component, { background: true });
  await isOver();
  // a request to continue reads the run before the process takes it over, and is slower than the lease
  const { run } = (await store.load(runId))!;
  const engine = engineOver(store, [component], { leaseMs: 1 });
  await engine.recover();
  const earlier = engine.handle(runId)!;
  await isOver();
  const later = (await engine.resume({ ...run, attempt: earlier.run.attempt }))!;
  doors[1]!.open();
  await expect(earlier.ended).rejects.toMatchObject({ code: 'run_fenced' });
  expect(engine.handle(runId)?.run.attempt).toBe(3);
  doors[2]!.open();
  expect((await later.ended).run).toMatchObject({ status: 'completed', attempt: 3 });
  expect(engine.liveCount).toBe(0);
});

test.each(['load', 'session'] as const)(
  'an abandoned run that is lost again before the %s of it is read stays with its new holder',
  async (read) => {
    const store = await freshStore();
    const component = executable('a', () => new Promise(() => {}));
    const dead = engineOver(store, [component]);
    const { runId } = await begin(dead, component, { background: true });
    await dead.stop(0);
    const owner = engineOver(store, [component]);
    const { claim } = store.leases;
    const reading = store[read] as (id: string) => Promise<never>;
    let isClaimed = false;
    store.leases.claim = (wanted) => {
      isClaimed = true;
      return claim.call(store.leases, wanted);
    };
    store[read] = async (id: string): Promise<never> => {
      if (isClaimed) {
        // the process that cancels is slow: its lease is over, and the other one finds the run
        Object.assign(store, { [read]: reading });
        store.leases.claim = claim;
        await expect.poll(async () => (await store.leases.expired(1, 0)).length).toBe(1);
        await owner.open();
        await expect.poll(() => owner.handle(runId)?.run.status).toBe('running');
      }
      return reading.call(store, id);
    };
    const slow = engineOver(store, [component], { leaseMs: 1 });
    const request = { runId, kind: 'agent', componentId: 'a', sessionId: null, userId: null } as const;
    await slow.cancel(runId, { ...request, reason: 'enough', requestedAt: Date.now() });
    // it is asked to end it, and does
    expect((await store.load(runId))?.run).toMatchObject({ status: 'cancelled', attempt: 3 });
    await expect.poll(() => owner.liveCount).toBe(0);
  },
);
