import { describe, expect, test } from 'vitest';
import { executorRunsOf, stepResultsOf } from '../../../src/core/workflows/fold/workflow-fold.js';
import { agent, type StepContext, step, stepOutput, steps, team, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate } from '../harness.js';
import { eventNames, ran } from './workflow-runs.js';

const upper = ({ previousStepContent, input }: StepContext) =>
  String(previousStepContent ?? input).toUpperCase();

describe('steps in order', () => {
  test('each gets what the one before it made, and all are emitted and stored', async () => {
    const model = scriptedModel(['a poem']);
    const writer = agent({ id: 'writer', name: 'Writer', model });
    const flow = workflow({
      id: 'w',
      name: 'W',
      steps: [
        upper,
        writer,
        step({ name: 'end', run: ({ previousStepContent }) => `${previousStepContent}!` }),
      ],
    });
    const run = await ran(flow);
    const { run: ended, results, runs } = await run.look();
    expect(ended).toMatchObject({
      kind: 'workflow',
      status: 'completed',
      result: { content: 'a poem!', contentType: 'str' },
    });
    expect(model.requests[0]!.messages.at(-1)!.content).toBe('HELLO');
    expect(results).toMatchObject([
      {
        step_name: 'upper',
        step_type: 'Step',
        executor_type: 'function',
        content: 'HELLO',
        success: true,
        stop: false,
      },
      {
        step_name: 'Writer',
        executor_type: 'agent',
        executor_name: 'Writer',
        content: 'a poem',
        step_run_id: runs[0]!.run.runId,
      },
      { step_name: 'end', content: 'a poem!', error: null, is_paused: false },
    ]);
    expect(Object.keys(results[0]!).sort()).toEqual(
      [
        'audio',
        'content',
        'error',
        'executor_name',
        'executor_type',
        'files',
        'images',
        'is_paused',
        'metrics',
        'step_id',
        'step_name',
        'step_run_id',
        'step_type',
        'stop',
        'success',
        'videos',
      ].sort(),
    );
    const events = await run.events();
    expect(eventNames(events)).toEqual([
      'WorkflowStarted',
      'StepStarted upper',
      'StepOutput upper',
      'StepCompleted upper',
      'StepStarted Writer',
      'RunStarted Writer',
      'ModelRequestStarted Writer',
      'RunContent Writer',
      'RunContent Writer',
      'RunContent Writer',
      'ModelRequestCompleted Writer',
      'RunContentCompleted Writer',
      'RunCompleted Writer',
      'StepCompleted Writer',
      'StepStarted end',
      'StepOutput end',
      'StepCompleted end',
      'WorkflowCompleted',
    ]);
    const started = events.find(({ event }) => event === 'RunStarted')!;
    expect(started).toMatchObject({
      agent_id: 'writer',
      workflow_id: 'w',
      workflow_run_id: run.runId,
      step_id: results[1]!.step_id,
      step_index: 1,
      nested_depth: 0,
    });
    expect(started.run_id).not.toBe(run.runId);
    expect(started).not.toHaveProperty('parent_run_id');
    expect(events.at(-1)).toMatchObject({
      workflow_id: 'w',
      workflow_name: 'W',
      run_id: run.runId,
      content: 'a poem!',
      step_executor_runs: [
        { agent_id: 'writer', status: 'completed', content: 'a poem', workflow_step_id: results[1]!.step_id },
      ],
      metrics: { steps: { Writer: { executor_type: 'agent', metrics: { total_tokens: 15 } }, upper: {} } },
    });
    expect(events.at(-1)).not.toHaveProperty('agent_id');
  });

  test('functions reach outputs by name, the state, additional data and the history', async () => {
    const seen: unknown[] = [];
    const flow = workflow({
      id: 'w',
      addHistoryToSteps: true,
      sessionState: { count: 1 },
      steps: [
        step({
          name: 'first',
          run: ({ state, emit }) => {
            state.set('count', Number(state.get('count')) + 1);
            emit({ half: true });
            return { a: 1 };
          },
        }),
        step({
          name: 'second',
          run: ({ previousStepOutputs, state, additionalData, history, idempotencyKey, runId }) => {
            seen.push([previousStepOutputs.first?.content, state.get('count'), additionalData, history]);
            expect(idempotencyKey).toContain(runId);
            return 'done';
          },
        }),
      ],
    });
    const first = await flow.run('one', { additionalData: { extra: 'E' } });
    const second = await flow.run('two', { sessionId: first.sessionId });
    expect(seen).toEqual([
      [{ a: 1 }, 2, { extra: 'E' }, []],
      [{ a: 1 }, 3, {}, [{ input: 'one', output: 'done' }]],
    ]);
    expect(second).toMatchObject({ status: 'completed', content: 'done', sessionState: { count: 3 } });
    const events = [];
    for await (const event of flow.stream('three')) events.push(event);
    expect(events.find(({ event }) => event === 'CustomEvent')).toMatchObject({
      half: true,
      step_name: 'first',
    });
  });

  test('the history precedes the input of an agent', async () => {
    const model = scriptedModel(['one', 'two']);
    const flow = workflow({ id: 'w', addHistoryToSteps: true, steps: [agent({ id: 'a', model })] });
    const { sessionId } = await flow.run('first');
    await flow.run('second', { sessionId });
    const asked = model.requests[1]!.messages.at(-1)!.content;
    expect(asked).toContain('Input: first');
    expect(asked).toContain('Output: one');
    expect(asked.endsWith('second')).toBe(true);
  });

  test('a step can end the workflow', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        steps({
          name: 'group',
          steps: [
            step({ name: 'stopper', run: () => stepOutput({ content: 'enough', stop: true }) }),
            () => 'never',
          ],
        }),
        () => 'never',
      ],
    });
    const run = await ran(flow);
    const { run: ended, results } = await run.look();
    expect(ended).toMatchObject({ status: 'completed', result: { content: 'enough' } });
    expect(results).toMatchObject([
      { step_type: 'Steps', stop: true, steps: [{ step_name: 'stopper', stop: true }] },
    ]);
    expect(results).toHaveLength(1);
    expect(eventNames(await run.events())).toEqual([
      'WorkflowStarted',
      'StepsExecutionStarted group',
      'StepStarted stopper',
      'StepsExecutionCompleted group',
      'WorkflowCompleted',
    ]);
  });

  test('an input schema gives the steps an object', async () => {
    const flow = workflow({
      id: 'w',
      inputSchema: {
        type: 'object',
        properties: { topic: { type: 'string' }, words: { type: 'integer', default: 5 } },
        required: ['topic'],
      },
      steps: [({ input }) => input],
    });
    expect(await flow.run({ topic: 'tea' })).toMatchObject({
      content: { topic: 'tea', words: 5 },
      contentType: 'dict',
    });
    // @ts-expect-error a text is no object
    await expect(flow.run('no json')).rejects.toMatchObject({ status: 422 });
  });
});

