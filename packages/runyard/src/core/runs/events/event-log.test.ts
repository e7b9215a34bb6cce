import { describe, expect, test } from 'vitest';
import { EventLog, indexGap } from './event-log.js';
import { decodeBlock, LoggedEvent } from './logged-event.js';

function event(index: number, size = 10): LoggedEvent {
  return new LoggedEvent(index, 'RunContent', null, 'x'.repeat(size));
}

describe('reading', () => {
  test('returns the events from the cursor on, up to the limit', () => {
    const log = new EventLog(0);
    for (let index = 0; index < 5; index += 1) log.append(event(index));
    expect((log.read(1, 3) as LoggedEvent[]).map(({ index }) => index)).toEqual([1, 2, 3]);
    expect(log.read(5, 3)).toEqual([]);
    expect(log.read(9, 3)).toEqual([]);
  });

  test('shows held events only after their release', () => {
    const log = new EventLog(0);
    log.append(event(0));
    log.hold();
    log.append(event(1));
    expect(log.read(0, 10)).toHaveLength(1);
    log.release();
    expect(log.read(0, 10)).toHaveLength(2);
  });

  test('wakes those who wait, once', () => {
    const log = new EventLog(0);
    let woken = 0;
    const waiter = () => ({
      wake: () => {
        woken += 1;
      },
    });
    log.onceChanged(waiter());
    const left = { wake: () => expect.unreachable('forgotten') };
    log.onceChanged(left);
    log.onceChanged(waiter());
    log.forget(left);
    log.append(event(0));
    log.append(event(1));
    expect(woken).toBe(2);
  });
});

test('knows the key of a long event that is no longer in memory', () => {
  const log = new EventLog(0);
  log.append(new LoggedEvent(0, 'StepStarted', 'key:0', 'x'.repeat(100_000)));
  log.stored(1);
  expect(log.start).toBe(1);
  expect(log.has('key:0')).toBe(true);
});

test.each([2, 20, 200])(
  'knows the keys of all %i events, also of those that are no longer in memory',
  (count) => {
    const log = new EventLog(0);
    const has = (index: number) => log.has(`key:${index}`);
    const keyed = (index: number) =>
      new LoggedEvent(index, 'StepStarted', `key:${index}`, 'x'.repeat(10_000));
    for (let index = 0; index < count; index += 1) {
      expect(has(index)).toBe(false);
      log.append(keyed(index));
      log.append(event(index));
      expect(has(index)).toBe(true);
    }
    log.stored(2 * count);
    expect(Array.from({ length: count }, (_, index) => has(index))).not.toContain(false);
    expect(has(count)).toBe(false);
  },
);

test('knows the keys of events that are appended when most earlier ones are dropped', () => {
  const log = new EventLog(0);
  const keyed = (index: number, text: string) => new LoggedEvent(index, 'StepStarted', `key:${index}`, text);
  log.append(keyed(0, 'x'.repeat(100_000)));
  log.stored(1);
  expect(log.start).toBe(1);
  log.append(keyed(1, 'short'));
  expect([0, 1, 2].map((index) => log.has(`key:${index}`))).toEqual([true, true, false]);
});

test('a reader that has seen all available events is woken when more are stored', () => {
  const log = new EventLog(0);
  for (let index = 0; index < indexGap + 5; index += 1) log.append(event(index));
  expect(log.read(indexGap, 10)).toEqual([]);
  let woken = 0;
  log.onceChanged({
    wake: () => {
      woken += 1;
    },
  });
  log.stored(100);
  expect(woken).toBe(1);
  expect(log.read(indexGap, 10)).toHaveLength(5);
});

describe('memory', () => {
  test('is bounded by what is stored: old events are dropped and their readers sent to the store', () => {
    const log = new EventLog(0);
    for (let index = 0; index < 1000; index += 1) {
      log.append(event(index, 1000));
      const block = log.takeUnstored()!;
      log.stored(block.firstIndex + block.count);
    }
    expect(log.read(0, 1)).toBe('behind');
    expect(log.nextIndex - log.start).toBeLessThan(100);
    expect((log.read(999, 1) as LoggedEvent[])[0]!.index).toBe(999);
  });

  test('keeps what is not stored yet, and says when that is too much', () => {
    const log = new EventLog(0);
    for (let index = 0; index < 2000; index += 1) log.append(event(index, 1000));
    expect(log.congested).toBe(true);
    expect(log.read(0, 1)).toHaveLength(1);
    const block = log.takeUnstored()!;
    expect(log.takeUnstored()).toBeUndefined();
    log.stored(block.firstIndex + block.count);
    expect(log.congested).toBe(false);
  });

  test('is too much also when it is many small events', () => {
    const log = new EventLog(0);
    for (let index = 0; index < indexGap / 2; index += 1) log.append(event(index, 1));
    expect(log.congested).toBe(false);
    log.append(event(indexGap / 2, 1));
    expect(log.congested).toBe(true);
    log.stored(1);
    expect(log.congested).toBe(false);
  });
});

test('unstored events are handed over once, in order, as blocks that follow each other', () => {
  const log = new EventLog(10);
  log.append(event(10));
  log.append(event(11));
  const first = log.takeUnstored()!;
  log.append(event(12));
  const second = log.takeUnstored()!;
  expect([first.firstIndex, first.count, second.firstIndex, second.count]).toEqual([10, 2, 12, 1]);
  expect(decodeBlock(first.firstIndex, first.payload).map(({ index }) => index)).toEqual([10, 11]);
});
