import { expect, test } from 'vitest';
import { z } from 'zod';
import { replayRun } from '../../../src/core/runs/resume/replay.js';
import { agent, step, tool, workflow } from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore } from '../harness.js';

test('taking a run through the code calls nothing of the application', async () => {
  const called: string[] = [];
  const trap =
    <T>(name: string, value: T) =>
    (): T => {
      called.push(name);
      return value;
    };
  const made = (name: string) => {
    const charge = tool({
      name: 'charge',
      description: 'x',
      inputSchema: z.object({ amount: z.number().refine(trap('refinement', true)) }),
      requiresConfirmation: true,
      execute: trap('tool', 'charged'),
    });
    const look = tool({
      name: 'look',
      description: 'x',
      inputSchema: z.object({}),
      execute: trap('look', 'seen'),
    });
    const model = scriptedModel(() => {
      called.push('model');
      const turn = called.filter((one) => one === 'model').length;
      if (turn === 1) return { toolCalls: [{ name: 'look', arguments: {} }] };
      return { toolCalls: [{ name: 'charge', arguments: { amount: 1 } }] };
    });
    const payer = agent({
      id: 'payer',
      name,
      model,
      tools: [look, charge],
      instructions: trap('instructions', 'Pay.'),
      dependencies: { plan: trap('dependency', 'free') },
      preHooks: [trap('pre-hook', undefined)],
      postHooks: [trap('post-hook', undefined)],
      toolHooks: [
        (_call, next) => {
          called.push('tool hook');
          return next();
        },
      ],
    });
    return workflow({
      id: 'flow',
      name,
      steps: [step({ name: 'first', run: trap('function', 'done') }), step({ name: 'pay', agent: payer })],
    });
  };
  const before = made('before');
  const store = await freshStore();
  const handle = await begin(engineOver(store, [before]), before);
  expect((await handle.ended).run.status).toBe('paused');
  expect(called).toEqual(expect.arrayContaining(['function', 'instructions', 'dependency', 'look', 'model']));
  called.length = 0;
  const { run, steps } = (await store.load(handle.runId))!;
  const found = await replayRun(made('after'), run, steps, systemTimers);
  expect(found).toEqual({ leftOut: [] });
  expect(called).toEqual([]);
});
