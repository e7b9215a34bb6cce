import { describe, expect, test } from 'vitest';
import {
  agent,
  condition,
  loop,
  parallel,
  router,
  type StepContext,
  step,
  steps,
  type WorkflowSettings,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore, gate, goOn } from '../harness.js';
import { diesAndRecovers, eventNames, workflowRun } from './workflow-runs.js';

/** Counts what is done, and never ends what is called `stuck` the first time. */
function worker() {
  const reached = gate();
  const counts: Record<string, number> = {};
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
    return counts[name];
  };
  const does = (name: string) =>
    step({ name, run: ({ iteration }) => `${name}${iteration || ''} ${count(`${name}${iteration || ''}`)}` });
  const stuck = (name = 'stuck', when: (context: StepContext) => boolean = () => true) =>
    step({
      name,
      run: (context) => {
        if (!when(context)) return 'free';
        if (count(name) > 1) return 'unstuck';
        reached.open();
        return new Promise<string>(() => {});
      },
    });
  return { reached: reached.promise, counts, count, does, stuck };
}

async function recovered(
  list: WorkflowSettings['steps'],
  work: ReturnType<typeof worker>,
  stored: readonly string[],
) {
  const make = () => workflow({ id: 'w', steps: list });
  const run = await diesAndRecovers(make, work.reached, (keys) => stored.every((key) => keys.includes(key)));
  const looked = await run.look();
  const names = eventNames(await run.events());
  return { ...looked, names, times: (name: string) => names.filter((other) => other === name).length };
}

describe('after a crash only what had not ended is done', () => {
  test('in steps, one after the other and in a group', async () => {
    const work = worker();
    const list = [
      work.does('a'),
      steps({ name: 'g', steps: [work.does('b'), work.stuck()] }),
      work.does('c'),
    ];
    const { run, names, times } = await recovered(list, work, ['node:0', 'node:1.0']);
    expect(run).toMatchObject({ status: 'completed', attempt: 2, result: { content: 'c 1' } });
    expect(work.counts).toEqual({ a: 1, b: 1, stuck: 2, c: 1 });
    for (const name of [
      'StepStarted a',
      'StepCompleted a',
      'StepsExecutionStarted g',
      'StepStarted stuck',
      'StepCompleted stuck',
      'WorkflowCompleted',
    ])
      expect([name, times(name)]).toEqual([name, 1]);
    expect(names.filter((name) => name === 'WorkflowStarted')).toHaveLength(2);
  });

  test('in parallel branches', async () => {
    const work = worker();
    const list = [parallel({ name: 'p', steps: [work.does('a'), work.stuck(), work.does('b')] })];
    const { run, results, times } = await recovered(list, work, ['node:0.0', 'node:0.2']);
    expect(run.status).toBe('completed');
    expect(work.counts).toEqual({ a: 1, stuck: 2, b: 1 });
    expect(results[0]!.steps!.map(({ content }) => content)).toEqual(['a 1', 'unstuck', 'b 1']);
    expect(times('ParallelExecutionStarted p')).toBe(1);
  });

  test('in the iteration of a loop', async () => {
    const work = worker();
    const list = [
      loop({
        name: 'l',
        maxIterations: 3,
        until: ({ iteration }) => work.count(`until ${iteration}`) > 0 && iteration === 2,
        steps: [work.does('a'), work.stuck('stuck', ({ iteration }) => iteration === 2)],
      }),
    ];
    const { results, times } = await recovered(list, work, ['node:0@1:until', 'node:0@2.0']);
    expect(work.counts).toEqual({ a1: 1, 'until 1': 1, a2: 1, stuck: 2, 'until 2': 1 });
    expect(results[0]!.steps!.map(({ content }) => content)).toEqual(['a1 1', 'free', 'a2 1', 'unstuck']);
    expect([
      times('LoopIterationStarted l'),
      times('LoopIterationCompleted l'),
      times('LoopExecutionStarted l'),
    ]).toEqual([2, 2, 1]);
  });

  test('on the way that was taken, whatever would be decided now', async () => {
    const work = worker();
    const list = [
      condition({
        name: 'c',
        when: () => work.count('when') === 1,
        steps: [work.does('if')],
        otherwise: [work.does('else')],
      }),
      router({
        name: 'r',
        select: () => (work.count('select') === 1 ? 'stuck' : 'other'),
        choices: [work.stuck(), work.does('other')],
      }),
    ];
    const { run } = await recovered(list, work, ['node:0', 'node:1:select']);
    expect(run.result!.content).toBe('unstuck');
    expect(work.counts).toEqual({ when: 1, if: 1, select: 1, stuck: 2 });
  });

  test('in a workflow inside, and in the run of an agent', async () => {
    const work = worker();
    const model = scriptedModel(() => `said ${work.count('model')}`);
    const inner = () =>
      workflow({ id: 'inner', steps: [agent({ id: 'a', model }), work.does('x'), work.stuck()] });
    const list = () => [work.does('first'), step({ name: 'nest', workflow: inner() })];
    const make = () => workflow({ id: 'w', steps: list() });
    const run = await diesAndRecovers(make, work.reached, (keys) => keys.includes('node:1:run:1/node:1'));
    const { run: ended, runs } = await run.look();
    expect(ended.result!.content).toBe('unstuck');
    expect(work.counts).toEqual({ first: 1, model: 1, x: 1, stuck: 2 });
    expect(runs).toHaveLength(1);
  });

  test('in a workflow that is one function', async () => {
    const work = worker();
    const model = scriptedModel(() => `said ${work.count('model')}`);
    const helper = agent({ id: 'a', model });
    const whole: WorkflowSettings['steps'] = async ({ run: runInside }) => {
      const said = await runInside(helper, 'go');
      if (work.count('whole') > 1) return said;
      await new Promise((resolve) => setImmediate(resolve));
      opened.open();
      return new Promise<string>(() => {});
    };
    const opened = gate();
    const { run } = await recovered(whole, { ...work, reached: opened.promise }, ['function:run:a']);
    expect(run.result!.content).toBe('said 1');
    expect(work.counts).toEqual({ model: 1, whole: 2 });
  });
});

