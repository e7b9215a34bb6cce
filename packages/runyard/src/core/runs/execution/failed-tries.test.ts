import { expect, test } from 'vitest';
import type { Timers } from '../../timers.js';
import { pauseSince } from './failed-tries.js';

test.each([
  ['what is left of it', 1_000, 1_200, 300],
  ['no longer than that when the clock was set back', 9_000, 1_000, 500],
])('a wait that began earlier takes %s', async (_, began, now, expected) => {
  const waits: number[] = [];
  const timers = {
    now: () => now,
    after: (ms: number, work: () => void) => {
      waits.push(ms);
      work();
      return () => {};
    },
  } as unknown as Timers;
  await pauseSince(began, 500, new AbortController().signal, timers);
  expect(waits).toEqual([expected]);
});