describe('a workflow in a workflow', () => {
  test('has a run of its own, one level deeper, tied to its step', async () => {
    const model = scriptedModel(['said']);
    const inner = workflow({
      id: 'inner',
      steps: [agent({ id: 'a', model }), () => stepOutput({ content: 'in', stop: true })],
    });
    const outer = workflow({
      id: 'outer',
      steps: [
        step({ name: 'nest', workflow: inner }),
        ({ previousStepContent }) => `${String(previousStepContent)} out`,
      ],
    });
    const run = await ran(outer);
    const { run: ended, results, runs } = await run.look();
    expect(ended.result!.content).toBe('in out');
    expect(results[0]).toMatchObject({ step_type: 'Workflow', executor_type: 'workflow', content: 'in' });
    expect(runs).toHaveLength(1);
    expect(runs[0]!.run).toMatchObject({
      kind: 'workflow',
      componentId: 'inner',
      status: 'completed',
      parentRunId: run.runId,
    });
    const events = await run.events();
    const started = events.filter(({ event }) => event === 'WorkflowStarted');
    expect(started).toMatchObject([
      { workflow_id: 'outer', nested_depth: 0 },
      {
        workflow_id: 'inner',
        nested_depth: 1,
        parent_step_id: results[0]!.step_id,
        run_id: runs[0]!.run.runId,
      },
    ]);
    expect(events.find(({ event }) => event === 'RunStarted')).toMatchObject({
      workflow_id: 'inner',
      workflow_run_id: runs[0]!.run.runId,
      nested_depth: 1,
    });
  });
});

