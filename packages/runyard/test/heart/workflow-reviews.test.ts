import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  condition,
  loop,
  parallel,
  type ReviewSettings,
  router,
  type StepContext,
  step,
  steps,
  tool,
  workflow,
} from '../../src/index.js';
import { scriptedModel } from '../../src/testing.js';
import { call, payTool } from './paused-runs.js';
import { ran, told } from './workflow-runs.js';

const before = () => 'before';
const after = ({ previousStepContent }: StepContext) => `after ${String(previousStepContent)}`;

/** A workflow with a step in the middle that a person has a say in. */
function reviewed(review: ReviewSettings, run: (context: StepContext) => string = () => 'done') {
  let runs = 0;
  const flow = workflow({
    id: 'w',
    steps: [
      before,
      step({
        name: 'danger',
        review,
        run: (context) => {
          runs += 1;
          return run(context);
        },
      }),
      after,
    ],
  });
  return { flow, runs: () => runs };
}

const coreKeys = [
  'step_id',
  'step_name',
  'step_index',
  'step_type',
  'requires_confirmation',
  'confirmation_message',
  'confirmed',
  'on_reject',
  'requires_user_input',
  'user_input_message',
  'user_input',
  'requires_route_selection',
  'available_choices',
  'allow_multiple_selections',
  'selected_choices',
  'requires_output_review',
  'output_review_message',
  'is_post_execution',
  'rejection_feedback',
  'retry_count',
  'max_retries',
  'timeout_at',
  'on_timeout',
];

describe('a step that has to be confirmed', () => {
  test('pauses the run before it, with all that a client needs, and runs when confirmed', async () => {
    const { flow, runs } = reviewed({ requiresConfirmation: true, confirmationMessage: 'Really?' });
    const run = await ran(flow);
    const paused = await run.look();
    expect(paused.run).toMatchObject({ status: 'paused', result: { content: 'before' } });
    expect(runs()).toBe(0);
    const { requirements } = paused;
    expect(requirements).toMatchObject({ pausedStepIndex: 1, pausedStepName: 'danger', pauseKind: 'step' });
    for (const key of coreKeys) expect(requirements.stepRequirements[0]).toHaveProperty(key);
    const pausedEvents = await run.events();
    expect(told(pausedEvents).slice(-2)).toEqual(['StepPaused danger', 'WorkflowPaused']);
    expect(pausedEvents.at(-2)).toMatchObject({
      requires_confirmation: true,
      confirmation_message: 'Really?',
      requires_user_input: false,
    });
    expect(pausedEvents.at(-1)).toMatchObject({
      status: 'paused',
      paused_step_index: 1,
      paused_step_name: 'danger',
      pause_kind: 'step',
      step_requirements: [{ step_id: pausedEvents.at(-2)!.step_id, confirmed: null }],
      step_results: [{ step_name: 'before' }],
      step_executor_runs: [],
    });
    const ended = await run.answer({ confirmed: true });
    expect(ended.run).toMatchObject({ status: 'completed', result: { content: 'after done' } });
    expect(runs()).toBe(1);
    const events = await run.events();
    expect(told(events.slice(pausedEvents.length)).slice(0, 4)).toEqual([
      'StepContinued danger',
      'StepStarted danger',
      'StepOutput danger',
      'StepCompleted danger',
    ]);
    expect(events.filter(({ event }) => event === 'WorkflowStarted')).toHaveLength(1);
    expect(ended.results[1]!.step_id).toBe(pausedEvents.at(-2)!.step_id);
    expect(ended.requirements.stepRequirements).toMatchObject([{ confirmed: true }]);
  });

  test('is left out when it is rejected', async () => {
    const { flow, runs } = reviewed({ requiresConfirmation: true });
    const run = await ran(flow);
    const {
      run: ended,
      results,
      states,
    } = await run.answer({ confirmed: false, rejection_feedback: 'too dear' });
    expect(ended.result!.content).toBe('after before');
    expect(runs()).toBe(0);
    expect(results[1]).toMatchObject({ skipped: true, content: expect.stringContaining('too dear') });
    expect(states[1]!.status).toBe('skipped');
    expect(await run.names()).not.toContain('StepContinued');
  });

  test('ends the workflow when it is rejected and that is the policy', async () => {
    const { flow } = reviewed({ requiresConfirmation: true, onReject: 'cancel' });
    const run = await ran(flow);
    const count = (await run.names()).length;
    const { run: ended } = await run.answer({ confirmed: false });
    expect(ended.status).toBe('cancelled');
    expect((await run.names()).slice(count)).toEqual(['WorkflowCancelled']);
  });

  test('is asked about again, until that was often enough', async () => {
    const { flow } = reviewed({ requiresConfirmation: true, onReject: 'retry', maxRetries: 1 });
    const run = await ran(flow);
    const again = await run.answer({ confirmed: false });
    expect(again.run.status).toBe('paused');
    expect(again.requirements.stepRequirements).toMatchObject([
      { confirmed: false, retry_count: 0 },
      { confirmed: null, retry_count: 1 },
    ]);
    const { run: ended } = await run.answer({ confirmed: false });
    expect(ended).toMatchObject({
      status: 'cancelled',
      result: { content: expect.stringContaining('2 times') },
    });
  });

  test('a condition goes the other way when it is rejected; groups wait as a whole', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        condition({
          name: 'c',
          when: true,
          review: { requiresConfirmation: true, onReject: 'else' },
          steps: [() => 'if'],
          otherwise: [step({ name: 'e', run: () => 'else' })],
        }),
        steps({ name: 'group', review: { requiresConfirmation: true }, steps: [after] }),
      ],
    });
    const run = await ran(flow);
    const second = await run.answer({ confirmed: false });
    expect(second.results[0]).toMatchObject({ steps: [{ step_name: 'e', content: 'else' }] });
    expect(second.requirements).toMatchObject({ pausedStepName: 'group' });
    expect((await run.answer({ confirmed: true })).run.result!.content).toBe('after else');
    const names = await run.names();
    expect(names.filter((name) => name === 'ConditionExecutionStarted')).toHaveLength(1);
  });

  test('an answer that says nothing, or the wrong thing, is refused and the run waits on', async () => {
    const { flow } = reviewed({ requiresConfirmation: true });
    const run = await ran(flow);
    await expect(run.answer({})).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("confirmed of 'danger'"),
    });
    await expect(run.answer({ confirmed: 'yes' })).rejects.toMatchObject({ status: 400 });
    expect((await run.look()).run.status).toBe('paused');
  });
});

