import { expect, test } from 'vitest';
import { replayRun } from '../../../src/core/runs/resume/replay.js';
import {
  agent,
  type RunValues,
  step,
  type WorkflowLimits,
  type WorkflowSettings,
  workflow,
} from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { scriptedModel } from '../../../src/testing.js';
import { gate } from '../harness.js';
import { diesAndRecovers, ran } from './workflow-runs.js';

const three = ['a', 'b', 'c'].map((name) => step({ name, run: () => name }));

const limited = (limits: WorkflowSettings['limits'], steps: WorkflowSettings['steps'] = three) =>
  workflow({ id: 'w', steps, ...(limits !== undefined && { limits }) });

test('a function chooses the limits of a workflow for each run', async () => {
  const seen: RunValues[] = [];
  const flow = workflow({
    id: 'w',
    steps: three,
    metadata: { owner: 'workflow' },
    limits: async (run) => {
      seen.push(run);
      return { steps: run.userId === 'ada' ? 3 : 2 };
    },
  });
  const options = {
    sessionState: { plan: 'pro' },
    dependencies: { city: 'Rome' },
    metadata: { trial: true },
  };
  expect(await flow.run('go', { userId: 'ada', ...options })).toMatchObject({ status: 'completed' });
  expect(await flow.run('go', { userId: 'bob' })).toMatchObject({
    status: 'error',
    error: { code: 'limit_exceeded' },
  });
  expect(seen[0]).toMatchObject({
    userId: 'ada',
    input: 'go',
    claims: null,
    state: { plan: 'pro' },
    dependencies: { city: 'Rome' },
    metadata: { trial: true, owner: 'workflow' },
  });
  // what is not known before a run is not shown
  expect(flow.limits).toBeUndefined();
  expect(flow.readsClaims).toBe(true);
  expect(limited({ steps: 3 }, [agent({ id: 'a', model: 'offline' })]).readsClaims).toBe(false);
});

test('they hold for an agent in front, and for a workflow inside', async () => {
  const model = scriptedModel(() => ({ toolCalls: [{ name: 'run_workflow', arguments: {} }] }));
  const front = agent({ id: 'front', model });
  const flow = workflow({ id: 'w', steps: three, agent: front, limits: () => ({ toolCalls: 1, steps: 2 }) });
  const chat = await ran(flow);
  expect((await chat.look()).run.result?.error?.type).toBe('limit_exceeded');
  expect((await chat.names())[0]).toBe('WorkflowAgentStarted');
  const inner = limited(({ input }) => ({ steps: Number(input) }));
  const outer = workflow({
    id: 'o',
    steps: [() => '2', step({ name: 'in', workflow: inner, onError: 'skip' })],
  });
  const { results } = await (await ran(outer)).look();
  expect(results[1]).toMatchObject({ success: false, error: expect.stringContaining('limits.steps') });
});

/** The run of a workflow that dies in its second step, after which the limits are chosen by another function. */
async function recovered(limits: readonly (WorkflowSettings['limits'] | undefined)[]) {
  const reached = gate();
  let calls = 0;
  const stuck = step({
    name: 'stuck',
    run: () => {
      calls += 1;
      if (calls > 1) return 'unstuck';
      reached.open();
      return new Promise<string>(() => {});
    },
  });
  let made = 0;
  const last = step({ name: 'last', run: () => 'done' });
  const make = () => limited(limits[made++], [three[0]!, stuck, last]);
  const run = await diesAndRecovers(make, reached.promise, (keys) => keys.includes('node:0'));
  return run.look();
}

test('an execution after a crash has the limits of the first one, and asks for none', async () => {
  const asked: number[] = [];
  const choose = (steps: number) => () => {
    asked.push(steps);
    return { steps };
  };
  const { run, steps } = await recovered([choose(3), choose(1)]);
  expect(run).toMatchObject({ status: 'completed', attempt: 2, result: { content: 'done' } });
  expect(asked).toEqual([3]);
  expect(steps.find(({ key }) => key === 'settings')).toMatchObject({
    input: { state: {}, dependencies: {}, metadata: {} },
    output: { chosen: { limits: { steps: 3 } } },
  });
  const second = await recovered([choose(2), choose(9)]);
  expect(second.run.result?.error).toMatchObject({ type: 'limit_exceeded' });
});

test('a run fits code that chooses limits in another way, or not at all', async () => {
  const waits = [step({ name: 'asked', review: { requiresConfirmation: true }, run: () => 'done' })];
  const other = [...waits, step({ name: 'new', run: () => 'more' })];
  const choose = () => ({ steps: 5 });
  for (const [was, is] of [
    [choose, undefined],
    [undefined, choose],
    [choose, choose],
  ] as const) {
    const { run, steps } = await (await ran(limited(was, waits))).look();
    expect(run.status).toBe('paused');
    const result = await replayRun(limited(is, other), run, steps, systemTimers);
    expect(result).toEqual({ leftOut: [] });
  }
});

test('a run that met such a limit asks for the limits again when it continues', async () => {
  let most = 1;
  const flow = limited(() => ({ steps: most }));
  const first = await flow.run('go', { runId: 'r' });
  expect(first).toMatchObject({ status: 'error', error: { code: 'limit_exceeded' } });
  expect(await flow.continue('r')).toMatchObject({ status: 'error', error: { code: 'limit_exceeded' } });
  most = 3;
  expect(await flow.continue('r')).toMatchObject({ status: 'completed', content: 'c' });
});

test.each<[string, () => unknown, string]>([
  [
    'throws',
    () => Promise.reject(new Error('no plan')),
    "The function that chooses 'limits' failed: no plan",
  ],
  [
    'returns nothing',
    () => undefined,
    "Workflow 'w': the function that chooses 'limits' returned undefined.",
  ],
  ['returns what is no limit', () => ({ turns: 3 }), 'limits.turns is not an option'],
  ['returns what no limit can be', () => ({ steps: 0 }), 'limits.steps is 0'],
])('a function that %s ends the run', async (_what, choose, message) => {
  const run = await ran(limited(choose as () => WorkflowLimits));
  const { run: ended } = await run.look();
  expect(ended).toMatchObject({ status: 'error', result: { error: { type: 'settings_error' } } });
  expect(ended.result?.error?.message).toContain(message);
  expect(await run.names()).toEqual(['WorkflowStarted', 'WorkflowError']);
});

test('the types of the function are those of the limits', () => {
  // @ts-expect-error a workflow has no turns of its own
  void (() => limited(() => ({ turns: 1 })));
  // @ts-expect-error no limit is a text
  void (() => limited(async () => ({ steps: '1' })));
  expect(() => limited('much' as never)).toThrow('limits');
});
