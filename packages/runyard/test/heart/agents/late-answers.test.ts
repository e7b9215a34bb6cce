import { expect, test } from 'vitest';
import { timedOut } from '../../../src/core/runs/journal/due-questions.js';
import { answers, begin, engineOver, executable, freshStore } from '../harness.js';

test('an answer that comes after the deadline of its question does not count', async () => {
  const store = await freshStore();
  const heard: unknown[] = [];
  const asking = executable('a', async (context) => {
    for (const [key, dueAt] of [
      ['late', 1],
      ['open', undefined],
    ] as const)
      heard.push(
        await context.wait({ key, kind: 'question', data: {}, ...(dueAt !== undefined && { dueAt }) }),
      );
    return 'done';
  });
  const engine = engineOver(store, [asking]);
  const { runId, ended } = await begin(engine, asking);
  await ended;
  await (await engine.answer(runId, answers({ 'wait:late': 'too late' }))).ended;
  expect(heard).toEqual([timedOut]);
  await (await engine.answer(runId, answers({ 'wait:open': 'in time' }))).ended;
  expect(heard).toEqual([timedOut, timedOut, 'in time']);
});
