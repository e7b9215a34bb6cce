import { expect, test } from 'vitest';
import { ManualTimers } from '../../../test/tools/tool-call.js';
import { PollLoop } from './poll-loop.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A loop whose looks end when the test says so. */
function polling(waitMs = 500) {
  const timers = new ManualTimers();
  const looks: (() => void)[] = [];
  const look = () => new Promise<number>((resolve) => looks.push(() => resolve(waitMs)));
  const poll = new PollLoop({ timers, look, leastWaitMs: 50 });
  poll.start();
  return { timers, looks, poll };
}

test('a request during a look causes one more, and requests do not overlap', async () => {
  const { timers, looks, poll } = polling();
  poll.look();
  poll.look();
  poll.look();
  expect(looks).toHaveLength(1);
  looks[0]!();
  await turn();
  expect(looks).toHaveLength(2);
  expect(timers.running).toBe(false);
  looks[1]!();
  await turn();
  expect(looks).toHaveLength(2);
  expect(timers.delays).toEqual([500]);
});

test('no request is lost in any turn in which a look ends', async () => {
  for (let microtasks = 0; microtasks < 8; microtasks += 1) {
    const { looks, poll } = polling();
    poll.look();
    looks[0]!();
    for (let left = microtasks; left > 0; left -= 1) await Promise.resolve();
    poll.look();
    await turn();
    expect(looks).toHaveLength(2);
  }
});

test('it looks again by itself, never sooner than it may', async () => {
  const { timers, looks, poll } = polling(-10);
  poll.look();
  looks[0]!();
  await turn();
  expect(timers.delays).toEqual([50]);
  timers.elapse();
  expect(looks).toHaveLength(2);
});

test('a request takes the place of the look that would come by itself', async () => {
  const { timers, looks, poll } = polling();
  poll.look();
  looks[0]!();
  await turn();
  poll.look();
  expect(timers.running).toBe(false);
  expect(looks).toHaveLength(2);
});

test('after its stop it waits for the look under way, and looks no more', async () => {
  const { timers, looks, poll } = polling();
  poll.look();
  poll.look();
  let stopped = false;
  const stopping = poll.stop().then(() => {
    stopped = true;
  });
  await turn();
  expect(stopped).toBe(false);
  looks[0]!();
  await stopping;
  poll.look();
  await turn();
  expect(looks).toHaveLength(1);
  expect(timers.running).toBe(false);
});
