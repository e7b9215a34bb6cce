import { expect, test } from 'vitest';
import { FailedAttempts } from './failed-attempts.js';

test('twenty attempts within a minute are allowed; the next is rejected with the time to wait', () => {
  const attempts = new FailedAttempts();
  for (let second = 0; second < 20; second++) expect(attempts.note('here', second * 1000)).toBeUndefined();
  expect(attempts.note('here', 20_000)).toEqual({ retryAfterMs: 40_000, begins: true });
  expect(attempts.note('here', 59_000)).toEqual({ retryAfterMs: 1_000, begins: false });
  expect(attempts.note('there', 59_000)).toBeUndefined();
});

test('an attempt counts for a minute', () => {
  const attempts = new FailedAttempts();
  for (let second = 0; second < 20; second++) attempts.note('here', second * 1000);
  expect(attempts.note('here', 60_000)).toBeUndefined();
  // in its place came the one just allowed
  expect(attempts.note('here', 60_500)).toEqual({ retryAfterMs: 500, begins: true });
  expect(attempts.note('here', 61_000)).toBeUndefined();
});

test('with more addresses than it can watch, it forgets the one that failed longest ago', () => {
  const attempts = new FailedAttempts();
  for (let count = 0; count < 20; count++) attempts.note('old', 0);
  for (let count = 0; count < 20; count++) attempts.note('busy', 1);
  for (let address = 0; address < 9_999; address++) attempts.note(`other ${address}`, 2);
  expect(attempts.note('busy', 3)).toMatchObject({ begins: true });
  expect(attempts.note('old', 3)).toBeUndefined();
});
