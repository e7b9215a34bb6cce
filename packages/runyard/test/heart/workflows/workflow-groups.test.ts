import { describe, expect, test } from 'vitest';
import { condition, loop, parallel, router, step, steps, workflow } from '../../../src/index.js';
import { gate } from '../harness.js';
import { eventNames, ran } from './workflow-runs.js';

describe('groups', () => {
  test('a loop continues until its condition is met, forwards what it made, and sums up', async () => {
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

  test('parallel branches run side by side, within the bound, and are reported in declared order', async () => {
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
            onError: 'skip',
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

  describe('a branch that ends the run', () => {
    async function afterFailure(maxParallel: number, names: readonly string[]) {
      const done: string[] = [];
      const failing = gate();
      const pay = step({
        name: 'pay',
        maxRetries: 0,
        run: () => {
          failing.open();
          throw new Error('declined');
        },
      });
      const noting = (name: string) =>
        step({
          name,
          run: async () => {
            if (name === 'thank') await failing.promise;
            done.push(name);
          },
        });
      const branches = names.map((name) => (name === 'pay' ? pay : noting(name)));
      const run = await ran(workflow({ id: 'w', steps: [parallel({ maxParallel, steps: branches })] }));
      const { run: ended, results } = await run.look();
      expect(ended).toMatchObject({
        status: 'error',
        result: { error: { message: "Step 'pay' failed: declined" } },
      });
      const begun = eventNames(await run.events()).filter((name) => name.startsWith('StepStarted'));
      return { done, begun, results };
    }

    test('lets those under way come to their end', async () => {
      const { done, results } = await afterFailure(2, ['pay', 'thank']);
      expect(done).toEqual(['thank']);
      expect(results[0]).toMatchObject({ success: false, steps: [{ success: false }, { success: true }] });
    });

    test('is the last one that begins', async () => {
      const { done, begun, results } = await afterFailure(1, ['pack', 'pay', 'ship', 'bill']);
      expect(done).toEqual(['pack']);
      expect(begun).toEqual(['StepStarted pack', 'StepStarted pay']);
      expect(results[0]).toMatchObject({ success: false, steps: [{ success: true }, { success: false }] });
      expect((results[0]!.steps as unknown[]).length).toBe(2);
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

  test('groups can be nested', async () => {
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
