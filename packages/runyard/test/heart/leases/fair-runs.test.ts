import { expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { RunSlots } from '../../../src/core/runs/leases/run-slots.js';
import type { Priority } from '../../../src/core/runs/priority.js';
import { freshPostgres, freshSqlite } from '../../support/databases.js';
import { begin, engineOver, executable, gate } from '../harness.js';

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
  await expect.poll(() => began.length, { timeout: 60_000 }).toBe(201);
  const his = began.indexOf('bob');
  // at most one further run in each slot while his was on its way
  expect(his).toBeGreaterThanOrEqual(6);
  expect(his).toBeLessThanOrEqual(12);
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
