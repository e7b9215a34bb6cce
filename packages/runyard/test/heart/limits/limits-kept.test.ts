import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { Executable } from '../../../src/core/runs/executable.js';
import { executedBefore } from '../../../src/core/runs/limits/executed-time.js';
import { agent, step, team, tool, workflow } from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { scriptedModel } from '../../../src/testing.js';
import { JournalSteps } from '../../support/components/journal-steps.js';
import { answers, begin, engineOver, freshStore, goOn } from '../harness.js';
import { ask } from '../teams/team-runs.js';

const hour = 3_600_000;
const look = tool({ name: 'look', description: 'Looks', execute: () => 'seen' });

async function ran(component: Executable) {
  const store = await freshStore();
  const handle = await begin(engineOver(store, [component]), component);
  await handle.ended;
  return (await store.load(handle.runId))!;
}

/** A clock that the test moves, and the timers of an hour or so that are armed now. */
function watchedTimers() {
  const armed = new Set<number>();
  let now = 1_000_000;
  const timers = {
    ...systemTimers,
    now: () => now,
    after: (ms: number, work: () => void) => {
      const cancel = systemTimers.after(ms, work);
      if (ms > hour / 2) armed.add(ms);
      return () => {
        armed.delete(ms);
        cancel();
      };
    },
  };
  return { timers, armed, pass: (ms: number) => (now += ms) };
}

test('a run that has ended leaves no timer behind: its process can end', async () => {
  const { timers, armed } = watchedTimers();
  const seen: number[] = [];
  const model = scriptedModel(() => {
    seen.push(...armed);
    return 'done';
  });
  const store = await freshStore();
  const component = agent({ id: 'a', model, limits: { timeMs: hour } });
  await (await begin(engineOver(store, [component], { timers }), component)).ended;
  expect(seen).toEqual([hour]);
  expect([...armed]).toEqual([]);
});

test('a continued run has only the time left that its earlier execution did not take', async () => {
  const { timers, armed, pass } = watchedTimers();
  const asks = tool({ name: 'look', description: 'Asks', requiresConfirmation: true, execute: () => 'seen' });
  const seen: number[] = [];
  const model = scriptedModel((_request, call) => {
    seen.push(...armed);
    pass(1_000);
    return call === 0 ? { toolCalls: [{ name: 'look' }] } : 'done';
  });
  const store = await freshStore();
  const component = agent({ id: 'a', model, tools: [asks], limits: { timeMs: hour } });
  const engine = engineOver(store, [component], { timers });
  const { runId, ended } = await begin(engine, component);
  await ended;
  pass(24 * hour);
  const given = answers({ 'wait:tool:0:0': { answer: 'confirmed', confirmed: true } });
  await (await engine.answer(runId, given)).ended;
  expect((await store.load(runId))!.run.status).toBe('completed');
  expect(seen).toEqual([hour, hour - 1_000]);
});

test('runs inside another one leave no listener on its signal', async () => {
  const a = agent({ id: 'a', model: scriptedModel(() => 'hm') });
  const counts: number[] = [];
  const component = workflow({
    id: 'w',
    steps: async ({ run, signal }) => {
      for (let number = 0; number < 5; number += 1) {
        await run(a, 'say', `call ${number}`);
        counts.push(getEventListeners(signal, 'abort').length);
      }
      return 'done';
    },
  });
  expect((await ran(component)).run.status).toBe('completed');
  expect(new Set(counts).size).toBe(1);
});

test('a member whose hook hangs is stopped when its own time is up', async () => {
  const hangs = () => new Promise<never>(() => {});
  const member = agent({
    id: 'm',
    model: scriptedModel(() => 'x'),
    preHooks: [hangs],
    limits: { timeMs: 50 },
  });
  const leader = scriptedModel([{ toolCalls: [ask('m', 'look')] }, 'done']);
  const { run, steps } = await ran(team({ id: 't', model: leader, members: [member] }));
  expect(run).toMatchObject({ status: 'completed', result: { content: 'done' } });
  expect(steps.find(({ kind }) => kind === 'member')).toMatchObject({ output: { status: 'error' } });
});

test('the turns of a member are not those of its team', async () => {
  const member = agent({ id: 'm', model: scriptedModel(() => 'it is me') });
  const leader = scriptedModel([{ toolCalls: [ask('m', 'who?')] }]);
  const component = team({ id: 't', mode: 'route', model: leader, members: [member], limits: { turns: 1 } });
  expect((await ran(component)).run).toMatchObject({ status: 'completed', result: { content: 'it is me' } });
});

test('a step counts once, whether a function or an agent does its work', async () => {
  const a = agent({ id: 'a', model: scriptedModel(() => 'hm') });
  const steps = [step({ name: 'say', agent: a }), step({ name: 'do', run: () => 'x' })];
  expect((await ran(workflow({ id: 'w', steps, limits: { steps: 2 } }))).run).toMatchObject({
    status: 'completed',
  });
  expect(
    (await ran(workflow({ id: 'w', steps: [...steps].reverse(), limits: { steps: 2 } }))).run,
  ).toMatchObject({
    status: 'completed',
  });
});

test('a step that may ask afterwards counts once, however often it is done', async () => {
  const followed = (name: string) => step({ name, onError: 'pause', run: () => name });
  const steps = [followed('one'), followed('two')];
  expect((await ran(workflow({ id: 'w', steps, limits: { steps: 2 } }))).run.status).toBe('completed');
  const third = [...steps, followed('three')];
  expect((await ran(workflow({ id: 'w', steps: third, limits: { steps: 2 } }))).run).toMatchObject({
    status: 'error',
    result: { error: { type: 'limit_exceeded' } },
  });
});

test('a copy does not pay for the turns of its original', async () => {
  const store = await freshStore();
  const model = scriptedModel((_request, call) =>
    call % 2 === 0 ? { toolCalls: [{ name: 'look' }] } : 'done',
  );
  const component = agent({ id: 'a', model, tools: [look], limits: { turns: 2 } });
  const engine = engineOver(store, [component]);
  const { run, steps } = await (await begin(engine, component, { sessionId: 's' })).ended;
  const kept = component.continuation(run, steps, 'end');
  const continuation = { ...goOn, turn: kept.turn, input: 'once more' };
  const lineage = { forkedFromRunId: run.runId };
  const copy = await begin(engine, component, {
    sessionId: 's',
    copy: { steps: kept.steps, lineage, continuation },
  });
  expect((await copy.ended).run).toMatchObject({ status: 'completed', result: { content: 'done' } });
  expect(model.requests).toHaveLength(4);
});

test('what was settled after a crash is no time of the execution that crashed', () => {
  const { steps } = new JournalSteps()
    .add('model:0', 'model', {}, { attempt: 1, startedAt: 0, endedAt: 500 })
    // interrupted at 700, and settled when the run was taken over
    .add('tool:0:0', 'tool', {}, { attempt: 1, startedAt: 700, endedAt: 90_100 })
    .add('model:1', 'model', {}, { attempt: 2, startedAt: 90_000, endedAt: 90_500 });
  expect(executedBefore(steps, 3)).toBe(1_200);
});
