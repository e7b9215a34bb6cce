import { describe, expect, test } from 'vitest';
import {
  agent,
  condition,
  loop,
  ModelError,
  parallel,
  router,
  type StepContext,
  step,
  stepOutput,
  steps,
  workflow,
} from '../../src/index.js';
import { scriptedModel } from '../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate } from './harness.js';
import { ran, told } from './workflow-runs.js';

const upper = ({ previousStepContent, input }: StepContext) =>
  String(previousStepContent ?? input).toUpperCase();

describe('steps in order', () => {
  test('each gets what the one before it made, and all are told and kept', async () => {
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
    expect(told(events)).toEqual([
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

  test('the history stands in front of what an agent is asked', async () => {
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
    expect(told(await run.events())).toEqual([
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
    await expect(flow.run('no json')).rejects.toMatchObject({ status: 422 });
  });
});

describe('steps that fail', () => {
  test('are tried again and then skipped, with the failure as what they leave behind', async () => {
    let tries = 0;
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 'shaky',
          run: () => {
            tries += 1;
            throw new Error('no luck');
          },
        }),
        ({ previousStepContent }) => `after: ${String(previousStepContent)}`,
      ],
    });
    const run = await ran(flow);
    const { run: ended, results, states } = await run.look();
    expect(tries).toBe(4);
    expect(ended.status).toBe('completed');
    expect(results[0]).toMatchObject({
      success: false,
      error: 'no luck',
      content: expect.stringContaining('skipped: no luck'),
    });
    expect(ended.result!.content).toContain('after: Step');
    expect(states[0]).toMatchObject({ step_name: 'shaky', status: 'failed' });
    expect((await run.names()).filter((name) => name === 'StepCompleted')).toHaveLength(1);
  });

  test('end the run when they are to, with one event, and the run is stored', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        () => 'fine',
        step({
          name: 'bad',
          maxRetries: 0,
          onError: 'fail',
          run: () => {
            throw new TypeError('broken');
          },
        }),
        () => 'never',
      ],
    });
    const run = await ran(flow);
    const { run: ended, results } = await run.look();
    expect(ended).toMatchObject({
      status: 'error',
      result: { error: { type: 'TypeError', message: "Step 'bad' failed: broken" } },
    });
    expect(results).toMatchObject([
      { success: true },
      { step_name: 'bad', success: false, error: expect.stringContaining('broken') },
    ]);
    const events = await run.events();
    expect(events.filter(({ event }) => event === 'WorkflowError')).toMatchObject([
      { workflow_id: 'w', run_id: run.runId, error: "Step 'bad' failed: broken", error_type: 'TypeError' },
    ]);
    expect(events.at(-1)!.event).toBe('WorkflowError');
  });

  test('an agent that fails hands its error on and did not succeed', async () => {
    const model = scriptedModel(() => ({
      error: new ModelError('gone', { provider: 'P', kind: 'refused' }),
    }));
    const flow = workflow({
      id: 'w',
      steps: [agent({ id: 'a', model }), ({ previousStepContent }) => previousStepContent],
    });
    const run = await ran(flow);
    const { run: ended, results, runs } = await run.look();
    expect(model.requests).toHaveLength(1);
    expect(results[0]).toMatchObject({
      success: false,
      content: expect.stringContaining('gone'),
      step_run_id: runs[0]!.run.runId,
    });
    expect(runs[0]!.run.status).toBe('error');
    expect(ended.result!.content).toBe(results[0]!.content);
    expect(told(await run.events()).filter((name) => name.startsWith('StepCompleted'))).toHaveLength(1);
  });

  test('an agent is run again as often as asked for', async () => {
    let calls = 0;
    const model = scriptedModel(() => {
      calls += 1;
      return calls < 3 ? { error: new ModelError('gone', { provider: 'P', kind: 'refused' }) } : 'at last';
    });
    const flow = workflow({ id: 'w', steps: [step({ agent: agent({ id: 'a', model }), maxRetries: 2 })] });
    const { run, results, runs } = await (await ran(flow)).look();
    expect(run.result!.content).toBe('at last');
    expect(runs.map((inside) => inside.run.status)).toEqual(['error', 'error', 'completed']);
    expect(results[0]).toMatchObject({ success: true, step_run_id: runs[2]!.run.runId });
  });

  test('a step that takes too long is stopped: a function and an agent', async () => {
    let signal: AbortSignal | undefined;
    const model = scriptedModel([{ waitFor: new Promise(() => {}) }]);
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 'slow',
          maxRetries: 0,
          timeoutMs: 5,
          run: (context) => {
            signal = context.signal;
            return new Promise<string>(() => {});
          },
        }),
        step({ name: 'slow agent', agent: agent({ id: 'a', model }), timeoutMs: 5 }),
      ],
    });
    const run = await ran(flow);
    const { run: ended, results, runs } = await run.look();
    expect(ended.status).toBe('completed');
    expect(signal!.aborted).toBe(true);
    expect(results).toMatchObject([
      { success: false, error: expect.stringContaining('within 5 ms') },
      { success: false, error: expect.stringContaining('within 5 ms') },
    ]);
    expect(runs[0]!.run.status).toBe('cancelled');
  });
});

