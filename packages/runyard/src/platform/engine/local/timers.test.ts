import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemTimers } from './timers.js';

const day = 86_400_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([30 * day, 100 * day])(
  'a time of %i ms is waited for, although no timer of Node waits so long',
  (ms) => {
    const work = vi.fn();
    systemTimers.after(ms, work);
    vi.advanceTimersByTime(ms - 1);
    expect(work).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(work).toHaveBeenCalledTimes(1);
  },
);

test('a time that never ends does not, and is taken back in any part of it', () => {
  const work = vi.fn();
  systemTimers.after(Number.POSITIVE_INFINITY, work);
  const takeBack = systemTimers.after(100 * day, work);
  const repeated = vi.fn();
  systemTimers.every(100 * day, repeated);
  vi.advanceTimersByTime(60 * day);
  takeBack();
  expect(repeated.mock.calls.length).toBeLessThan(5);
  vi.advanceTimersByTime(100 * day);
  expect(work).not.toHaveBeenCalled();
});
