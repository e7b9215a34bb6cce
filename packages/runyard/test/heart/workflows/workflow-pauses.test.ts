import { describe, expect, test } from 'vitest';
import { agent, parallel, type ReviewSettings, step, team, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { pausedOutput } from '../../support/outputs.js';
import { call, payTool } from '../paused-runs.js';
import { after, before, eventNames, ran, reviewed } from './workflow-runs.js';

describe('an agent that waits for a person', () => {
  const paying = (id: string, cents: number) => {
    const { pay, paid } = payTool({ requiresConfirmation: true });
    const model = scriptedModel([{ toolCalls: [call('pay', { cents }, `call ${id}`)] }, `paid by ${id}`]);
    return { paid, agent: agent({ id, model, tools: [pay] }) };
  };

  test('pauses the workflow with its requirements, and resumes where it was', async () => {
    const payer = paying('payer', 5);
    const flow = workflow({ id: 'w', steps: [before, payer.agent, after] });
    const run = await ran(flow);
    const paused = await run.look();
    expect(paused.requirements).toMatchObject({
      pauseKind: 'executor',
      pausedStepIndex: 1,
      stepRequirements: [
        {
          step_name: 'payer',
          requires_executor_input: true,
          executor_id: 'payer',
          executor_type: 'agent',
          executor_run_id: paused.runs[0]!.run.runId,
          executor_requirements: [
            { tool_execution: { tool_call_id: 'call payer', requires_confirmation: true } },
          ],
        },
      ],
    });
    expect(paused.runs[0]!.run.status).toBe('paused');
    expect(eventNames(await run.events()).slice(-3)).toEqual([
      'RunPaused payer',
      'StepExecutorPaused payer',
      'WorkflowPaused',
    ]);
    const count = (await run.events()).length;
    const [requirement] = (paused.requirements.stepRequirements[0] as { executor_requirements: [object] })
      .executor_requirements;
    const { run: ended } = await run.answer({
      executor_requirements: [{ ...requirement, confirmation: true }],
    });
    expect(ended.result!.content).toBe('after paid by payer');
    expect(payer.paid).toHaveLength(1);
    const names = eventNames(await run.events()).slice(count);
    expect(names.slice(0, 3)).toEqual([
      'StepExecutorContinued payer',
      'RunContinued payer',
      'ToolCallStarted payer',
    ]);
    expect(names).not.toContain('StepStarted payer');
  });

  test('waits in a parallel group until the others are done, and two can wait at once', async () => {
    const one = paying('one', 1);
    const two = paying('two', 2);
    let others = 0;
    const flow = workflow({
      id: 'w',
      steps: [
        parallel({
          name: 'both',
          steps: [one.agent, two.agent, step({ name: 'other', run: () => `other ${++others}` })],
        }),
        after,
      ],
    });
    const first = pausedOutput(await flow.run('go'));
    expect(first.requirements.map(({ stepName, kind }) => [stepName, kind])).toEqual([
      ['one', 'executor'],
      ['two', 'executor'],
    ]);
    const second = pausedOutput(
      await flow.continue(first.runId, { answers: { one: { calls: { 'call one': { confirmed: true } } } } }),
    );
    expect(second.requirements.map(({ stepName }) => stepName)).toEqual(['two']);
    const third = await flow.continue(first.runId, {
      answers: { two: { calls: { 'call two': { confirmed: false } } } },
    });
    expect(third).toMatchObject({ status: 'completed', content: 'after other 1' });
    expect([one.paid.length, two.paid.length, others]).toEqual([1, 0, 1]);
    expect(third.stepResults[0]!.steps!.map(({ content }) => content)).toEqual([
      'paid by one',
      'paid by two',
      'other 1',
    ]);
  });

  test('in a nested workflow', async () => {
    const payer = paying('payer', 5);
    const inner = workflow({
      id: 'inner',
      steps: [payer.agent, step({ name: 'sure', run: () => 'sure', review: { requiresConfirmation: true } })],
    });
    const outer = workflow({ id: 'outer', steps: [before, step({ name: 'nest', workflow: inner }), after] });
    const first = pausedOutput(await outer.run('go'));
    expect(first.requirements).toMatchObject([{ stepName: 'payer', kind: 'executor' }]);
    const second = pausedOutput(
      await outer.continue(first.runId, {
        answers: { payer: { calls: { 'call payer': { confirmed: true } } } },
      }),
    );
    expect(second.requirements).toMatchObject([
      { stepName: 'sure', kind: 'step', requirement: { requires_confirmation: true } },
    ]);
    const third = await outer.continue(first.runId, { answers: { sure: { confirmed: true } } });
    expect(third).toMatchObject({ status: 'completed', content: 'after sure' });
    expect(payer.paid).toHaveLength(1);
    await expect(
      outer.continue(first.runId, { answers: { sure: { confirmed: true } } }),
    ).rejects.toMatchObject({ status: 409 });
  });

  test('rejecting in a nested workflow cancels the whole', async () => {
    const inner = workflow({
      id: 'inner',
      steps: [
        step({ name: 'sure', run: () => 'sure', review: { requiresConfirmation: true, onReject: 'cancel' } }),
      ],
    });
    const outer = workflow({ id: 'outer', steps: [inner, after] });
    const run = await ran(outer);
    const count = (await run.names()).length;
    const { run: ended, runs } = await run.answer({ confirmed: false });
    expect(ended.status).toBe('cancelled');
    expect(runs[0]!.run.status).toBe('cancelled');
    expect((await run.events()).slice(count).map(({ event, workflow_id }) => [event, workflow_id])).toEqual([
      ['WorkflowCancelled', 'inner'],
      ['WorkflowCancelled', 'outer'],
    ]);
  });
});

test('an agent that waits in a workflow that is one function', async () => {
  const { pay, paid } = payTool({ requiresConfirmation: true });
  const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 }, 'one')] }, 'paid']);
  const payer = agent({ id: 'payer', model, tools: [pay] });
  const flow = workflow({
    id: 'w',
    // a function that hides what goes wrong does not hide that a person is asked
    steps: async ({ run }) => run(payer, 'go').catch(() => 'hidden'),
  });
  const first = await flow.run('go');
  expect(first).toMatchObject({ status: 'paused', requirements: [{ stepName: 'payer', kind: 'executor' }] });
  const second = await flow.continue(first.runId, {
    answers: { payer: { calls: { one: { confirmed: true } } } },
  });
  expect(second).toMatchObject({ status: 'completed', content: 'paid' });
  expect(paid).toHaveLength(1);
});

