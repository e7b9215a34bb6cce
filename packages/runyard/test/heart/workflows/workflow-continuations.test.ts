import { expect, test } from 'vitest';
import { RunReleased } from '../../../src/core/runs/executable.js';
import { agent, condition, loop, parallel, step, steps, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore, gate } from '../harness.js';
import { call } from '../teams/team-runs.js';
import { workflowRun } from './workflow-runs.js';

/** A function that counts its calls, and fails in those with these numbers. */
function counted(name: string, fails: readonly number[] = []) {
  const counter = {
    calls: 0,
    step: step({ name, maxRetries: 0, run: ({ previousStepContent }) => work(previousStepContent) }),
  };
  const work = (previous: unknown): string => {
    counter.calls += 1;
    if (fails.includes(counter.calls)) throw new Error(`${name} broke`);
    return `${previous === null ? '' : `${String(previous)} `}${name}${counter.calls}`;
  };
  return counter;
}

test('a failed workflow continues with the step that failed', async () => {
  const [a, b, c] = [counted('a'), counted('b', [1, 2]), counted('c')];
  const flow = workflow({ id: 'flow', steps: [a.step, steps({ name: 'group', steps: [b.step] }), c.step] });
  const failed = await flow.run('x');
  expect(failed).toMatchObject({ status: 'error', error: { message: "Step 'b' failed: b broke" } });
  expect(await flow.continue(failed.runId)).toMatchObject({ status: 'error', runId: failed.runId });
  const run = await flow.continue(failed.runId);
  expect(run).toMatchObject({ status: 'completed', runId: failed.runId, content: 'a1 b3 c1' });
  expect([a.calls, b.calls, c.calls]).toEqual([1, 3, 1]);
  expect(run.stepResults.map(({ success }) => success)).toEqual([true, true, true]);
  await expect(flow.continue(failed.runId)).rejects.toThrow('completed');
});

test('retries, decisions, branches and failed rounds start anew; what has ended stays', async () => {
  let decided = 0;
  let tried = 0;
  const good = counted('good');
  const flow = workflow({
    id: 'flow',
    steps: [
      condition({
        name: 'maybe',
        when: () => {
          decided += 1;
          if (decided === 1) throw new Error('undecided');
          return true;
        },
        steps: [
          parallel({
            name: 'both',
            steps: [
              good.step,
              step({
                name: 'bad',
                maxRetries: 1,
                backoff: { delayMs: 0 },
                run: () => {
                  tried += 1;
                  if (tried < 4) throw new Error(`try ${tried}`);
                  return 'at last';
                },
              }),
            ],
          }),
        ],
      }),
    ],
  });
  const { runId, status } = await flow.run('x');
  expect(status).toBe('error');
  // two tries, of which none is left over for the next time
  expect(await flow.continue(runId)).toMatchObject({
    status: 'error',
    error: { message: expect.stringContaining('try 2') },
  });
  expect(await flow.continue(runId)).toMatchObject({ status: 'completed' });
  expect([decided, tried, good.calls]).toEqual([2, 4, 1]);
});

test('an agent, and a workflow within the workflow, continue where they failed', async () => {
  let pings = 0;
  const ping = tool({
    name: 'ping',
    description: 'x',
    execute: () => {
      pings += 1;
      return 'pong';
    },
  });
  const model = scriptedModel([
    { toolCalls: [call('ping', {})] },
    () => {
      throw new Error('The provider is down');
    },
    'All is well.',
  ]);
  const before = counted('before');
  const inner = workflow({
    id: 'inner',
    steps: [before.step, agent({ id: 'checker', model, tools: [ping] })],
  });
  const flow = workflow({
    id: 'flow',
    steps: [inner, ({ previousStepContent }) => `Says: ${String(previousStepContent)}`],
  });
  const failed = await flow.run('x');
  expect(failed.status).toBe('error');
  const run = await flow.continue(failed.runId);
  expect(run).toMatchObject({ status: 'completed', content: 'Says: All is well.' });
  expect([before.calls, pings, model.requests.length]).toEqual([1, 1, 3]);
  expect(model.requests[2]!.messages.at(-1)!.content).toBe('pong');
});

test('a function that is the whole workflow is executed again, and what it ran stays', async () => {
  const poet = scriptedModel(['Roses']);
  let calls = 0;
  const whole = workflow({
    id: 'whole',
    steps: async ({ run }) => {
      const line = await run(agent({ id: 'poet', model: poet }), 'A line', 'line');
      calls += 1;
      if (calls === 1) throw new Error('out of ink');
      return `${String(line)} printed`;
    },
  });
  const { runId } = await whole.run('x');
  expect(await whole.continue(runId)).toMatchObject({ status: 'completed', content: 'Roses printed' });
  expect(poet.requests).toHaveLength(1);
});

