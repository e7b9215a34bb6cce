import { expect, test } from 'vitest';
import type { EndedRun } from '../run.js';
import { Executed } from './run-handle.js';

const ended = { run: { runId: 'r' }, steps: [], history: [] } as unknown as EndedRun;

/** The execution of a run that ends as `completed` says. */
function executed(completed: () => Promise<EndedRun>): Executed {
  const [executor, live, other] = [{ completed }, { isWaiting: false }, {}] as never[];
  return new Executed(executor as never, live as never, other as never, other as never, other as never);
}

test('an end that cannot be stored for now rejects for callers who wait, before or after that is known', async () => {
  let store = (_: EndedRun): void => {};
  const stored = new Promise<EndedRun>((resolve) => {
    store = resolve;
  });
  const execution = executed(() => stored);
  const before = execution.reported;
  execution.received({} as never);
  execution.delayed(new Error('not stored'));
  await expect(before).rejects.toThrow('not stored');
  await expect(execution.reported).rejects.toThrow('not stored');
  store(ended);
  expect(await execution.ended).toBe(ended);
});

test('a caller who only asks later gets the same end, and its delay', async () => {
  const execution = executed(() => new Promise(() => {}));
  execution.delayed(new Error('not stored'));
  await expect(execution.reported).rejects.toThrow('not stored');
});