test('a member of a team that waits: its requirement names it, and the answer reaches it', async () => {
  const { pay, paid } = payTool({ requiresConfirmation: true });
  const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 }, 'one')] }, 'member paid']);
  const member = agent({ id: 'member', model, tools: [pay] });
  const lead = scriptedModel([
    { toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'member', task: 'pay' } }] },
    'team done',
  ]);
  const flow = workflow({ id: 'w', steps: [team({ id: 't', model: lead, members: [member] }), after] });
  const run = await ran(flow);
  const paused = await run.look();
  const [requirement] = paused.requirements.stepRequirements as [{ executor_requirements: [object] }];
  expect(requirement).toMatchObject({
    executor_type: 'team',
    executor_requirements: [{ member_agent_id: 'member', tool_execution: { tool_call_id: 'one' } }],
  });
  const { run: ended } = await run.answer({
    executor_requirements: [{ ...requirement.executor_requirements[0], confirmation: true }],
  });
  expect(ended).toMatchObject({ status: 'completed', result: { content: 'after team done' } });
  expect(paid).toHaveLength(1);
});

test('branches that failed ask together, and each goes its own way', async () => {
  const tries: Record<string, number> = {};
  const shaky = (name: string) =>
    step({
      name,
      onError: 'pause',
      maxRetries: 0,
      run: () => {
        tries[name] = (tries[name] ?? 0) + 1;
        if (tries[name] === 1) throw new Error(`no ${name}`);
        return name;
      },
    });
  const flow = workflow({ id: 'w', steps: [parallel([shaky('a'), shaky('b')])] });
  const first = pausedOutput(await flow.run('go'));
  expect(first.requirements.map(({ stepName, kind }) => [stepName, kind])).toEqual([
    ['a', 'error'],
    ['b', 'error'],
  ]);
  const second = await flow.continue(first.runId, {
    answers: { a: { decision: 'retry' }, b: { decision: 'skip' } },
  });
  expect(second.stepResults[0]!.steps).toMatchObject([
    { content: 'a', success: true },
    { success: false, error: 'no b' },
  ]);
  expect(tries).toEqual({ a: 2, b: 1 });
});

describe('when no answer comes in time', () => {
  /** The engine looks for runs whose time has come; a test does not wait for that. */
  const overdue = async (review: ReviewSettings) => {
    const { flow, runs } = reviewed({ ...review, timeoutMs: 1 });
    const run = await ran(flow);
    const { requirements, run: paused } = await run.look();
    expect(paused.wakeAt).not.toBeNull();
    expect(requirements.stepRequirements.at(-1)!.timeout_at).toMatch(/^\d{4}-.*\+00:00$/);
    await run.engine.open();
    await expect.poll(async () => (await run.look()).run.status).not.toBe('paused');
    await expect.poll(async () => (await run.look()).run.status).not.toBe('running');
    return { ...(await run.look()), names: eventNames(await run.events()), ran: runs() };
  };

  test('the workflow is cancelled, or continues without the step, or with it', async () => {
    const [cancelled, skipped, approved] = await Promise.all([
      overdue({ requiresConfirmation: true }),
      overdue({ requiresConfirmation: true, onTimeout: 'skip' }),
      overdue({ requiresConfirmation: true, onTimeout: 'approve' }),
    ]);
    expect(cancelled).toMatchObject({ run: { status: 'cancelled' }, ran: 0 });
    expect(cancelled.names.at(-1)).toBe('WorkflowCancelled');
    expect(skipped).toMatchObject({
      run: { status: 'completed', result: { content: 'after before' } },
      ran: 0,
    });
    expect(approved).toMatchObject({
      run: { status: 'completed', result: { content: 'after done' } },
      ran: 1,
    });
    expect(approved.names).toContain('StepContinued danger');
  });

  test('what a step made is kept or discarded', async () => {
    const [kept, discarded] = await Promise.all([
      overdue({ requiresOutputReview: true, onTimeout: 'approve' }),
      overdue({ requiresOutputReview: true, onTimeout: 'skip' }),
    ]);
    expect(kept.run.result!.content).toBe('after done');
    expect(discarded.run.result!.content).toBe('after before');
  });
});

test('a paused run can be cancelled', async () => {
  const { flow, runs } = reviewed({ requiresConfirmation: true });
  const run = await ran(flow);
  const { run: paused } = await run.look();
  await run.engine.cancel(run.runId, {
    runId: run.runId,
    kind: 'workflow',
    componentId: 'w',
    sessionId: null,
    userId: null,
    reason: 'Never mind',
    requestedAt: paused.updatedAt,
  });
  expect((await run.look()).run.status).toBe('cancelled');
  expect((await run.names()).slice(-2)).toEqual(['WorkflowCancelled', 'WorkflowCompleted']);
  expect(runs()).toBe(0);
});
