import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../../src/core/json.js';
import type { RunEngine } from '../../../src/core/runs/engine.js';
import { sendEvent } from '../../../src/core/workflows/send-event.js';
import { parallel, step, type Workflow, workflow } from '../../../src/index.js';
import { begin, changed, engineOver, freshStore, gate, goOn } from '../harness.js';
import { ran, workflowRun } from './workflow-runs.js';

const Paid = z.object({ euros: z.number() });

/** Waits for a payment and answers with its amount. */
const paying = (more: { timeoutMs: number } | undefined = undefined) =>
  workflow({
    id: 'w',
    steps: [
      step({
        name: 'pay',
        run: async ({ waitForEvent }) => String((await waitForEvent('paid', Paid, more))?.euros),
      }),
    ],
  });

type Ran = Awaited<ReturnType<typeof ran>>;

function send(
  { engine, store, runId }: Pick<Ran, 'engine' | 'store' | 'runId'>,
  data: Json,
  eventId?: string,
) {
  const site = { engine, journal: store, receivedEvents: store.receivedEvents };
  return sendEvent(site, runId, 'paid', data, eventId === undefined ? {} : { eventId });
}

async function ended(engine: RunEngine, runId: string) {
  return (await engine.handle(runId)!.ended).run;
}

test('the run waits for the event, refuses data that does not fit, and continues with data that does', async () => {
  const run = await ran(paying());
  const { requirements, run: paused } = await run.look();
  expect(paused.status).toBe('paused');
  expect(requirements.waits).toMatchObject([
    { kind: 'event', event_name: 'paid', step_name: 'pay', timeout_at: null },
  ]);
  await expect(send(run, { euros: 'many' })).rejects.toMatchObject({ code: 'invalid_request', status: 422 });
  expect(await send(run, { euros: 5 }, 'e1')).toEqual({ eventId: 'e1', status: 'delivered' });
  expect(await ended(run.engine, run.runId)).toMatchObject({ status: 'completed', result: { content: '5' } });
  await expect(send(run, { euros: 5 })).rejects.toMatchObject({ code: 'run_ended', status: 409 });
});

test('an event that comes before the wait is kept; the same one again is one event', async () => {
  const [reached, open] = [gate(), gate()];
  const flow = workflow({
    id: 'w',
    steps: [
      step({
        name: 'pay',
        run: async ({ waitForEvent }) => {
          reached.open();
          await open.promise;
          const first = await waitForEvent('paid', Paid);
          const second = await waitForEvent('paid', Paid);
          return `${first.euros} ${second.euros}`;
        },
      }),
    ],
  });
  const store = await freshStore();
  const engine = engineOver(store, [flow]);
  const handle = await begin(engine, flow);
  const run = workflowRun(store, engine, handle.runId);
  await reached.promise;
  expect(await send(run, { euros: 1 }, 'a')).toEqual({ eventId: 'a', status: 'kept' });
  expect(await send(run, { euros: 1 }, 'a')).toEqual({ eventId: 'a', status: 'kept' });
  await expect(send(run, { euros: 2 }, 'a')).rejects.toMatchObject({ code: 'event_id_taken' });
  // before the wait, nothing is known about what fits
  await send(run, 'nonsense', 'b');
  open.open();
  expect((await handle.ended).run.status).toBe('paused');
  await send(run, { euros: 3 }, 'c');
  expect(await ended(engine, handle.runId)).toMatchObject({ result: { content: '1 3' } });
});

test('an event that comes while the run is about to pause is not lost', async () => {
  const open = gate();
  const flow = workflow({
    id: 'w',
    steps: [
      parallel([
        step({ name: 'pay', run: async ({ waitForEvent }) => (await waitForEvent('paid', Paid)).euros }),
        step({ name: 'other', run: () => open.promise.then(() => 'done') }),
      ]),
    ],
  });
  const store = await freshStore();
  const engine = engineOver(store, [flow]);
  const handle = await begin(engine, flow, { background: true });
  const run = workflowRun(store, engine, handle.runId);
  await expect
    .poll(async () => (await run.look()).steps.map(({ key }) => key))
    .toContain('wait:node:0.0:event:1');
  expect(await send(run, { euros: 4 })).toMatchObject({ status: 'kept' });
  open.open();
  expect((await handle.ended).run.status).toBe('paused');
  await engine.recover();
  await engine.handle(handle.runId)?.ended;
  const { results } = await run.look();
  expect(results[0]!.steps!.map(({ content }) => content)).toEqual([4, 'done']);
});

