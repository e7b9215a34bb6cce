import { describe, expect, it } from 'vitest';
import { InvalidCron } from './cron.js';
import { jitterMs } from './jitter.js';
import { nextTick, ticksOf } from './ticks.js';

/** The next ticks as UTC times, to the minute. */
async function next(cron: string, zone: string, from: string, count: number): Promise<string[]> {
  const ticks = await ticksOf(cron, zone);
  const found: string[] = [];
  let at = Date.parse(from);
  while (found.length < count) {
    at = ticks.next(at) ?? Number.NaN;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

describe('the ticks of a schedule', () => {
  it.each([
    ['weekday 0 and 7', '0 0 * * 0', '0 0 * * 7'],
    ['names', '0 0 * 1 1-5', '0 0 * JAN MON-FRI'],
    ['aliases', '0 0 * * 0', '@weekly'],
  ])('are the same for %s', async (_what, one, other) => {
    const from = '2026-11-16T12:00:00Z';
    expect(await next(one, 'UTC', from, 8)).toEqual(await next(other, 'UTC', from, 8));
  });

  it.each([
    [
      'either day field',
      '0 0 13 * 5',
      ['2026-11-20', '2026-11-27', '2026-12-04', '2026-12-11', '2026-12-13'],
    ],
    ['the last day', '0 0 L * *', ['2026-11-30', '2026-12-31', '2027-01-31', '2027-02-28', '2027-03-31']],
    [
      'the nearest weekday',
      '0 0 15W * *',
      ['2026-12-15', '2027-01-15', '2027-02-15', '2027-03-15', '2027-04-15'],
    ],
    [
      'the nearest weekday of a weekend',
      '0 0 1W * *',
      ['2026-12-01', '2027-01-01', '2027-02-01', '2027-03-01', '2027-04-01'],
    ],
    [
      'the second Friday',
      '0 0 * * 5#2',
      ['2026-12-11', '2027-01-08', '2027-02-12', '2027-03-12', '2027-04-09'],
    ],
    ['the last Friday', '0 0 * * L5', ['2026-11-27', '2026-12-25', '2027-01-29', '2027-02-26', '2027-03-26']],
    ['leap days', '0 0 29 2 *', ['2028-02-29', '2032-02-29', '2036-02-29', '2040-02-29', '2044-02-29']],
  ])('are those of %s', async (_what, cron, days) => {
    expect(await next(cron, 'UTC', '2026-11-16T12:00:00Z', 5)).toEqual(days.map((day) => `${day}T00:00`));
  });

  it('are never now or earlier', async () => {
    const at = Date.parse('2026-11-16T12:00:00Z');
    expect(await nextTick('* * * * *', 'UTC', at)).toBe(at + 60_000);
    expect(await nextTick('* * * * *', 'UTC', at - 1)).toBe(at);
    expect(await nextTick('* * * * *', 'Asia/Kolkata', at + 999)).toBe(at + 60_000);
  });

  it.each(['0 0 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 *'])('do not exist for %s', async (cron) => {
    await expect(nextTick(cron, 'Europe/Berlin', Date.now())).rejects.toThrow(InvalidCron);
  });
});

describe('when the clocks go forward', () => {
  it.each([
    // 02:00 becomes 03:00 at 01:00 UTC
    [
      'Berlin, inside the gap',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00', '2027-03-29T00:30'],
    ],
    [
      'Berlin, several inside the gap are one',
      '0,15,30 2 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00', '2027-03-29T00:00'],
    ],
    [
      'Berlin, the gap and the time after it',
      '30 2,3 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00', '2027-03-28T01:30'],
    ],
    [
      'Berlin, the first valid time itself',
      '0 2,3 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00', '2027-03-29T00:00'],
    ],
    [
      'Berlin, every hour keeps its rhythm',
      '15 * * * *',
      'Europe/Berlin',
      '2027-03-27T23:20Z',
      ['2027-03-28T00:15', '2027-03-28T01:15', '2027-03-28T02:15'],
    ],
    [
      'Berlin, a step of hours',
      '0 */2 * * *',
      'Europe/Berlin',
      '2027-03-27T22:30Z',
      ['2027-03-27T23:00', '2027-03-28T01:00', '2027-03-28T02:00', '2027-03-28T04:00'],
    ],
    [
      'New York',
      '30 2 * * *',
      'America/New_York',
      '2027-03-13T12:00Z',
      ['2027-03-14T07:00', '2027-03-15T06:30'],
    ],
    // 02:00 becomes 02:30 at 15:30 UTC
    [
      'Lord Howe, half an hour',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2027-10-02T00:00Z',
      ['2027-10-02T15:30', '2027-10-03T15:15'],
    ],
    [
      'Lord Howe, every half hour',
      '*/30 * * * *',
      'Australia/Lord_Howe',
      '2027-10-02T14:40Z',
      ['2027-10-02T15:00', '2027-10-02T15:30', '2027-10-02T16:00'],
    ],
    // midnight becomes 01:00 at 04:00 UTC
    [
      'Santiago, midnight',
      '0 0 * * *',
      'America/Santiago',
      '2027-09-04T12:00Z',
      ['2027-09-05T04:00', '2027-09-06T03:00'],
    ],
    [
      'Santiago, a day of the week at midnight',
      '30 0 * * 0',
      'America/Santiago',
      '2027-09-04T12:00Z',
      ['2027-09-05T04:00', '2027-09-12T03:30'],
    ],
    // Beirut and Cairo change at midnight too
    [
      'Beirut, midnight',
      '0 0 * * *',
      'Asia/Beirut',
      '2027-03-27T12:00Z',
      ['2027-03-27T22:00', '2027-03-28T21:00'],
    ],
    // two hours
    [
      'Troll, two hours',
      '30 1,2 * * *',
      'Antarctica/Troll',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00', '2027-03-28T23:30'],
    ],
  ])('%s', async (_what, cron, zone, from, expected) => {
    expect(await next(cron, zone, from, expected.length)).toEqual(expected);
  });
});