test('a crash after an answer asks no question again and repeats nothing', async () => {
  const work = worker();
  const make = () =>
    workflow({
      id: 'w',
      steps: [
        steps({
          name: 'g',
          steps: [
            work.does('a'),
            step({
              name: 'sure',
              run: () => `sure ${work.count('sure')}`,
              review: { requiresConfirmation: true },
            }),
            work.stuck(),
          ],
        }),
      ],
    });
  const store = await freshStore();
  const component = make();
  const dying = engineOver(store, [component], { owner: 'dying', leaseMs: 1 });
  const { run: paused } = await (await begin(dying, component)).ended;
  expect(paused.status).toBe('paused');
  await dying.answer(paused.runId, {
    answers: new Map([['wait:node:0.1:before', { confirmed: true }]]),
    continuation: goOn,
  });
  await work.reached;
  await expect
    .poll(async () =>
      (await store.load(paused.runId))!.steps.some(
        ({ key, status }) => key === 'node:0.1' && status === 'completed',
      ),
    )
    .toBe(true);
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [make()]);
  await next.recover();
  const run = workflowRun(store, next, paused.runId);
  const names = eventNames(await run.events());
  expect((await run.look()).run).toMatchObject({ status: 'completed', result: { content: 'unstuck' } });
  expect(work.counts).toEqual({ a: 1, sure: 1, stuck: 2 });
  for (const name of [
    'StepsExecutionStarted g',
    'StepPaused sure',
    'StepContinued sure',
    'StepStarted sure',
    'StepCompleted sure',
    'StepStarted a',
  ])
    expect([name, names.filter((other) => other === name).length]).toEqual([name, 1]);
});

test('two answers at once: one counts', async () => {
  const component = workflow({
    id: 'w',
    steps: [step({ name: 'sure', run: () => 'yes', review: { requiresConfirmation: true } })],
  });
  const store = await freshStore();
  const engines = [engineOver(store, [component]), engineOver(store, [component])];
  const { run } = await (await begin(engines[0]!, component)).ended;
  const settled = await Promise.allSettled(
    [true, false].map((confirmed, position) =>
      engines[position]!.answer(run.runId, {
        answers: new Map([['wait:node:0:before', { confirmed }]]),
        continuation: goOn,
      }),
    ),
  );
  expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});