test('a crash while a failed workflow continues loses nothing', async () => {
  const reached = gate();
  const first = counted('first');
  let calls = 0;
  const flow = workflow({
    id: 'flow',
    steps: [
      first.step,
      step({
        name: 'second',
        maxRetries: 0,
        run: ({ signal, previousStepContent }) => {
          calls += 1;
          if (calls === 1) throw new Error('no');
          if (calls === 3) return `${String(previousStepContent)} second`;
          reached.open();
          return new Promise<string>((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          );
        },
      }),
    ],
  });
  const store = await freshStore();
  const engine = engineOver(store, [flow]);
  const { runId, ended } = await begin(engine, flow);
  expect((await ended).run.status).toBe('error');
  const { run, steps: recorded } = (await store.load(runId))!;
  const kept = flow.continuation(run, recorded, 'end')!;
  const handle = await engine.retry(runId, kept, { turn: 0, input: null, options: {} });
  await reached.promise;
  await handle.stored();
  await engine.stop(0);
  await expect(handle.ended).rejects.toBeInstanceOf(RunReleased);
  const other = engineOver(store, [flow]);
  const resumed = await other.resume((await store.load(runId))!.run);
  expect((await resumed!.ended).run).toMatchObject({
    status: 'completed',
    result: { content: 'first1 second' },
  });
  expect([first.calls, calls]).toEqual([1, 3]);
  const names = await workflowRun(store, other, runId).names();
  expect(names.filter((name) => name === 'WorkflowError' || name === 'WorkflowCompleted')).toEqual([
    'WorkflowError',
    'WorkflowCompleted',
  ]);
});

test('a new run starts at a step of an earlier one, with what the steps before it made', async () => {
  const [a, b, c] = [counted('a'), counted('b'), counted('c')];
  const flow = workflow({ id: 'flow', steps: [a.step, b.step, c.step] });
  const first = await flow.runOrThrow('x', { sessionId: 's' });
  expect(first.content).toBe('a1 b1 c1');
  const second = await flow.continue(first.runId, { from: 'b' });
  expect(second).toMatchObject({ status: 'completed', content: 'a1 b2 c2', sessionId: 's' });
  expect(second.runId).not.toBe(first.runId);
  expect((await flow.continue(second.runId, { from: 'a' })).content).toBe('a2 b3 c3');
  await expect(flow.continue(first.runId, { from: 'd' })).rejects.toThrow(
    "has not executed a step 'd'. It has: 'a', 'b', 'c'.",
  );
  await expect(flow.continue(first.runId, { from: 'b', answers: {} })).rejects.toThrow('cannot be combined');
});

test('a new run starts in the middle of groups; branches beside the step are taken over', async () => {
  const [a, left, right, after] = [counted('a'), counted('left'), counted('right'), counted('after')];
  const [x, y] = [counted('x'), counted('y')];
  let decided = 0;
  const flow = workflow({
    id: 'flow',
    steps: [
      a.step,
      condition({
        name: 'maybe',
        when: () => {
          decided += 1;
          return true;
        },
        steps: [parallel({ name: 'both', steps: [left.step, right.step] }), after.step],
      }),
      loop({ name: 'again', steps: [x.step, y.step], maxIterations: 2, forwardOutput: true }),
    ],
  });
  const { runId } = await flow.runOrThrow('go');
  const again = await flow.continue(runId, { from: 'right' });
  expect(again.status).toBe('completed');
  expect([a.calls, left.calls, right.calls, after.calls, decided]).toEqual([1, 1, 2, 2, 1]);
  expect([x.calls, y.calls]).toEqual([4, 4]);
  await flow.continue(again.runId, { from: 'y' });
  // the first iteration keeps its first step
  expect([after.calls, x.calls, y.calls]).toEqual([2, 5, 6]);
});

test('a paused and a failed run are where a new one can start, too', async () => {
  const [a, b] = [counted('a'), counted('b', [1])];
  const flow = workflow({
    id: 'flow',
    steps: [a.step, { ...b.step, review: { requiresConfirmation: true } }],
  });
  const paused = await flow.run('x');
  const copy = await flow.continue(paused.runId, { from: 'a' });
  expect(copy).toMatchObject({ status: 'paused' });
  const failed = await flow.continue(copy.runId, { answers: { b: { confirmed: true } } });
  expect(failed.status).toBe('error');
  // the answer of the person still stands for the run itself, and is asked for again in a new one
  expect(await flow.continue(failed.runId, { from: 'b' })).toMatchObject({ status: 'paused' });
  expect(await flow.continue(failed.runId)).toMatchObject({ status: 'completed', content: 'a2 b2' });
  expect((await flow.continue(paused.runId, { answers: { b: { confirmed: true } } })).content).toBe('a1 b3');
});