test('what a person fills in reaches the step, and has to fit', async () => {
  const seen: unknown[] = [];
  const { flow } = reviewed(
    {
      userInputMessage: 'Who?',
      userInputSchema: [
        { name: 'to', description: 'Receiver' },
        { name: 'count', type: 'int', required: false },
        { name: 'size', allowedValues: ['s', 'l'] },
      ],
    },
    ({ additionalData }) => {
      seen.push(additionalData.user_input);
      return 'sent';
    },
  );
  const run = await ran(flow);
  expect((await run.events()).at(-2)).toMatchObject({
    event: 'StepPaused',
    requires_user_input: true,
    user_input_message: 'Who?',
    user_input_schema: [
      { name: 'to', field_type: 'str', required: true },
      { name: 'count', required: false },
      { allowed_values: ['s', 'l'] },
    ],
  });
  for (const [given, field] of [
    [{ size: 's' }, 'user_input.to'],
    [{ to: 'x', size: 'm' }, 'user_input.size'],
    [{ to: 'x', size: 's', count: 'many' }, 'user_input.count'],
    [{ to: 'x', size: 's', other: 1 }, 'user_input.other'],
  ] as const)
    await expect(run.answer({ user_input: given })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(field),
    });
  const { run: ended, requirements } = await run.answer({ user_input: { to: 'me', size: 'l', count: '3' } });
  expect(ended.result!.content).toBe('after sent');
  expect(seen).toEqual([{ to: 'me', size: 'l', count: 3 }]);
  expect(requirements.stepRequirements[0]).toMatchObject({
    user_input: { to: 'me', count: 3 },
    user_input_schema: [{ value: 'me' }, { value: 3 }, { value: 'l' }],
  });
});