describe('groups', () => {
  test('a loop goes on until its condition is met, forwards what it made, and sums up', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        () => 'x',
        loop({
          name: 'grow',
          maxIterations: 5,
          forwardOutput: true,
          until: 'size(last_step_content) >= 4 && current_iteration > 1 && all_success',
          steps: [
            step({
              name: 'double',
              run: ({ previousStepContent, iteration }) => `${String(previousStepContent)}${iteration}`,
            }),
          ],
        }),
        ({ previousStepContent }) => previousStepContent,
      ],
    });
    const run = await ran(flow);
    const { run: ended, results } = await run.look();
    expect(ended.result!.content).toBe('x123');
    expect(results[1]).toMatchObject({
      step_type: 'Loop',
      steps: [{ content: 'x1' }, { content: 'x12' }, { content: 'x123' }],
    });
    const ids = new Set(results[1]!.steps!.map(({ step_id }) => step_id));
    expect(ids.size).toBe(1);
    const events = await run.events();
    const iterations = events.filter(({ event }) => event === 'LoopIterationCompleted');
    expect(iterations).toMatchObject([
      { iteration: 1, should_continue: true, max_iterations: 5 },
      { iteration: 2, should_continue: true },
      { iteration: 3, should_continue: false, iteration_results: [{ content: 'x123' }] },
    ]);
    expect(events.find(({ event }) => event === 'LoopExecutionCompleted')).toMatchObject({
      total_iterations: 3,
      all_results: [[{}], [{}], [{}]],
    });
    expect(
      events.find(({ event, step_name }) => event === 'StepStarted' && step_name === 'double'),
    ).toMatchObject({
      step_index: [1, 0],
      parent_step_id: results[1]!.step_id,
    });
  });

  test('a loop without forwarding begins each iteration anew, and ends after enough', async () => {
    const seen: unknown[] = [];
    const flow = workflow({
      id: 'w',
      steps: [
        () => 'start',
        loop({
          maxIterations: 2,
          until: ({ outputs }) => outputs.length > 5,
          steps: [({ previousStepContent }) => void seen.push(previousStepContent)],
        }),
      ],
    });
    expect((await (await ran(flow)).look()).run.status).toBe('completed');
    expect(seen).toEqual(['start', 'start']);
  });

  test('parallel branches run side by side, within the bound, and are told in declared order', async () => {
    const both = gate();
    let inside = 0;
    let most = 0;
    const branch = (name: string) =>
      step({
        name,
        run: async () => {
          inside += 1;
          most = Math.max(most, inside);
          if (inside === 2) both.open();
          await both.promise;
          inside -= 1;
          return name;
        },
      });
    const flow = workflow({
      id: 'w',
      maxParallel: 2,
      steps: [
        parallel({ name: 'both', steps: [branch('a'), branch('b'), branch('c'), branch('d')] }),
        ({ previousStepContent }) => previousStepContent,
      ],
    });
    const run = await ran(flow);
    const { run: ended, results } = await run.look();
    expect(most).toBe(2);
    expect(results[0]).toMatchObject({
      step_type: 'Parallel',
      executor_type: 'parallel',
      content: expect.stringContaining('### a'),
      steps: [{ step_name: 'a' }, { step_name: 'b' }, { step_name: 'c' }, { step_name: 'd' }],
    });
    expect(ended.result!.content).toBe('d');
    const events = await run.events();
    const ids = events.filter(({ event }) => event.startsWith('Parallel')).map(({ step_id }) => step_id);
    expect(ids).toEqual([results[0]!.step_id, results[0]!.step_id]);
  });

  test('a branch that fails does not take the others with it', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        parallel([
          step({
            name: 'bad',
            maxRetries: 0,
            run: () => {
              throw new Error('oh');
            },
          }),
          step({ name: 'good', run: () => 'ok' }),
        ]),
      ],
    });
    const { run, results } = await (await ran(flow)).look();
    expect(run.status).toBe('completed');
    expect(results[0]).toMatchObject({
      success: false,
      steps: [{ success: false }, { success: true, content: 'ok' }],
    });
  });

  test.each([
    ['a text', true, 'if', ['long']],
    ['a function', false, 'else', ['short']],
  ])('a condition takes one of its branches: %s', async (_, isText, branch, executed) => {
    const flow = workflow({
      id: 'w',
      steps: [
        condition({
          name: 'which',
          when: isText ? 'input.startsWith("hel") && session_state.on == true' : () => false,
          steps: [step({ name: 'long', run: () => 'L' })],
          otherwise: [step({ name: 'short', run: () => 'S' })],
        }),
      ],
      sessionState: { on: true },
    });
    const run = await ran(flow);
    const { results, states } = await run.look();
    expect(results[0]!.steps!.map(({ step_name }) => step_name)).toEqual(executed);
    const events = await run.events();
    expect(events.filter(({ event }) => event.startsWith('Condition'))).toMatchObject([
      { event: 'ConditionExecutionStarted', condition_result: isText },
      { event: 'ConditionExecutionCompleted', branch, executed_steps: 1 },
    ]);
    expect(states[0]).toMatchObject({ branch, status: 'completed' });
  });

  test('a condition that is not met says so, streamed or not', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        () => 'before',
        condition({ name: 'no', when: false, steps: [() => 'x'] }),
        ({ previousStepContent }) => previousStepContent,
      ],
    });
    const outputs = [];
    for (const stream of [true, false]) {
      const run = await ran(flow, { input: { content: 'hello', media: [], options: { stream } } });
      const { run: ended, results } = await run.look();
      expect(ended.result!.content).toBe('before');
      expect(results[1]).toMatchObject({
        step_name: 'no',
        skipped: true,
        success: true,
        content: expect.stringContaining('not met'),
        steps: [],
      });
      outputs.push(
        results.map(({ step_id: _id, metrics: _metrics, ...rest }) => rest),
        await run.names(),
      );
    }
    expect(outputs.slice(0, 2)).toEqual(outputs.slice(2));
  });

  test.each([
    ['a function', () => 'b'],
    ['a text', 'step_choices[1]'],
  ] as const)('a router goes the way that is chosen by %s', async (_, select) => {
    const flow = workflow({
      id: 'w',
      steps: [
        router({
          name: 'way',
          select,
          choices: [step({ name: 'a', run: () => 'A' }), step({ name: 'b', run: () => 'B' })],
        }),
      ],
    });
    const run = await ran(flow);
    const { run: ended, results } = await run.look();
    expect(ended.result!.content).toBe('B');
    expect(results[0]).toMatchObject({ step_type: 'Router', steps: [{ step_name: 'b' }] });
    expect((await run.events()).find(({ event }) => event === 'StepStarted')).toMatchObject({
      step_name: 'b',
      step_index: 0,
    });
  });

  test('a way that does not exist ends the run with a word about it', async () => {
    const flow = workflow({
      id: 'w',
      steps: [router({ name: 'way', select: () => 'z', choices: [step({ name: 'a', run: () => 'A' })] })],
    });
    const { run } = await (await ran(flow)).look();
    expect(run).toMatchObject({
      status: 'error',
      result: { error: { message: expect.stringMatching(/'way'.*"z".*'a'/) } },
    });
  });

  test('groups stand in groups', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        loop({
          name: 'outer',
          maxIterations: 2,
          steps: [
            parallel({
              name: 'both',
              steps: [
                steps({
                  name: 'left',
                  steps: [step({ name: 'l', run: ({ iteration }) => `l${iteration}` })],
                }),
                condition({
                  name: 'right',
                  when: 'input == "hello"',
                  steps: [step({ name: 'r', run: () => 'r' })],
                }),
              ],
            }),
          ],
        }),
      ],
    });
    const run = await ran(flow);
    const { results } = await run.look();
    expect(results[0]!.steps).toMatchObject([
      {
        step_name: 'both',
        steps: [
          { step_name: 'left', steps: [{ content: 'l1' }] },
          { step_name: 'right', steps: [{ content: 'r' }] },
        ],
      },
      {
        step_name: 'both',
        steps: [{ step_name: 'left', steps: [{ content: 'l2' }] }, { step_name: 'right' }],
      },
    ]);
    const deep = (await run.events()).find(
      ({ event, step_name }) => event === 'StepStarted' && step_name === 'l',
    )!;
    expect(deep.step_index).toEqual([0, 0, 0, 0]);
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
  const handle = await begin(engine, store, flow);
  await reached.promise;
  handle.cancel('Enough');
  const { run, steps: stored } = await handle.ended;
  expect(run).toMatchObject({ status: 'cancelled', result: { content: 'Enough' } });
  const { stepResultsOf, executorRunsOf } = await import('../../src/core/workflows/fold/workflow-fold.js');
  expect(stepResultsOf(run, stored)).toMatchObject([{ success: true }, { success: false, step_name: 'a' }]);
  expect(executorRunsOf(run, stored).map((inside) => inside.run.status)).toEqual(['cancelled']);
  const names = (await allEvents({ events: () => engine.events(run.runId, 0) })).map(({ name }) => name);
  expect(names.slice(-4)).toEqual(['RunCancelled', 'RunCompleted', 'WorkflowCancelled', 'WorkflowCompleted']);
});
