import { describe, expect, test } from 'vitest';
import type { Json } from '../../json.js';
import { reasoningStepFrom, reasoningText } from './reasoning-step.js';

describe('what a model says of a step', () => {
  test('is taken as it is when it fits', () => {
    const step = {
      title: 'Sum',
      action: 'I add',
      result: '5',
      reasoning: '2 and 3',
      next_action: 'final_answer',
      confidence: 0.9,
    };
    expect(reasoningStepFrom({ ...step, more: true })).toEqual(step);
  });

  test('is null where it is missing or odd', () => {
    expect(
      reasoningStepFrom({ reasoning: 'hm', title: '', action: 3, next_action: 'dance', confidence: 95 }),
    ).toEqual({
      title: null,
      action: null,
      result: null,
      reasoning: 'hm',
      next_action: null,
      confidence: 1,
    });
  });

  test('is no step without any thought', () => {
    const values: (Json | undefined)[] = [undefined, null, 'text', [], {}, { next_action: 'continue' }];
    for (const value of values) expect(reasoningStepFrom(value)).toBeUndefined();
  });
});

test('steps read as text', () => {
  const step = {
    title: 'Sum',
    action: null,
    result: '5',
    reasoning: '2 and 3',
    next_action: null,
    confidence: null,
  };
  expect(reasoningText([step, { ...step, title: null, reasoning: null }])).toBe(
    '## Sum\n2 and 3\nResult: 5\n\n## Step 2\nResult: 5',
  );
});