describe('the output of a step', () => {
  const reviewing = { requiresOutputReview: true, outputReviewMessage: 'Good?' };

  test('is kept when accepted, without running the step again', async () => {
    const { flow, runs } = reviewed(reviewing);
    const run = await ran(flow);
    expect(told(await run.events()).slice(-4)).toEqual([
      'StepOutput danger',
      'StepCompleted danger',
      'StepOutputReview danger',
      'WorkflowPaused',
    ]);
    expect((await run.look()).requirements.stepRequirements).toMatchObject([
      {
        requires_output_review: true,
        is_post_execution: true,
        output_review_message: 'Good?',
        step_output: { content: 'done' },
      },
    ]);
    const { run: ended } = await run.answer({ confirmed: true });
    expect(ended.result!.content).toBe('after done');
    expect(runs()).toBe(1);
    const names = told(await run.events());
    expect(names).not.toContain('StepContinued danger');
    expect(names.filter((name) => name === 'StepStarted danger')).toHaveLength(1);
    expect(names.filter((name) => name === 'StepCompleted danger')).toHaveLength(1);
  });

  test('gives way to what a person makes of it', async () => {
    const { flow } = reviewed(reviewing);
    const { run, results } = await (await ran(flow)).answer({ confirmed: true, edited_output: 'better' });
    expect(run.result!.content).toBe('after better');
    expect(results[1]!.content).toBe('better');
  });

  test('is made again with what was said about it, and the workflow is cancelled after too many', async () => {
    const feedback: unknown[] = [];
    const { flow, runs } = reviewed({ ...reviewing, maxRetries: 1 }, ({ rejectionFeedback }) => {
      feedback.push(rejectionFeedback);
      return `try ${feedback.length}`;
    });
    const run = await ran(flow);
    const second = await run.answer({ confirmed: false, rejection_feedback: 'shorter' });
    expect(second.run.status).toBe('paused');
    expect(second.requirements.stepRequirements.at(-1)).toMatchObject({
      retry_count: 1,
      step_output: { content: 'try 2' },
    });
    expect(feedback).toEqual([null, 'shorter']);
    expect(runs()).toBe(2);
    const names = told(await run.events());
    expect(names.slice(names.indexOf('WorkflowPaused') + 1)).toEqual([
      'StepContinued danger',
      'StepStarted danger',
      'StepOutput danger',
      'StepCompleted danger',
      'StepOutputReview danger',
      'WorkflowPaused',
    ]);
    expect((await run.answer({ confirmed: false })).run.status).toBe('cancelled');
  });

  test('is discarded when it is rejected and that is the policy', async () => {
    const { flow } = reviewed({ ...reviewing, onReject: 'skip' });
    const { run, results } = await (await ran(flow)).answer({ confirmed: false });
    expect(run.result!.content).toBe('after before');
    expect(results[1]).toMatchObject({ skipped: true });
  });

  test('an agent is told why its answer was rejected', async () => {
    const model = scriptedModel(['long', 'short']);
    const flow = workflow({
      id: 'w',
      steps: [step({ name: 's', agent: agent({ id: 'a', model }), review: { requiresOutputReview: true } })],
    });
    const run = await ran(flow);
    await run.answer({ confirmed: false, rejection_feedback: 'too long' });
    expect(model.requests[1]!.messages.at(-1)!.content).toContain('too long');
    const { run: ended, runs } = await run.answer({ confirmed: true });
    expect(ended.result!.content).toBe('short');
    expect(runs.map((inside) => inside.run.status)).toEqual(['completed', 'completed']);
  });
});

describe('the iterations of a loop', () => {
  const looping = (review: ReviewSettings) => {
    const made: string[] = [];
    const flow = workflow({
      id: 'w',
      steps: [
        loop({
          name: 'l',
          maxIterations: 2,
          review: { requiresIterationReview: true, ...review },
          steps: [
            step({
              name: 's',
              run: ({ iteration, rejectionFeedback }) => {
                made.push(`${iteration}${rejectionFeedback ?? ''}`);
                return made.at(-1)!;
              },
            }),
          ],
        }),
        after,
      ],
    });
    return { flow, made };
  };

  test('are kept when accepted: the loop goes on, and ends by itself', async () => {
    const { flow, made } = looping({});
    const run = await ran(flow);
    expect((await run.look()).requirements.stepRequirements).toMatchObject([
      { step_type: 'Loop', requires_output_review: true, step_output: { steps: [{ content: '1' }] } },
    ]);
    expect((await run.answer({ confirmed: true })).run.status).toBe('paused');
    const { run: ended, results } = await run.answer({ confirmed: true });
    expect(ended.result!.content).toBe('after 2');
    expect(made).toEqual(['1', '2']);
    expect(results[0]!.steps).toHaveLength(2);
    const names = told(await run.events());
    for (const [name, times] of [
      ['LoopExecutionStarted l', 1],
      ['LoopIterationStarted l', 2],
      ['LoopIterationCompleted l', 2],
      ['StepOutputReview l', 2],
      ['StepStarted s', 2],
      ['StepContinued l', 0],
    ] as const)
      expect([name, names.filter((other) => other === name).length]).toEqual([name, times]);
  });

  test('are done again when rejected, with what was said', async () => {
    const { flow, made } = looping({});
    const run = await ran(flow);
    await run.answer({ confirmed: false, rejection_feedback: '!' });
    await run.answer({ confirmed: true });
    const { results } = await run.answer({ confirmed: true });
    expect(made).toEqual(['1', '1!', '2']);
    expect(results[0]!.steps!.map(({ content }) => content)).toEqual(['1!', '2']);
    expect(new Set(results[0]!.steps!.map(({ step_id }) => step_id)).size).toBe(1);
    expect(told(await run.events())).toContain('StepContinued l');
  });

  test('can end the loop without a result', async () => {
    const { flow } = looping({ onReject: 'skip' });
    const { run, results } = await (await ran(flow)).answer({ confirmed: false });
    expect(run.result!.content).toBe('after null');
    expect(results[0]).toMatchObject({ skipped: true, steps: [] });
  });
});

