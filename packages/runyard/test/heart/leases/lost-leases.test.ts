import { expect, test } from 'vitest';
import { anyRecord } from '../../../src/core/runs/journal/records.js';
import type { Timers } from '../../../src/core/timers.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { begin, changed, engineOver, executable, freshStore, gate } from '../harness.js';

/** Repeats nothing by itself: a test says when leases are renewed. */
function heldTimers(): Timers & { renew(): void; clock: number } {
  const work: (() => void)[] = [];
  return {
    ...systemTimers,
    clock: 0,
    elapsed() {
      return performance.now() + this.clock;
    },
    // the first of what an engine repeats is the renewal
    every: (_ms, each) => {
      work.push(each);
      return () => {};
    },
    renew: () => work[0]!(),
  };
}

const hour = 3_600_000;

/** Two steps; the test lets each end. `begun` says which have begun. */
function twoSteps() {
  const [first, second] = [gate(), gate()];
  const begun: string[] = [];
  const component = executable('two', async (context) => {
    for (const [key, held] of [
      ['one', first],
      ['two', second],
    ] as const) {
      await context.step(key, { kind: 'tool', name: key, record: anyRecord }, async () => {
        begun.push(`${context.run.attempt}:${key}`);
        await held.promise;
        return key;
      });
    }
    return 'done';
  });
  return { component, begun, first, second };
}

test('an execution whose lease is lost ends at the renewal that says so, and begins no further step', async () => {
  const { component, begun, first } = twoSteps();
  const store = await freshStore();
  const timers = heldTimers();
  const engine = engineOver(store, [component], { timers, owner: 'loser', leaseMs: 60_000 });
  await engine.open();
  const handle = await begin(engine, component, { background: true });
  await expect.poll(() => begun).toEqual(['1:one']);
  // nothing is left to write: no refused write is to say it first
  await handle.stored();
  await store.leases.release('loser');
  const claim = { runId: handle.runId, attempt: 1, owner: 'other', leaseMs: hour, indexGap: 0 };
  await store.leases.claim(claim);
  timers.renew();
  await expect(handle.ended).rejects.toMatchObject({ code: 'run_fenced' });
  first.open();
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(['1:one']);
  expect(engine.handle(handle.runId)).toBeUndefined();
  expect((await store.load(handle.runId))?.run).toMatchObject({ attempt: 2, leaseOwner: 'other' });
});

test('a process that stood still for longer than its lease asks before it begins the next step', async () => {
  const { component, begun, first } = twoSteps();
  const store = await freshStore();
  const timers = heldTimers();
  const slow = engineOver(store, [component], { timers, owner: 'slow', leaseMs: 60_000 });
  await slow.open();
  const handle = await begin(slow, component, { background: true });
  await expect.poll(() => begun).toEqual(['1:one']);
  // a write that lands after the release would take the lease back
  await handle.stored();
  timers.clock += 60_000;
  await store.leases.release('slow');
  await store.leases.claim({ runId: handle.runId, attempt: 1, owner: 'other', leaseMs: hour, indexGap: 0 });
  first.open();
  await expect(handle.ended).rejects.toMatchObject({ code: 'run_fenced' });
  expect(begun).toEqual(['1:one']);
});

test('one that stood still and whose lease was not taken continues', async () => {
  const { component, begun, first, second } = twoSteps();
  const store = await freshStore();
  const timers = heldTimers();
  const engine = engineOver(store, [component], { timers, leaseMs: 60_000 });
  await engine.open();
  const handle = await begin(engine, component, { background: true });
  await expect.poll(() => begun).toEqual(['1:one']);
  timers.clock += 60_000;
  first.open();
  await expect.poll(() => begun).toEqual(['1:one', '1:two']);
  second.open();
  expect((await handle.ended).run.status).toBe('completed');
});

test('a lease counts from the request that prolonged it, not from a late answer', async () => {
  const { component, begun, first, second } = twoSteps();
  const store = await freshStore();
  const timers = heldTimers();
  let answered = 0;
  const journal = changed(store, {
    leases: changed(store.leases, {
      renew: async (...given) => {
        const lost = await store.leases.renew(...given);
        answered += 1;
        timers.clock += answered === 1 ? 55_000 : 0;
        return lost;
      },
    }),
  });
  const engine = engineOver(journal, [component], { timers, leaseMs: 60_000 });
  await engine.open();
  const handle = await begin(engine, component, { background: true });
  await expect.poll(() => begun).toEqual(['1:one']);
  // a write renews the lease too: none is to come in between
  await handle.stored();
  timers.renew();
  await expect.poll(() => answered).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  first.open();
  second.open();
  expect((await handle.ended).run.status).toBe('completed');
  expect(answered).toBe(2);
});

test('no step begins while leases cannot be renewed for longer than they last', async () => {
  const { component, begun, first, second } = twoSteps();
  const store = await freshStore();
  const timers = heldTimers();
  const back = gate();
  let away = false;
  let asked = 0;
  const journal = changed(store, {
    commit: async (writes) => {
      if (away) await back.promise;
      return store.commit(writes);
    },
    leases: changed(store.leases, {
      renew: async (...given) => {
        asked += 1;
        if (away) throw new Error('the database is away');
        return store.leases.renew(...given);
      },
    }),
  });
  const engine = engineOver(journal, [component], { timers, leaseMs: 60_000 });
  await engine.open();
  const handle = await begin(engine, component, { background: true });
  await expect.poll(() => begun).toEqual(['1:one']);
  away = true;
  timers.clock += 60_000;
  first.open();
  await expect.poll(() => asked).toBeGreaterThan(1);
  expect(begun).toEqual(['1:one']);
  away = false;
  back.open();
  await expect.poll(() => begun).toEqual(['1:one', '1:two']);
  second.open();
  expect((await handle.ended).run.status).toBe('completed');
});

test('a run that is about to be stored as ended, or is not stored yet, is not among the leases that are renewed', async () => {
  const store = await freshStore();
  const timers = heldTimers();
  const storing = gate();
  let held = false;
  const renewed: string[][] = [];
  const journal = changed(store, {
    commit: async (writes) => {
      if (held) await storing.promise;
      return store.commit(writes);
    },
    leases: changed(store.leases, {
      renew: async (owner, runs, leaseMs) => {
        renewed.push(runs.map(({ runId }) => runId));
        return store.leases.renew(owner, runs, leaseMs);
      },
    }),
  });
  const { component, begun, first, second } = twoSteps();
  const ending = gate();
  const quick = executable('quick', async () => ending.promise);
  const engine = engineOver(journal, [component, quick], { timers });
  await engine.open();
  const running = await begin(engine, component, { background: true });
  const ended = await begin(engine, quick, { background: true });
  await expect.poll(() => begun.length).toBe(1);
  held = true;
  ending.open();
  await expect.poll(() => ended.run.status).toBe('completed');
  const unstored = await begin(engine, quick);
  timers.renew();
  await expect.poll(() => renewed).toEqual([[running.runId]]);
  storing.open();
  for (const { open } of [first, second]) open();
  for (const handle of [running, ended, unstored]) expect((await handle.ended).run.status).toBe('completed');
});