describe('when the clocks go back', () => {
  it.each([
    // 03:00 becomes 02:00 at 01:00 UTC
    [
      'Berlin, a fixed time occurs once',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'Berlin, several fixed times',
      '0,30 1-3 * * *',
      'Europe/Berlin',
      '2026-10-24T22:00Z',
      [
        '2026-10-24T23:00',
        '2026-10-24T23:30',
        '2026-10-25T00:00',
        '2026-10-25T00:30',
        '2026-10-25T02:00',
        '2026-10-25T02:30',
      ],
    ],
    [
      'Berlin, every hour',
      '30 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:00Z',
      ['2026-10-24T23:30', '2026-10-25T00:30', '2026-10-25T01:30', '2026-10-25T02:30'],
    ],
    [
      'Berlin, every half hour',
      '*/30 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:40Z',
      ['2026-10-25T00:00', '2026-10-25T00:30', '2026-10-25T01:00', '2026-10-25T01:30', '2026-10-25T02:00'],
    ],
    [
      'Berlin, a step of hours keeps every tick',
      '0 */2 * * *',
      'Europe/Berlin',
      '2026-10-24T21:00Z',
      ['2026-10-24T22:00', '2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T03:00'],
    ],
    [
      'Berlin, from within the repeated hour',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-25T01:10Z',
      ['2026-10-26T01:30'],
    ],
    // 02:00 becomes 01:30 at 15:00 UTC
    [
      'Lord Howe, a fixed time',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2027-04-03T00:00Z',
      ['2027-04-03T14:45', '2027-04-04T15:15'],
    ],
    [
      'Lord Howe, every quarter',
      '*/15 * * * *',
      'Australia/Lord_Howe',
      '2027-04-03T14:20Z',
      ['2027-04-03T14:30', '2027-04-03T14:45', '2027-04-03T15:00', '2027-04-03T15:15', '2027-04-03T15:30'],
    ],
    // midnight becomes 23:00 of the day before at 03:00 UTC
    [
      'Santiago, 23:30',
      '30 23 * * *',
      'America/Santiago',
      '2027-04-03T12:00Z',
      ['2027-04-04T02:30', '2027-04-05T03:30'],
    ],
    [
      'Santiago, midnight',
      '0 0 * * *',
      'America/Santiago',
      '2027-04-03T12:00Z',
      ['2027-04-04T04:00', '2027-04-05T04:00'],
    ],
    [
      'Troll, two hours',
      '30 1 * * *',
      'Antarctica/Troll',
      '2026-10-24T12:00Z',
      ['2026-10-24T23:30', '2026-10-26T01:30'],
    ],
  ])('%s', async (_what, cron, zone, from, expected) => {
    expect(await next(cron, zone, from, expected.length)).toEqual(expected);
  });
});

describe('ticks that were missed', () => {
  it('are the last ones, in their order, and cost no more for a longer time', async () => {
    const ticks = await ticksOf('*/10 * * * *', 'Europe/Berlin');
    const until = Date.parse('2026-11-16T12:05:00Z');
    expect(ticks.between(until - 25 * 60_000, until, 100).map((at) => (until - at) / 60_000)).toEqual([
      15, 5,
    ]);
    expect(ticks.between(0, until, 3).map((at) => (until - at) / 60_000)).toEqual([25, 15, 5]);
    expect(ticks.between(until, until, 3)).toEqual([]);
  });

  it.each([
    ['*/15 * * * *', 'Europe/Berlin', '2026-10-24T20:00Z'],
    ['*/15 1-3 * * *', 'Europe/Berlin', '2026-10-24T20:00Z'],
    ['15 */2 * * *', 'Europe/Berlin', '2027-03-27T20:00Z'],
    ['*/15 * * * *', 'Australia/Lord_Howe', '2027-04-03T10:00Z'],
    ['*/15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T10:00Z'],
  ])('are those that would have come, around a change: %s in %s', async (cron, zone, start) => {
    const ticks = await ticksOf(cron, zone);
    const [from, until] = [Date.parse(start), Date.parse(start) + 10 * 3_600_000];
    const forward: number[] = [];
    for (let at = ticks.next(from); at !== undefined && at <= until; at = ticks.next(at)) forward.push(at);
    expect(forward.length).toBeGreaterThan(0);
    expect(ticks.between(from, until, 100)).toEqual(forward);
    for (let end = from; end < until; end += 7 * 60_000) {
      expect(ticks.between(from, end, 100)).toEqual(forward.filter((at) => at <= end));
    }
  });
});

it('delays each tick within the jitter, by the same time in every process', () => {
  const delays = Array.from({ length: 200 }, (_, tick) => jitterMs('schedule', tick * 60_000, 30));
  expect(delays.every((delay) => delay >= 0 && delay < 30_000)).toBe(true);
  expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(25_000);
  expect(delays[7]).toBe(jitterMs('schedule', 7 * 60_000, 30));
  expect(jitterMs('schedule', 0, 0)).toBe(0);
});