test('a person chooses the way, of those that there are', async () => {
  const flow = workflow({
    id: 'w',
    steps: [
      router({
        name: 'way',
        select: 'user',
        allowMultiple: true,
        review: { userInputMessage: 'Which?' },
        choices: [
          step({ name: 'a', run: () => 'A' }),
          step({ name: 'b', run: ({ previousStepContent }) => `${String(previousStepContent)}B` }),
        ],
      }),
    ],
  });
  const run = await ran(flow);
  expect((await run.events()).slice(-2)).toMatchObject([
    {
      event: 'RouterPaused',
      available_choices: ['a', 'b'],
      allow_multiple_selections: true,
      user_input_message: 'Which?',
    },
    { event: 'WorkflowPaused' },
  ]);
  await expect(run.answer({ selected_choices: ['z'] })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("'z'"),
  });
  await expect(run.answer({ selected_choices: [] })).rejects.toMatchObject({ status: 400 });
  const { run: ended, results, states } = await run.answer({ selected_choices: ['a', 'b'] });
  expect(ended.result!.content).toBe('AB');
  expect(results[0]!.steps!.map(({ step_name }) => step_name)).toEqual(['a', 'b']);
  expect(states[0]).toMatchObject({ selected_steps: ['a', 'b'] });
  const names = told(await run.events());
  expect(names.slice(names.indexOf('WorkflowPaused') + 1)[0]).toBe('RouterExecutionStarted way');
});

describe('a step that failed and asks what to do', () => {
  const failing = () => {
    let tries = 0;
    return workflow({
      id: 'w',
      steps: [
        before,
        step({
          name: 'shaky',
          onError: 'pause',
          maxRetries: 0,
          run: () => {
            tries += 1;
            if (tries < 3) throw new RangeError(`no ${tries}`);
            return 'at last';
          },
        }),
        after,
      ],
    });
  };

  test('is tried again, as often as somebody wants', async () => {
    const run = await ran(failing());
    const paused = await run.look();
    expect(paused.requirements).toMatchObject({
      pausedStepName: 'shaky',
      errorRequirements: [
        {
          step_name: 'shaky',
          step_index: 1,
          error_message: 'no 1',
          error_type: 'RangeError',
          retry_count: 0,
          decision: null,
        },
      ],
      stepRequirements: [],
    });
    expect(paused.requirements).not.toHaveProperty('pauseKind');
    expect(told(await run.events()).slice(-2)).toEqual(['StepError shaky', 'WorkflowPaused']);
    const again = await run.answer({ decision: 'retry' }, 'error');
    expect(again.requirements.errorRequirements.at(-1)).toMatchObject({
      error_message: 'no 2',
      retry_count: 1,
    });
    expect((await run.answer({ decision: 'retry' }, 'error')).run.result!.content).toBe('after at last');
  });

  test('is left out when somebody says so; anything else is refused', async () => {
    const run = await ran(failing());
    await expect(run.answer({ decision: 'maybe' }, 'error')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('decision'),
    });
    const { run: ended, results } = await run.answer({ decision: 'skip' }, 'error');
    expect(ended.status).toBe('completed');
    expect(results[1]).toMatchObject({ success: false, error: 'no 1' });
  });
});