test('a team executes a step, with its members one level deeper', async () => {
  const member = agent({ id: 'member', model: scriptedModel(['from the member']) });
  const lead = scriptedModel([
    { toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'member', task: 'do it' } }] },
    'from the team',
  ]);
  const flow = workflow({ id: 'w', steps: [team({ id: 't', model: lead, members: [member] })] });
  const run = await ran(flow);
  const { run: ended, results, runs } = await run.look();
  expect(ended.result!.content).toBe('from the team');
  expect(results[0]).toMatchObject({ executor_type: 'team', executor_name: 't', success: true });
  expect(runs.map((inside) => [inside.run.kind, inside.run.status])).toEqual([['team', 'completed']]);
  const events = await run.events();
  expect(events.find(({ event }) => event === 'TeamRunStarted')).toMatchObject({
    team_id: 't',
    workflow_id: 'w',
    step_name: 't',
    nested_depth: 0,
  });
  expect(events.find(({ event }) => event === 'RunStarted')).toMatchObject({ nested_depth: 1 });
});

test.each([true, false])('the records are the same, streamed or not: %s', async (stream) => {
  const flow = workflow({
    id: 'w',
    steps: [
      agent({ id: 'a', model: scriptedModel(['said']) }),
      steps({
        name: 'g',
        steps: [step({ name: 'f', run: ({ previousStepContent }) => previousStepContent })],
      }),
    ],
  });
  const run = await ran(flow, { input: { content: 'hello', media: [], options: { stream } } });
  const { run: ended, results, runs } = await run.look();
  expect(ended).toMatchObject({ status: 'completed', result: { content: 'said' } });
  expect(runs.map((inside) => inside.run.status)).toEqual(['completed']);
  expect(results).toMatchObject([
    { step_name: 'a', content: 'said', success: true },
    { step_name: 'g', steps: [{ step_name: 'f', content: 'said', success: true }] },
  ]);
});

describe('a workflow that is one function', () => {
  test('gets the fields of the request, and what it runs is not run twice', async () => {
    const model = scriptedModel(['one', 'two']);
    const helper = agent({ id: 'a', model });
    const flow = workflow({
      id: 'w',
      steps: async ({ input, run, fields, state }) => {
        state.set('seen', true);
        const first = await run(helper, `first ${String(input)}`, 'first');
        return `${String(first)} ${String(await run(helper, 'second', 'second'))} ${String(fields.extra)}`;
      },
    });
    const run = await ran(flow, {
      input: { content: 'hello', media: [], options: { stream: true, extra: { extra: 'E!' } } },
    });
    const { run: ended, results, runs } = await run.look();
    expect(ended.result).toMatchObject({ content: 'one two E!', sessionState: { seen: true } });
    expect(results).toEqual([]);
    expect(runs.map((inside) => inside.run.result!.content)).toEqual(['one', 'two']);
  });
});

test('cancelling reaches the step that runs', async () => {
  const reached = gate();
  const model = scriptedModel(() => {
    reached.open();
    return { waitFor: new Promise(() => {}) };
  });
  const flow = workflow({ id: 'w', steps: [() => 'done', agent({ id: 'a', model }), () => 'never'] });
  const store = await freshStore();
  const engine = engineOver(store, [flow]);
  const handle = await begin(engine, flow);
  await reached.promise;
  handle.cancel('Enough');
  const { run, steps: stored } = await handle.ended;
  expect(run).toMatchObject({ status: 'cancelled', result: { content: 'Enough' } });
  expect(stepResultsOf(run, stored)).toMatchObject([{ success: true }, { success: false, step_name: 'a' }]);
  expect(executorRunsOf(run, stored).map((inside) => inside.run.status)).toEqual(['cancelled']);
  const names = (await allEvents({ events: () => engine.events(run.runId, 0) })).map(({ name }) => name);
  expect(names.slice(-4)).toEqual(['RunCancelled', 'RunCompleted', 'WorkflowCancelled', 'WorkflowCompleted']);
});
