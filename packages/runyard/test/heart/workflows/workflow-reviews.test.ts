import { describe, expect, test } from 'vitest';
import { agent, condition, router, step, steps, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { after, eventNames, ran, reviewed } from './workflow-runs.js';

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
    expect(eventNames(pausedEvents).slice(-2)).toEqual(['StepPaused danger', 'WorkflowPaused']);
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
    expect(eventNames(events.slice(pausedEvents.length)).slice(0, 4)).toEqual([
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
    await expect(run.answer({})).rejects.toMatchObject({ status: 400, code: 'unresolved_requirements' });
    await expect(run.answer({ confirmed: 'yes' })).rejects.toMatchObject({ status: 400 });
    expect((await run.look()).run.status).toBe('paused');
  });
});

test("a person's input reaches the step, and has to fit", async () => {
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
    expect(eventNames(await run.events()).slice(-4)).toEqual([
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
    const names = eventNames(await run.events());
    expect(names).not.toContain('StepContinued danger');
    expect(names.filter((name) => name === 'StepStarted danger')).toHaveLength(1);
    expect(names.filter((name) => name === 'StepCompleted danger')).toHaveLength(1);
  });

  test("is replaced by a person's edit", async () => {
    const { flow } = reviewed(reviewing);
    const { run, results } = await (await ran(flow)).answer({ confirmed: true, edited_output: 'better' });
    expect(run.result!.content).toBe('after better');
    expect(results[1]!.content).toBe('better');
  });

  test('is made again with the feedback, and the workflow is cancelled after too many', async () => {
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
    const names = eventNames(await run.events());
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

  test('an agent learns why its answer was rejected', async () => {
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

test('a person chooses one of the existing routes', async () => {
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
  const names = eventNames(await run.events());
  expect(names.slice(names.indexOf('WorkflowPaused') + 1)[0]).toBe('RouterExecutionStarted way');
});

test('a function whose output is reviewed has a key for what it must not do twice', async () => {
  const keys: string[] = [];
  const { flow } = reviewed({ requiresOutputReview: true }, ({ idempotencyKey, runId }) => {
    keys.push(idempotencyKey.replace(runId, 'run'));
    return 'done';
  });
  await ran(flow);
  expect(keys).toEqual(['run:node:1:run:1']);
});
