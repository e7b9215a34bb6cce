import { expect, test } from 'vitest';
import type { Executable } from '../../../src/core/runs/executable.js';
import { executedBefore } from '../../../src/core/runs/limits/executed-time.js';
import type { AnyLimits } from '../../../src/core/runs/limits/run-limits.js';
import { agent, loop, parallel, step, team, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { JournalSteps } from '../../support/components/journal-steps.js';
import { allEvents, begin, engineOver, freshStore } from '../harness.js';
import { ask } from '../teams/team-runs.js';

const look = tool({ name: 'look', description: 'Looks', execute: () => 'seen' });
const stubborn = () => scriptedModel(() => ({ toolCalls: [{ name: 'look' }] }));
const never = () => new Promise<never>(() => {});

async function ran(component: Executable, limits: AnyLimits = {}) {
  const store = await freshStore();
  const engine = engineOver(store, [component], { limits });
  const handle = await begin(engine, component);
  await handle.ended;
  const events = await allEvents({ events: () => engine.events(handle.runId, 0) });
  return { names: events.map(({ name }) => name), ...(await store.load(handle.runId))! };
}

function failure(limit: string, bound: number, componentId: string) {
  const additionalData = { limit, bound, component_id: componentId };
  return { error: { type: 'limit_exceeded', additionalData } };
}

test('a member that meets a limit of its own is a member that failed: its leader answers', async () => {
  const member = agent({ id: 'm', model: stubborn(), tools: [look], limits: { turns: 3 } });
  const leader = scriptedModel([{ toolCalls: [ask('m', 'look')] }, 'we did what we could']);
  const { run, steps, names } = await ran(team({ id: 't', model: leader, members: [member] }));
  expect(run).toMatchObject({ status: 'completed', result: { content: 'we did what we could' } });
  const outcome = steps.find(({ kind }) => kind === 'member')!;
  expect(outcome).toMatchObject({ output: { status: 'error', result: failure('turns', 3, 'm') } });
  expect(leader.requests.at(-1)?.messages.at(-1)?.content).toContain("The run of agent 'm' was stopped");
  expect(names.filter((name) => name === 'RunError')).toHaveLength(1);
});

test('a member without limits is stopped by the default, not the team with it', async () => {
  const member = agent({ id: 'm', model: stubborn(), tools: [look] });
  const leader = scriptedModel([{ toolCalls: [ask('m', 'look')] }, 'done']);
  const component = team({ id: 't', model: leader, members: [member] });
  const { run } = await ran(component, { turns: 4 });
  expect(run).toMatchObject({ status: 'completed', result: { content: 'done' } });
});

test('a member that hangs is stopped when its own time is up', async () => {
  const hangs = tool({ name: 'look', description: 'Hangs', execute: never });
  const member = agent({ id: 'm', model: stubborn(), tools: [hangs], limits: { timeMs: 50 } });
  const leader = scriptedModel([{ toolCalls: [ask('m', 'look')] }, 'done']);
  const { run, steps } = await ran(team({ id: 't', model: leader, members: [member] }));
  expect(run).toMatchObject({ status: 'completed', result: { content: 'done' } });
  expect(steps.find(({ kind }) => kind === 'member')).toMatchObject({
    output: { status: 'error', result: failure('timeMs', 50, 'm') },
  });
});

test('what members do counts for the team, and a limit of the team ends all of it', async () => {
  const members = ['m', 'n'].map((id) => agent({ id, model: stubborn(), tools: [look] }));
  const leader = scriptedModel([{ toolCalls: [ask('m', 'look'), ask('n', 'look')] }, 'never said']);
  const component = team({ id: 't', model: leader, members, limits: { toolCalls: 12 } });
  const { run, steps, names } = await ran(component);
  expect(run).toMatchObject({ status: 'error', result: failure('toolCalls', 12, 't') });
  // two of the leader, ten of the members
  expect(steps.filter(({ kind }) => kind === 'tool')).toHaveLength(12);
  expect(leader.requests).toHaveLength(1);
  expect(names.at(-1)).toBe('TeamRunError');
  expect(names.filter((name) => name === 'RunCancelled')).toHaveLength(2);
});

test('a team inside a team that meets its limit fails alone, with its members', async () => {
  const inner = team({
    id: 'inner',
    model: scriptedModel([{ toolCalls: [ask('m', 'look')] }]),
    members: [agent({ id: 'm', model: stubborn(), tools: [look] })],
    limits: { tokens: 100 },
  });
  const leader = scriptedModel([{ toolCalls: [ask('inner', 'look')] }, 'done without them']);
  const { run, steps } = await ran(team({ id: 'outer', model: leader, members: [inner] }));
  expect(run).toMatchObject({ status: 'completed', result: { content: 'done without them' } });
  expect(steps.find(({ kind, name }) => kind === 'member' && name === 'inner')).toMatchObject({
    output: { status: 'error', result: failure('tokens', 100, 'inner') },
  });
});

test('a leader that delegates for ever is stopped', async () => {
  const leader = scriptedModel(() => ({ toolCalls: [ask('m', 'again')] }));
  const members = [agent({ id: 'm', model: scriptedModel(() => 'no') })];
  const { run } = await ran(team({ id: 't', model: leader, members, limits: { turns: 20 } }));
  expect(leader.requests).toHaveLength(20);
  expect(run).toMatchObject({ status: 'error', result: failure('turns', 20, 't') });
});

test('the steps of all iterations count, and so does what agents in them use', async () => {
  const again = loop({ name: 'again', maxIterations: 1_000, steps: [step({ name: 'one', run: () => 'x' })] });
  const steps = await ran(workflow({ id: 'w', steps: [again], limits: { steps: 30 } }));
  expect(steps.run).toMatchObject({ status: 'error', result: failure('steps', 30, 'w') });
  expect(steps.run.result?.content).toContain("Raise limits.steps of workflow 'w', then run it again.");
  expect(steps.steps.filter(({ kind }) => kind === 'step')).toHaveLength(30);

  const talks = agent({ id: 'a', model: scriptedModel(() => 'hm') });
  const talking = loop({ name: 'again', maxIterations: 1_000, steps: [step({ name: 'say', agent: talks })] });
  const tokens = await ran(workflow({ id: 'w', steps: [talking], limits: { tokens: 100 } }));
  expect(tokens.run).toMatchObject({ status: 'error', result: failure('tokens', 100, 'w') });
});

test('a function that hangs, in a step or beside others, is stopped when the time of the workflow is up', async () => {
  for (const steps of [
    [step({ name: 'hang', run: never })],
    [
      parallel({
        name: 'p',
        steps: [step({ name: 'hang', run: never }), step({ name: 'ok', run: () => 'x' })],
      }),
    ],
  ]) {
    const { run } = await ran(workflow({ id: 'w', steps, limits: { timeMs: 50 } }));
    expect(run).toMatchObject({ status: 'error', result: failure('timeMs', 50, 'w') });
  }
});

test('a function cannot swallow the limit of its workflow', async () => {
  const a = agent({ id: 'a', model: scriptedModel(() => 'hm') });
  let calls = 0;
  const component = workflow({
    id: 'w',
    limits: { tokens: 40 },
    steps: async ({ run }) => {
      for (let number = 0; number < 50; number += 1) {
        calls += 1;
        await run(a, 'say', `call ${number}`).catch(() => {});
      }
      return 'done';
    },
  });
  const { run, steps } = await ran(component);
  expect(run).toMatchObject({ status: 'error', result: failure('tokens', 40, 'w') });
  expect(steps.filter(({ kind }) => kind === 'model')).toHaveLength(3);
  expect(calls).toBeGreaterThan(0);
});

test('limits that a workflow cannot have are rejected', () => {
  const make = (limits: object) => () => workflow({ id: 'w', steps: [() => 'x'], limits });
  expect(make({ turns: 3 })).toThrow('limits.turns is not an option');
  expect(make({ steps: 0 })).toThrow("Workflow 'w': limits.steps is 0");
});

test('the time of executions before this one counts without the time between them', () => {
  const { steps } = new JournalSteps()
    // executed from 0 to 1500, crashed, executed from 100000 to 100500, paused, continued at 900000
    .add('model:0', 'model', {}, { attempt: 1, startedAt: 0, endedAt: 500 })
    .add('tool:0:0', 'tool', {}, { attempt: 1, startedAt: 1_000, endedAt: 1_500 })
    .add('model:1', 'model', {}, { attempt: 2, startedAt: 100_000, endedAt: 100_500 })
    .add('wait:tool:1:0', 'wait', {}, { attempt: 3, startedAt: 100_500, endedAt: 900_000 });
  expect(executedBefore(steps, 3)).toBe(2_000);
  const continued = new JournalSteps();
  continued.steps.push(...steps);
  continued.add(
    'continue:3',
    'continue',
    {},
    { attempt: 3, input: { executed_ms: 9_000 }, startedAt: 900_000 },
  );
  expect(executedBefore(continued.steps, 3)).toBe(9_000);
  continued.add('tool:1:0', 'tool', {}, { attempt: 3, startedAt: 900_100, endedAt: 900_200 });
  expect(executedBefore(continued.steps, 4)).toBe(9_200);
});
