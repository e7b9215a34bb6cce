import { expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import type { Priority } from '../../../src/core/runs/leases/priority.js';
import { RunSlots } from '../../../src/core/runs/leases/run-slots.js';
import { InProcessNotifications } from '../../../src/core/runs/notifications/in-process-notifications.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { freshPostgres, freshSqlite } from '../../support/databases.js';
import { patience } from '../../support/patience.js';
import { begin, changed, engineOver, executable, gate } from '../harness.js';

/** Records whose runs begin, in their order; each ends at once when the gate is open. */
function recorded() {
  const began: string[] = [];
  const held = gate<void>();
  const component = executable('held', async ({ run }) => {
    began.push(run.userId ?? 'nobody');
    await held.promise;
    return '';
  });
  return { component, began, held };
}

const asked = (userId: string, priority?: Priority) => ({
  input: { content: userId, media: [], options: { stream: true, ...(priority && { priority }) } },
  userId,
  background: true,
});

const slots = (executing: number) => new RunSlots({ executing, waiting: 1_000 });

test('three processes: who queues hundreds of runs delays the one run of another user by one per slot', async () => {
  const place = await freshPostgres();
  const { component, began, held } = recorded();
  const engines = [];
  for (const index of [0, 1, 2]) {
    const store = new RunStore(await place.open());
    engines.push(engineOver(store, [component], { owner: `process ${index}`, slots: slots(2) }));
  }
  const [one, two] = engines;
  const queued = Array.from({ length: 200 }, () => begin(one!, component, asked('ada')));
  await Promise.all(queued);
  for (const engine of engines) await engine.open();
  // all slots are taken by her runs
  await expect.poll(() => began.length).toBe(6);
  await begin(two!, component, asked('bob'));
  held.open();
  await expect.poll(() => began.length, { timeout: patience() }).toBe(201);
  const his = began.indexOf('bob');
  // at most one further run in each slot while his was on its way
  expect(his).toBeGreaterThanOrEqual(6);
  expect(his).toBeLessThanOrEqual(12);
});

test('a slot that is free goes to the next run of all processes, not of the own one', async () => {
  const place = await freshPostgres();
  const began: string[] = [];
  const [short, long] = [gate<void>(), gate<void>()];
  const component = executable('held', async ({ run }) => {
    began.push(run.userId ?? 'nobody');
    await (run.userId === 'zoe' ? long : short).promise;
    return '';
  });
  const engines = [];
  for (const index of [0, 1]) {
    const store = new RunStore(await place.open());
    engines.push(engineOver(store, [component], { owner: `process ${index}`, slots: slots(1) }));
  }
  const [one, two] = engines;
  for (const engine of engines) await engine.open();
  await begin(two!, component, asked('zoe'));
  for (let count = 0; count < 6; count += 1) await begin(one!, component, asked('ada'));
  await begin(two!, component, asked('bob'));
  short.open();
  await expect.poll(() => began.length, { timeout: patience() }).toBe(8);
  // the run of zoe keeps the slot of the process that accepted his
  expect(began).toEqual(['zoe', 'ada', 'ada', 'bob', 'ada', 'ada', 'ada', 'ada']);
  long.open();
});

test('one process: users and priorities have their order in memory too', async () => {
  const { component, began, held } = recorded();
  const store = new RunStore(await (await freshSqlite()).open());
  const engine = engineOver(store, [component], { slots: slots(1), alone: true });
  await engine.open();
  const all = [];
  for (const userId of ['ada', 'ada', 'ada', 'bob']) all.push(await begin(engine, component, asked(userId)));
  all.push(await begin(engine, component, asked('eve', 'low')));
  all.push(await begin(engine, component, asked('zoe', 'high')));
  held.open();
  for (const { ended } of all) await ended;
  expect(began).toEqual(['ada', 'zoe', 'ada', 'bob', 'ada', 'eve']);
});

test('a queued run wakes the process that is chosen for it, and is found without one', async () => {
  const { component, began, held } = recorded();
  const store = new RunStore(await (await freshSqlite()).open());
  const notifications = new InProcessNotifications();
  const wanted: string[] = [];
  const looks: string[] = [];
  const engineOf = (owner: string, isChosen: boolean, executing: number) => {
    const wakeUps = {
      isChosen: async (runId: string) => {
        wanted.push(`${owner} ${runId}`);
        return isChosen;
      },
    };
    const queue = changed(store.queue, {
      waiting: (...page) => {
        looks.push(owner);
        return store.queue.waiting(...page);
      },
    });
    // no poll helps: only what hints cause happens here
    const timers = { ...systemTimers, every: () => () => {} };
    const how = { owner, notifications, wakeUps, queue, timers, slots: slots(executing) };
    return engineOver(store, [component], how);
  };
  const full = engineOf('full', false, 1);
  const passed = engineOf('passed over', false, 1);
  const chosen = engineOf('chosen', true, 1);
  for (const engine of [full, passed, chosen]) {
    await engine.open();
    await engine.recover();
  }
  looks.length = 0;
  await begin(full, component, asked('ada'));
  const { runId } = await begin(full, component, asked('bob'));
  await expect.poll(() => began).toEqual(['ada', 'bob']);
  expect((await store.load(runId))?.run.leaseOwner).toBe('chosen');
  // one without a free slot does not ask
  expect(wanted.sort()).toEqual([`chosen ${runId}`, `passed over ${runId}`]);
  expect(new Set(looks)).toEqual(new Set(['chosen']));
  held.open();
});
