import { expect, test } from 'vitest';
import { compileExpression } from './cel.js';

const values = {
  input: 'tea',
  previous_step_content: { score: 7, tags: ['a', 'b'] },
  previous_step_outputs: { draft: 'long text' },
  additional_data: { limit: 2.5 },
  session_state: { count: 2, on: true },
};

test.each([
  ['input == "tea"', true],
  ['session_state.count + 1 == 3', true],
  ['additional_data.limit > 2', true],
  ['size(previous_step_outputs.draft) > 20', false],
  ['"b" in previous_step_content.tags && previous_step_content.score >= 7', true],
  ['has(session_state.missing)', false],
])('%s', (text, expected) => {
  expect(compileExpression(text, 'condition', 'Condition').evaluate(values)).toBe(expected);
});

test('a router may choose several, by name', () => {
  const choose = compileExpression('session_state.on ? step_choices : [input]', 'router', 'Router');
  expect(choose.evaluate({ ...values, step_choices: ['a', 'b'] })).toEqual(['a', 'b']);
});

test('a loop knows how far it is', () => {
  const until = compileExpression('current_iteration >= 2 || last_step_content == "ok"', 'loop', 'Loop');
  expect(until.evaluate({ ...values, current_iteration: 1, last_step_content: 'ok' })).toBe(true);
  expect(until.evaluate({ ...values, current_iteration: 1, last_step_content: 'no' })).toBe(false);
});