test('after a crash the function gets the same event, and the next wait the next one', async () => {
  const [reached, sent] = [gate(), gate()];
  let executions = 0;
  const make = (): Workflow =>
    workflow({
      id: 'w',
      steps: [
        step({
          name: 'pay',
          run: async ({ waitForEvent }) => {
            executions += 1;
            if (executions === 1) await sent.promise;
            const first = await waitForEvent('paid', Paid);
            if (executions === 1) {
              reached.open();
              await new Promise(() => {});
            }
            return `${first.euros} ${(await waitForEvent('paid', Paid)).euros}`;
          },
        }),
      ],
    });
  const store = await freshStore();
  const first = make();
  const dead = engineOver(store, [first], { owner: 'dead', leaseMs: 1 });
  const { runId } = await begin(dead, first, { background: true });
  const run = workflowRun(store, dead, runId);
  await send(run, { euros: 1 });
  await send(run, { euros: 2 });
  sent.open();
  await reached.promise;
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [make()]);
  await next.recover();
  await next.handle(runId)?.ended;
  expect((await run.look()).run.result!.content).toBe('1 2');
});

test('is undefined when no event comes in time', async () => {
  const flow = paying({ timeoutMs: 1_000 });
  const { store, runId } = await ran(flow);
  const leases = changed(store.leases, { now: async () => Date.now() + 86_400_000 });
  const engine = engineOver(store, [flow], { leases });
  const { run } = await (await engine.answer(runId, { answers: new Map(), continuation: goOn })).ended;
  expect(run.result!.content).toBe('undefined');
});

test('two waits for one name: data has to fit one of them, and a wait without a schema takes any', async () => {
  const Other = z.object({ cents: z.number(), currency: z.string().default('EUR') });
  const flow = workflow({
    id: 'w',
    steps: ({ waitForEvent }) => Promise.all([waitForEvent('paid', Paid), waitForEvent('paid', Other)]),
  });
  const run = await ran(flow);
  await expect(send(run, { pounds: 1 })).rejects.toMatchObject({ code: 'invalid_request' });
  await send(run, { euros: 1 });
  await run.engine.handle(run.runId)?.ended;
  expect((await run.look()).run.status).toBe('paused');
  await send(run, { cents: 5 });
  await run.engine.handle(run.runId)?.ended;
  // the schema fills in what the sender left out
  expect((await run.look()).run.result!.content).toEqual([{ euros: 1 }, { cents: 5, currency: 'EUR' }]);
  const any = workflow({
    id: 'w',
    steps: ({ waitForEvent }) => Promise.all([waitForEvent('paid', Paid), waitForEvent('paid')]),
  });
  const open = await ran(any);
  expect(await send(open, 'whatever')).toMatchObject({ status: 'delivered' });
});

test('a workflow within the workflow waits for events of the run that the sender knows', async () => {
  const inner = workflow({ id: 'inner', steps: [({ waitForEvent }) => waitForEvent('paid', Paid)] });
  const [reached, release] = [gate(), gate()];
  const outer = workflow({
    id: 'outer',
    steps: [
      async () => {
        reached.open();
        await release.promise;
        return 'ready';
      },
      inner,
    ],
  });
  const store = await freshStore();
  const engine = engineOver(store, [outer]);
  const handle = await begin(engine, outer);
  const run = workflowRun(store, engine, handle.runId);
  await reached.promise;
  await send(run, { euros: 7 });
  release.open();
  expect((await handle.ended).run.result?.content).toEqual({ euros: 7 });
});

test('events that are too large, or more than a run receives, are refused', async () => {
  const run = await ran(paying());
  const text = 'x'.repeat(256 * 1024);
  await expect(send(run, { euros: 5, text })).rejects.toMatchObject({ code: 'event_too_large' });
  const { receivedEvents } = run.store;
  for (let sent = 0; sent < 1_000; sent += 1)
    await receivedEvents.add(run.runId, { eventId: `e${sent}`, name: 'other', data: sent });
  await expect(send(run, { euros: 5 })).rejects.toMatchObject({ code: 'too_many_received_events' });
  // one that was received before is known all the same
  const known = { eventId: 'e7', name: 'other', data: 7 };
  expect(await receivedEvents.add(run.runId, known)).toBe('known');
});

test('in code, of a workflow that no service registers', async () => {
  const done = gate<number>();
  const flow = workflow({
    id: 'w',
    steps: async ({ waitForEvent }) => {
      const { euros } = await waitForEvent('paid', Paid);
      done.open(euros);
      return euros;
    },
  });
  const { runId } = await flow.run('x');
  await expect(flow.sendEvent(runId, 'paid', { euros: 'x' })).rejects.toThrow();
  await expect(flow.sendEvent(runId, 'paid', {}, { id: 'x' } as never)).rejects.toThrow(
    'id is not an option',
  );
  await expect(flow.sendEvent('unknown', 'paid', {})).rejects.toMatchObject({ code: 'run_not_found' });
  await flow.sendEvent(runId, 'paid', { euros: 9 });
  expect(await done.promise).toBe(9);
});