describe('an agent that waits for somebody', () => {
  const paying = (id: string, cents: number) => {
    const { pay, paid } = payTool({ requiresConfirmation: true });
    const model = scriptedModel([{ toolCalls: [call('pay', { cents }, `call ${id}`)] }, `paid by ${id}`]);
    return { paid, agent: agent({ id, model, tools: [pay] }) };
  };

  test('pauses the workflow with its requirements, and goes on where it was', async () => {
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
    expect(told(await run.events()).slice(-3)).toEqual([
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
    const names = told(await run.events()).slice(count);
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
    const first = await flow.run('go');
    expect(first.status).toBe('paused');
    expect(first.requirements.map(({ stepName, kind }) => [stepName, kind])).toEqual([
      ['one', 'executor'],
      ['two', 'executor'],
    ]);
    const second = await flow.continue(first.runId, {
      answers: { one: { calls: { 'call one': { confirmed: true } } } },
    });
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

  test('in a workflow inside of another one', async () => {
    const payer = paying('payer', 5);
    const inner = workflow({
      id: 'inner',
      steps: [payer.agent, step({ name: 'sure', run: () => 'sure', review: { requiresConfirmation: true } })],
    });
    const outer = workflow({ id: 'outer', steps: [before, step({ name: 'nest', workflow: inner }), after] });
    const first = await outer.run('go');
    expect(first.requirements).toMatchObject([{ stepName: 'payer', kind: 'executor' }]);
    const second = await outer.continue(first.runId, {
      answers: { payer: { calls: { 'call payer': { confirmed: true } } } },
    });
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

  test('rejecting inside of another workflow cancels the whole', async () => {
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

describe('when nobody answers in time', () => {
  /** The engine looks for runs whose time has come; a test does not wait for that. */
  const overdue = async (review: ReviewSettings) => {
    const { flow, runs } = reviewed({ ...review, timeoutMs: 1 });
    const run = await ran(flow);
    const { requirements, run: paused } = await run.look();
    expect(paused.wakeAt).not.toBeNull();
    expect(requirements.stepRequirements.at(-1)!.timeout_at).toMatch(/^\d{4}-.*\+00:00$/);
    await run.engine.open();
    await expect.poll(async () => (await run.look()).run.status, { timeout: 10_000 }).not.toBe('paused');
    await expect.poll(async () => (await run.look()).run.status).not.toBe('running');
    return { ...(await run.look()), names: told(await run.events()), ran: runs() };
  };

  test('the workflow is cancelled, or goes on without the step, or with it', async () => {
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
  }, 20_000);

  test('what a step made is kept or discarded', async () => {
    const [kept, discarded] = await Promise.all([
      overdue({ requiresOutputReview: true, onTimeout: 'approve' }),
      overdue({ requiresOutputReview: true, onTimeout: 'skip' }),
    ]);
    expect(kept.run.result!.content).toBe('after done');
    expect(discarded.run.result!.content).toBe('after before');
  }, 20_000);
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

test('the chat agent in front answers itself or lets the workflow run', async () => {
  const model = scriptedModel([
    { toolCalls: [{ name: 'run_workflow', arguments: { query: 'tea' } }] },
    'As I said: TEA.',
  ]);
  const lookUp = tool({
    name: 'unused',
    description: 'Not used',
    parameters: z.object({}),
    execute: () => '',
  });
  const flow = workflow({
    id: 'w',
    description: 'Writes in capitals.',
    agent: agent({ id: 'host', model, tools: [lookUp] }),
    steps: [({ input }) => String(input).toUpperCase()],
  });
  const first = await ran(flow, { sessionId: 's' });
  const { run, runs, results } = await first.look();
  expect(run).toMatchObject({ status: 'completed', result: { content: 'TEA' } });
  expect(runs).toEqual([]);
  expect(results).toMatchObject([{ content: 'TEA' }]);
  const names = await first.names();
  expect(names[0]).toBe('WorkflowAgentStarted');
  expect(names.slice(names.indexOf('WorkflowStarted'))).toEqual([
    'WorkflowStarted',
    'StepStarted',
    'StepOutput',
    'StepCompleted',
    'WorkflowCompleted',
    'WorkflowAgentCompleted',
  ]);
  const { begin } = await import('./harness.js');
  const second = await (await begin(first.engine, first.store, flow, { sessionId: 's' })).ended;
  expect(second.run).toMatchObject({
    status: 'completed',
    result: { content: 'As I said: TEA.', metadata: { agent_direct_response: true } },
  });
  expect(model.requests[1]!.messages.at(-1)!.content).toContain('Output: TEA');
  const { allEvents } = await import('./harness.js');
  const events = (await allEvents({ events: () => first.engine.events(second.run.runId, 0) })).map(
    ({ data }) => JSON.parse(data) as { event: string; workflow_agent?: boolean; metadata?: object },
  );
  expect(events.slice(-2)).toMatchObject([
    { event: 'WorkflowAgentCompleted', content: 'As I said: TEA.' },
    { event: 'WorkflowCompleted', metadata: { agent_direct_response: true } },
  ]);
  expect(events.map(({ event }) => event)).not.toContain('WorkflowStarted');
  const said = events.filter(({ event }) => event === 'RunContent');
  expect(said.length).toBeGreaterThan(0);
  for (const { workflow_agent } of said) expect(workflow_agent).toBe(true);
});
