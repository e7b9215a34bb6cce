import { expect, test } from 'vitest';
import { Setbacks } from './setbacks.js';

test('a run that fails again and again is tried less and less often, and never given up', () => {
  const setbacks = new Setbacks();
  const tries: number[] = [];
  for (let now = 0; now <= 3_600_000; now += 1_000) {
    if (setbacks.holdsBack('a', now)) continue;
    tries.push(now);
    setbacks.failed('a', now);
  }
  expect(tries.slice(0, 5)).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
  expect(tries.at(-1)! - tries.at(-2)!).toBe(300_000);
});

test('a run that succeeded, and one that never failed, are not held back', () => {
  const setbacks = new Setbacks();
  setbacks.failed('a', 0);
  expect([setbacks.holdsBack('a', 999), setbacks.holdsBack('b', 999)]).toEqual([true, false]);
  setbacks.succeeded('a');
  expect(setbacks.holdsBack('a', 999)).toBe(false);
});
