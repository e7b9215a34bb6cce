import { expect, test } from 'vitest';
import { RunSlots } from '../../../src/core/runs/leases/run-slots.js';
import { begin, engineOver, executable, freshStore, gate } from '../harness.js';

/** A component whose runs wait until they are let go, and that notes in which order they began. */
function queueing() {
  const begun: string[] = [];
  const doors = new Map<string, ReturnType<typeof gate<void>>>();
  const doorOf = (runId: string) => {
    if (!doors.has(runId)) doors.set(runId, gate());
    return doors.get(runId)!;
  };
  const component = executable('a', async ({ run }) => {
    begun.push(run.runId);
    await doorOf(run.runId).promise;
  });
  return { begun, component, letGo: (runId: string) => doorOf(runId).open(undefined) };
}

test('runs beyond the bound wait in the order in which they came', async () => {
  const store = await freshStore();
  const { begun, component, letGo } = queueing();
  const slots = new RunSlots({ executing: 2, waiting: 10 });
  const engine = engineOver(store, [component], { slots });
  const handles = [];
  for (const runId of ['one', 'two', 'three', 'four'])
    handles.push(await begin(engine, component, { runId, background: true }));
  await expect.poll(() => begun).toEqual(['one', 'two']);
  expect([slots.executing, slots.waiting]).toEqual([2, 2]);
  expect((await store.load('four'))?.run.status).toBe('pending');
  letGo('two');
  await expect.poll(() => begun).toEqual(['one', 'two', 'three']);
  for (const runId of ['one', 'three', 'four']) letGo(runId);
  const ended = await Promise.all(handles.map(({ ended }) => ended));
  expect(ended.map(({ run }) => run.status)).toEqual(Array(4).fill('completed'));
  expect([slots.executing, slots.waiting]).toEqual([0, 0]);
});

test('a run that would wait behind too many is refused, and nothing of it is stored', async () => {
  const store = await freshStore();
  const { component, letGo } = queueing();
  const engine = engineOver(store, [component], { slots: new RunSlots({ executing: 1, waiting: 1 }) });
  const first = await begin(engine, component, { runId: 'one' });
  const second = await begin(engine, component, { runId: 'two' });
  await expect(begin(engine, component, { runId: 'three' })).rejects.toMatchObject({
    code: 'too_many_runs',
    status: 503,
    options: { headers: { 'retry-after': expect.stringMatching(/^\d+$/) } },
  });
  expect(await store.load('three')).toBeUndefined();
  letGo('one');
  letGo('two');
  await Promise.all([first.ended, second.ended]);
  const third = await begin(engine, component, { runId: 'three' });
  letGo('three');
  expect((await third.ended).run.status).toBe('completed');
});

test('a run that waits for its turn can be cancelled, and takes no turn', async () => {
  const store = await freshStore();
  const { begun, component, letGo } = queueing();
  const slots = new RunSlots({ executing: 1, waiting: 5 });
  const engine = engineOver(store, [component], { slots });
  const first = await begin(engine, component, { runId: 'one' });
  const second = await begin(engine, component, { runId: 'two' });
  second.cancel('not needed');
  expect((await second.ended).run).toMatchObject({ status: 'cancelled', result: { content: 'not needed' } });
  letGo('one');
  await first.ended;
  expect(begun).toEqual(['one']);
  expect(slots.executing).toBe(0);
});

test('a stop hands over the runs that waited for their turn', async () => {
  const store = await freshStore();
  const { component, letGo } = queueing();
  const engine = engineOver(store, [component], { slots: new RunSlots({ executing: 1, waiting: 5 }) });
  const first = await begin(engine, component, { runId: 'one', background: true });
  const second = await begin(engine, component, { runId: 'two', background: true });
  await engine.stop(1);
  await Promise.allSettled([first.ended, second.ended]);
  letGo('one');
  letGo('two');
  await engineOver(store, [component]).recover();
  for (const runId of ['one', 'two'])
    await expect.poll(async () => (await store.load(runId))?.run.status).toBe('completed');
});

test('an abandoned run that a full process finds resumes when there is room', async () => {
  const store = await freshStore();
  const { begun, component, letGo } = queueing();
  const dead = engineOver(store, [component]);
  for (const runId of ['one', 'two', 'three']) await begin(dead, component, { runId, background: true });
  await dead.stop(1);
  begun.length = 0;
  const slots = new RunSlots({ executing: 1, waiting: 5 });
  const next = engineOver(store, [component], { slots });
  await next.recover();
  for (const runId of ['one', 'two', 'three']) letGo(runId);
  for (const runId of ['one', 'two', 'three'])
    await expect.poll(async () => (await store.load(runId))?.run.status).toBe('completed');
});

test('of many that come at once no more are taken in than there is room for', async () => {
  const store = await freshStore();
  const { component, letGo } = queueing();
  const engine = engineOver(store, [component], { slots: new RunSlots({ executing: 1, waiting: 1 }) });
  const runIds = Array.from({ length: 10 }, (_, position) => `run ${position}`);
  const all = await Promise.allSettled(
    runIds.map((runId) => begin(engine, component, { runId, background: true })),
  );
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  for (const runId of runIds) letGo(runId);
  await Promise.all(all.map((one) => one.status === 'fulfilled' && one.value.ended));
  const later = await begin(engine, component, { runId: 'later', background: true });
  letGo('later');
  expect((await later.ended).run.status).toBe('completed');
});
