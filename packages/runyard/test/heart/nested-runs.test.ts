import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { messagesOf } from '../../src/core/agents/transcript.js';
import type { JsonObject } from '../../src/core/json.js';
import { agent, parallel, step, team, tool, workflow } from '../../src/index.js';
import { type ScriptedTurn, scriptedModel } from '../../src/testing.js';
import { pausedOutput } from '../support/outputs.js';
import { patience } from '../support/patience.js';
import { answers, begin, engineOver, freshStore, gate } from './harness.js';
import { payTool } from './paused-runs.js';
import { ask, call, runOf } from './teams/team-runs.js';
import { eventNames, ran, type WireEvent } from './workflows/workflow-runs.js';

/** A turn that lasts until its run is stopped. */
const endless: ScriptedTurn = {
  waitFor: (signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
};

const paying = (id: string, ...turns: ScriptedTurn[]) => {
  const { pay, paid } = payTool({ requiresConfirmation: true });
  const asks = { toolCalls: [call('pay', { cents: 1 }, `pay ${id}`)] };
  const model = scriptedModel([...turns, asks, `paid by ${id}`]);
  return { paid, model, agent: agent({ id, model, tools: [pay] }) };
};

const who = ({ event, agent_id, team_id }: WireEvent) => `${agent_id ?? team_id ?? 'workflow'} ${event}`;

test('a member that waits is cancelled with one that is executing', async () => {
  const waiting = paying('payer');
  const reached = gate();
  const slow = scriptedModel([
    {
      waitFor: (signal) => {
        reached.open();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    },
  ]);
  const desk = team({
    id: 'desk',
    mode: 'broadcast',
    model: scriptedModel([{ toolCalls: [call('delegate_task_to_members', { task: 'Go' })] }]),
    members: [waiting.agent, agent({ id: 'slow', model: slow })],
  });
  const store = await freshStore();
  const engine = engineOver(store, [desk]);
  const handle = await begin(engine, desk);
  const run = runOf(store, engine, handle.runId);
  await reached.promise;
  await expect
    .poll(async () => (await store.load(handle.runId))!.steps.some(({ kind }) => kind === 'wait'))
    .toBe(true);
  handle.cancel('enough');
  await handle.ended;
  const { run: ended, responses } = await run.look();
  expect(ended.status).toBe('cancelled');
  expect(responses.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  expect(
    (await run.events()).map(who).filter((name) => /Run(Paused|Cancelled|Completed)$/.test(name)),
  ).toEqual([
    'payer RunPaused',
    'payer RunCancelled',
    'payer RunCompleted',
    'slow RunCancelled',
    'slow RunCompleted',
    'desk TeamRunCancelled',
    'desk TeamRunCompleted',
  ]);
  expect(waiting.paid).toEqual([]);
});

describe('a run that was stopped because its time was up', () => {
  test('is not run again when the next one waited for a person', async () => {
    const payer = paying('payer', endless);
    const flow = workflow({
      id: 'w',
      steps: [step({ agent: payer.agent, timeoutMs: patience(1_000), maxRetries: 1 })],
    });
    const first = await flow.run('go');
    expect(first.status).toBe('paused');
    expect(payer.model.requests).toHaveLength(2);
    const second = await flow.continue(first.runId, {
      answers: { payer: { calls: { 'pay payer': { confirmed: true } } } },
    });
    expect(second).toMatchObject({ status: 'completed', content: 'paid by payer' });
    expect(payer.model.requests).toHaveLength(3);
    expect(payer.paid).toHaveLength(1);
  });

  test('is not run again when a person decides about it', async () => {
    const model = scriptedModel([endless, 'too late']);
    const slow = agent({ id: 'slow', model });
    const flow = workflow({ id: 'w', steps: [step({ agent: slow, timeoutMs: 100, onError: 'pause' })] });
    const first = pausedOutput(await flow.run('go'));
    expect(first.requirements).toMatchObject([{ kind: 'error', stepName: 'slow' }]);
    const second = await flow.continue(first.runId, { answers: { slow: { decision: 'skip' } } });
    expect(second).toMatchObject({ status: 'completed', stepResults: [{ success: false }] });
    expect(model.requests).toHaveLength(1);
  });

  test('ends its nested runs, which no caller waits for', async () => {
    const waiting = paying('payer');
    const leader = scriptedModel([{ toolCalls: [call('delegate_task_to_members', { task: 'Go' })] }, 'Done']);
    const slow = agent({ id: 'slow', model: scriptedModel([endless]) });
    const desk = team({ id: 'desk', mode: 'broadcast', model: leader, members: [waiting.agent, slow] });
    const flow = workflow({
      id: 'w',
      steps: [
        step({ team: desk, timeoutMs: patience(1_000), onError: 'skip' }),
        step({ name: 'after', run: () => 'after', review: { requiresConfirmation: true } }),
      ],
    });
    const run = await ran(flow);
    const events = (await run.events()).map(who);
    expect(events.filter((name) => /Run(Cancelled|Completed)$/.test(name))).toEqual([
      'payer RunCancelled',
      'payer RunCompleted',
      'slow RunCancelled',
      'slow RunCompleted',
      'desk TeamRunCancelled',
      'desk TeamRunCompleted',
    ]);
    const { requirements, runs } = await run.look();
    expect(requirements.open.map(({ stepName }) => stepName)).toEqual(['after']);
    expect(runs[0]!.run.status).toBe('cancelled');
  });
});

test('an executor without an answer waits in silence beside one that continues', async () => {
  const one = paying('one');
  const two = paying('two');
  const flow = workflow({ id: 'w', steps: [parallel({ name: 'both', steps: [one.agent, two.agent] })] });
  const run = await ran(flow);
  const count = (await run.events()).length;
  const { requirements } = await run.look();
  const key = requirements.open[0]!.calls[0]!.waitKey;
  await (
    await run.engine.answer(run.runId, {
      answers: new Map([[key, { answer: 'confirmed', confirmed: true }]]),
      continuation: { turn: 0, input: null, options: {} },
    })
  ).ended;
  const names = eventNames((await run.events()).slice(count));
  expect(names.filter((name) => name.includes('two'))).toEqual([]);
  expect(names.at(-1)).toBe('WorkflowPaused');
  expect((await run.look()).requirements.open.map(({ stepName }) => stepName)).toEqual(['two']);
});

describe('a workflow that is one function', () => {
  test('waits for all that it runs before it pauses', async () => {
    const [held, asked] = [gate(), gate()];
    const slow = scriptedModel([{ waitFor: () => held.promise, text: 'slow' } as ScriptedTurn]);
    const payer = paying('payer');
    const flow = workflow({
      id: 'w',
      steps: async ({ run }) => {
        const paying = run(payer.agent, 'go');
        void paying.catch(() => asked.open());
        return (await Promise.all([run(agent({ id: 'slow', model: slow }), 'go'), paying])).join(' and ');
      },
    });
    const running = flow.run('go');
    await asked.promise;
    // time enough for a run that does not wait for the slow one to be stored as paused
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();
    held.open();
    const first = pausedOutput(await running);
    expect(first.requirements).toMatchObject([{ requirement: { executor_name: 'payer' } }]);
    const second = await flow.continue(first.runId, {
      answers: { payer: { calls: { 'pay payer': { confirmed: true } } } },
    });
    expect(second.status).toBe('completed');
    expect(slow.requests).toHaveLength(1);
  });

  test('reports what it ran when it is cancelled in another process', async () => {
    const make = () => workflow({ id: 'w', steps: async ({ run }) => run(paying('payer').agent, 'go') });
    const run = await ran(make());
    const other = engineOver(run.store, [make()]);
    await other.cancel(run.runId, {
      runId: run.runId,
      kind: 'workflow',
      componentId: 'w',
      sessionId: null,
      userId: null,
      reason: 'enough',
      requestedAt: Date.now(),
    });
    expect((await run.events()).map(who).slice(-4)).toEqual([
      'payer RunCancelled',
      'payer RunCompleted',
      'workflow WorkflowCancelled',
      'workflow WorkflowCompleted',
    ]);
  });

  test('names runs as it likes', async () => {
    const one = agent({ id: 'one', model: scriptedModel(['first']) });
    const two = agent({ id: 'two', model: scriptedModel(['second']) });
    const flow = workflow({
      id: 'w',
      steps: async ({ run }) => `${await run(one, 'go', 'a/b\tc\n')} ${await run(two, 'go', 'a-b\tc\n')}`,
    });
    const run = await ran(flow);
    expect((await run.look()).run.result!.content).toBe('first second');
    expect((await run.events()).at(-1)!.event).toBe('WorkflowCompleted');
  });
});

test('a team that failed while members were executing repeats nothing that they did', async () => {
  let works = 0;
  const worked = tool({
    name: 'work',
    description: 'Works',
    execute: () => {
      works += 1;
    },
  });
  const { pay, paid } = payTool({ requiresConfirmation: true });
  const member = scriptedModel([
    { toolCalls: [call('work', {})] },
    { toolCalls: [call('pay', { cents: 1 }, 'pay')] },
    'Paid.',
  ]);
  const leader = scriptedModel([{ toolCalls: [ask('a', 'Pay')] }, 'Done.']);
  const component = team({
    id: 'desk',
    model: leader,
    members: [agent({ id: 'a', model: member, tools: [worked, pay] })],
  });
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component);
  const { run } = await handle.ended;
  expect(run.status).toBe('paused');
  // the run is given up in the middle of the member's work
  const { steps } = (await store.load(run.runId))!;
  await store.commit([
    {
      runId: run.runId,
      attempt: run.attempt,
      steps: [],
      update: { ...run, status: 'error', updatedAt: Date.now() },
    } as never,
  ]);
  const failed = (await store.load(run.runId))!;
  expect(failed.run.status).toBe('error');
  const kept = component.continuation(failed.run, steps, 'end');
  await (await engine.retry(run.runId, kept, { turn: kept.turn, input: null, options: {} })).ended;
  const again = runOf(store, engine, run.runId);
  expect((await again.look()).run.status).toBe('paused');
  const { run: ended } = await again.reply({ pay: { confirmed: true } });
  expect(ended).toMatchObject({ status: 'completed', result: { content: 'Done.' } });
  expect([works, paid.length, member.requests.length, leader.requests.length]).toEqual([1, 1, 3, 2]);
});

test('an executor that waits beside a step that fails the workflow is cancelled', async () => {
  const payer = paying('payer');
  const failing = step({
    name: 'failing',
    onError: 'fail',
    maxRetries: 0,
    run: () => {
      throw new Error('no');
    },
  });
  const run = await ran(
    workflow({ id: 'w', steps: [parallel({ name: 'both', steps: [payer.agent, failing] })] }),
  );
  const { run: ended, runs } = await run.look();
  expect(ended.status).toBe('error');
  expect(runs.map((inside) => inside.run.status)).toEqual(['cancelled']);
  expect(eventNames(await run.events()).slice(-5)).toEqual([
    'RunPaused payer',
    'StepExecutorPaused payer',
    'RunCancelled payer',
    'RunCompleted payer',
    'WorkflowError',
  ]);
  await expect(run.engine.answer(run.runId, answers({}))).rejects.toThrow('error');
});

test('no two messages of a team and its members have one id', async () => {
  const members = ['a', 'b'].map((id) => agent({ id, model: scriptedModel([id]) }));
  const inner = team({
    id: 'inner',
    mode: 'broadcast',
    model: scriptedModel([{ toolCalls: [call('delegate_task_to_members', { task: 'Go' })] }, 'Both']),
    members,
  });
  const outer = team({
    id: 'outer',
    model: scriptedModel([{ toolCalls: [ask('inner', 'Go')] }, 'Done']),
    members: [inner],
  });
  const store = await freshStore();
  const engine = engineOver(store, [outer]);
  const { run, steps } = await (await begin(engine, outer)).ended;
  const { responses } = await runOf(store, engine, run.runId).look();
  const idsOf = (body: JsonObject): string[] => [
    ...(body.messages as { id: string }[]).map(({ id }) => id),
    ...((body.member_responses ?? []) as JsonObject[]).flatMap(idsOf),
  ];
  const ids = [...messagesOf(run, steps).map(({ id }) => id), ...responses.flatMap(idsOf)];
  expect(ids.length).toBeGreaterThan(10);
  expect(new Set(ids).size).toBe(ids.length);
});
