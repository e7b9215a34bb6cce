import { expect, test } from 'vitest';
import type { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { errors } from '../../../src/core/errors/errors.js';
import { silentLog } from '../../../src/core/log.js';
import type { EngineOptions } from '../../../src/core/runs/engine-options.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { until } from '../../support/until.js';
import { begin, changed, engineOver, executable, freshStore, gate } from '../harness.js';

/** Runs whose process died in their first execution. `executed` has the attempts of those that came after it. */
async function abandoned(count: number) {
  const held = gate();
  const executed: number[] = [];
  const component = executable('a', async (context) => {
    if (context.run.attempt === 1) return new Promise(() => {});
    executed.push(context.run.attempt);
    await held.promise;
    return `done in attempt ${context.run.attempt}`;
  });
  const store = await freshStore();
  const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
  const runIds: string[] = [];
  for (let begun = 0; begun < count; begun += 1)
    runIds.push((await begin(dead, component, { background: true })).runId);
  await until('all leases are over', async () => (await store.leases.expired(10, 0)).length === count);
  const runOf = async (runId: string) => (await store.load(runId))!.run;
  const completed = async (runId: string) => (await runOf(runId)).status === 'completed';
  return { store, component, runIds, runOf, completed, held, executed };
}

/** An engine whose time the test sets, and the errors that it logs. */
function timedEngine(
  { component }: Awaited<ReturnType<typeof abandoned>>,
  store: RunStore,
  options: Partial<EngineOptions> = {},
) {
  const logged: string[] = [];
  const log = { ...silentLog, error: (_facts: object, text: string) => void logged.push(text) };
  const clock = { now: Date.now() };
  const timers = { ...systemTimers, now: () => clock.now };
  return { engine: engineOver(store, [component], { timers, log, ...options }), clock, logged };
}

test('a process that lost a run again while it took it over leaves it to the one that has it', async () => {
  const setUp = await abandoned(1);
  const { store, component, held, executed } = setUp;
  const runId = setUp.runIds[0]!;
  const fast = engineOver(store, [component], { owner: 'fast' });
  const slowStore = changed(store, {
    // between its claim and its look at the run, the lease ends and the other process claims the run
    load: async (id) => {
      await until(
        'the lease of the slow process is over',
        async () => (await store.leases.expired(1, 0)).length > 0,
      );
      await fast.recover();
      return store.load(id);
    },
  });
  const slow = engineOver(slowStore, [component], { owner: 'slow', leaseMs: 1 });
  await slow.recover();
  expect(slow.liveCount).toBe(0);
  const handle = fast.handle(runId)!;
  held.open();
  expect((await handle.ended).run.result?.content).toBe('done in attempt 3');
  expect(executed).toEqual([3]);
  expect(await setUp.runOf(runId)).toMatchObject({ status: 'completed', attempt: 3 });
});

test('an outage does not count against the runs that it kept from being taken over', async () => {
  const setUp = await abandoned(3);
  let isAway = true;
  let claims = 0;
  const store = changed(setUp.store, {
    leases: changed(setUp.store.leases, {
      claim: async (claim) => {
        claims += 1;
        if (isAway) throw errors.databaseOutage('lost');
        return setUp.store.leases.claim(claim);
      },
    }),
  });
  const { engine, logged } = timedEngine(setUp, store);
  setUp.held.open();
  await engine.recover();
  // the database is away for all of them
  expect([claims, logged]).toEqual([1, []]);
  isAway = false;
  // not a moment later
  await engine.recover();
  expect(claims).toBe(4);
  for (const runId of setUp.runIds) await until('the run is completed', () => setUp.completed(runId));
});

test('a run that cannot be taken over is held back for a while, and the others are not', async () => {
  const setUp = await abandoned(2);
  const [broken, sound] = setUp.runIds as [string, string];
  let isBroken = true;
  const store = changed(setUp.store, {
    leases: changed(setUp.store.leases, {
      claim: async (claim) => {
        if (isBroken && claim.runId === broken) throw new Error('a row that cannot be read');
        return setUp.store.leases.claim(claim);
      },
    }),
  });
  const { engine, clock, logged } = timedEngine(setUp, store);
  setUp.held.open();
  await engine.recover();
  await until('the other run is completed', () => setUp.completed(sound));
  const refused = 'an abandoned run could not be taken over';
  for (let look = 0; look < 5; look += 1) await engine.recover();
  expect(logged).toEqual([refused]);
  // each time for longer
  clock.now += 1_000;
  await engine.recover();
  clock.now += 1_000;
  await engine.recover();
  expect(logged).toEqual([refused, refused]);
  isBroken = false;
  await engine.recover();
  expect((await setUp.runOf(broken)).attempt).toBe(1);
  clock.now += 1_000;
  await engine.recover();
  await until('the run is completed', () => setUp.completed(broken));
});
