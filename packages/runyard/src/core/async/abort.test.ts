import { expect, test } from 'vitest';
import type { Timers } from '../timers.js';
import { LazyAbort, pause, untilAborted, withinTime } from './abort.js';

/** Timers that a test fires by hand. */
function handTimers() {
  const due = new Set<() => void>();
  const after = (_ms: number, work: () => void) => {
    due.add(work);
    return () => due.delete(work);
  };
  return { timers: { after } as unknown as Timers, due, fire: () => [...due].forEach((work) => void work()) };
}

test('an abort ends the wait, before it begins or later, but not the work', async () => {
  const controller = new AbortController();
  let finish!: (value: number) => void;
  const work = new Promise<number>((resolve) => {
    finish = resolve;
  });
  const waiting = untilAborted(work, controller.signal);
  controller.abort('stop');
  await expect(waiting).rejects.toBe('stop');
  await expect(untilAborted(work, controller.signal)).rejects.toBe('stop');
  finish(1);
  expect(await work).toBe(1);
  expect(await untilAborted(2, new AbortController().signal)).toBe(2);
});

test('a pause leaves no timer behind', async () => {
  const { timers, due, fire } = handTimers();
  const controller = new AbortController();
  const whole = pause(5, controller.signal, timers);
  fire();
  await whole;
  const cut = pause(5, controller.signal, timers);
  controller.abort('stop');
  await expect(cut).rejects.toBe('stop');
  await expect(pause(5, controller.signal, timers)).rejects.toBe('stop');
  expect(due.size).toBeLessThanOrEqual(1);
});

test('work that times out is aborted, and may clean up within the grace period', async () => {
  const { timers, due, fire } = handTimers();
  const bound = { timeoutMs: 5, signal: undefined, timers, timeout: () => new Error('too slow') };
  let seen: unknown;
  const never = withinTime(bound, (signal) => {
    signal.addEventListener('abort', () => {
      seen = signal.reason;
    });
    return new Promise(() => {});
  });
  fire();
  await expect(never).rejects.toThrow('too slow');
  expect(seen).toMatchObject({ message: 'too slow' });
  due.clear();
  const tidy = withinTime({ ...bound, graceMs: 10 }, (signal) => {
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve('tidied')));
  });
  fire();
  expect(await tidy).toBe('tidied');
  expect(await withinTime({ ...bound, timeoutMs: undefined }, () => 'at once')).toBe('at once');
});

test('a signal that is asked for before the abort, and one that is asked for after it, have its reason', () => {
  const early = new LazyAbort();
  const late = new LazyAbort();
  const { signal } = early;
  const reason = new Error('enough');
  for (const abort of [early, late]) {
    abort.abort(reason);
    abort.abort(new Error('later'));
  }
  expect(signal.reason).toBe(reason);
  expect(late.signal.reason).toBe(reason);
  expect(() => late.throwIfAborted()).toThrow(reason);
});

test('those who listen without a signal are notified of the abort once, after those who asked for one', () => {
  const abort = new LazyAbort();
  const heard: unknown[] = [];
  const gone = () => heard.push('gone');
  abort.addEventListener('abort', gone);
  abort.addEventListener('abort', () => heard.push(abort.reason));
  abort.signal.addEventListener('abort', () => heard.push('signal'));
  abort.removeEventListener('abort', gone);
  abort.abort('enough');
  abort.addEventListener('abort', gone);
  abort.abort('later');
  expect(heard).toEqual(['signal', 'enough']);
});
