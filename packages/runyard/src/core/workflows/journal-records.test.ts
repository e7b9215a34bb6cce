import { expect, test } from 'vitest';
import { idFrom } from '../ids.js';
import { stepIdOf } from './journal-records.js';

const input = { content: '', media: [], options: { stream: false } };

test('the id of a step is that of its place, in every iteration and whatever the run is called', () => {
  const run = { runId: 'r', input: { ...input, salt: 'one' } };
  expect(stepIdOf(run, '2@0.1')).toBe(stepIdOf({ ...run, runId: 'other' }, '2@7~1.1'));
  expect(stepIdOf(run, '2.1')).not.toBe(stepIdOf(run, '2.2'));
  expect(stepIdOf(run, '2.1')).not.toBe(stepIdOf({ ...run, input: { ...input, salt: 'two' } }, '2.1'));
});

test('a run from before there was a salt keeps the ids that it has emitted', () => {
  expect(stepIdOf({ runId: 'r', input }, '2@0.1')).toBe(idFrom('r 2.1'));
});
