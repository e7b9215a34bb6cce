import { expect, test } from 'vitest';
import { durationText, parseTime, wireTime } from './times.js';

test.each([
  [0, '0ms'],
  [453.99, '454ms'],
  [999.4, '999ms'],
  [999.6, '1.00s'],
  [1000, '1.00s'],
  [2500, '2.50s'],
  [-5, '0ms'],
])('%d milliseconds are %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

test('times have microseconds unless they are zero', () => {
  expect(wireTime(Date.UTC(2026, 10, 15, 0, 37, 17, 325))).toBe('2026-11-15T00:37:17.325000Z');
  expect(wireTime(Date.UTC(2026, 10, 15, 0, 37, 17))).toBe('2026-11-15T00:37:17Z');
});

const noon = Date.UTC(2026, 0, 31, 12);

test.each([
  ['2026-01-31T12:00:00Z', noon],
  ['2026-01-31T12:00', noon],
  ['2026-01-31 12:00:00', noon],
  ['2026-01-31T14:00:00+02:00', noon],
  ['2026-01-31T14:00:00 02:00', noon],
  ['2026-01-31T06:30:00-0530', noon],
  ['2026-01-31t12:00:00.250z', noon + 250],
  ['2026-01-31T12:00:00.000250Z', noon + 0.25],
  ['2026-01-31', Date.UTC(2026, 0, 31)],
  ['2026-02-31', undefined],
  ['2026-13-01', undefined],
  ['2026-01-31T25:00:00Z', undefined],
  ['yesterday', undefined],
  ['', undefined],
])('%s is read', (text, milliseconds) => {
  expect(parseTime(text)).toBe(milliseconds);
});
