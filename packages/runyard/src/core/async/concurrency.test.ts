import { expect, test } from 'vitest';
import { mapConcurrently, Semaphore } from './concurrency.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('at most so many items are processed at once, and the results keep their order', async () => {
  let [inWork, most] = [0, 0];
  const results = await mapConcurrently(2, [3, 1, 2, 0], async (turns) => {
    most = Math.max(most, ++inWork);
    for (let left = turns; left > 0; left -= 1) await turn();
    inWork -= 1;
    return turns * 10;
  });
  expect(results).toEqual([30, 10, 20, 0]);
  expect(most).toBe(2);
});

test('an item is read when its work begins, and none is after a failure', async () => {
  const taken: number[] = [];
  function* items() {
    for (const item of [0, 1, 2, 3, 4]) {
      taken.push(item);
      yield item;
    }
  }
  const failing = mapConcurrently(2, items(), async (item) => {
    if (item === 1) throw new Error('one');
    await turn();
  });
  await expect(failing).rejects.toThrow('one');
  await turn();
  await turn();
  expect(taken.length).toBeLessThan(4);
});

test('waiters get a place in order, unless they are aborted', async () => {
  const places = new Semaphore(1);
  expect(places.enter()).toBeUndefined();
  const order: string[] = [];
  const aborted = new AbortController();
  const first = places.enter(aborted.signal)!.catch((reason: unknown) => order.push(String(reason)));
  const second = places.run(async () => order.push('second'));
  expect([places.executing, places.waiting, places.full]).toEqual([1, 2, true]);
  aborted.abort('gone');
  await first;
  places.leave();
  await second;
  expect(order).toEqual(['gone', 'second']);
  expect([places.executing, places.waiting]).toEqual([0, 0]);
});
