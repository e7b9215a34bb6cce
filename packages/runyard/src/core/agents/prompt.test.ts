import { describe, expect, test } from 'vitest';
import { fill, systemPrompt, userPrompt } from './prompt.js';

const values = {
  state: { name: 'Ada', shared: 'state' },
  dependencies: { city: 'Paris', list: [1, 2], shared: 'dependencies' },
  metadata: { plan: 'pro' },
  userId: 'u1',
};

function prompt(settings: object, more: Partial<Parameters<typeof systemPrompt>[0]> = {}) {
  return systemPrompt({
    settings: { model: 'offline', ...settings },
    values,
    showState: false,
    promptedOutput: null,
    ...more,
  });
}

describe('{key} in instructions', () => {
  test('is filled from state, dependencies, metadata and the user, in that order', () => {
    expect(fill('{name} {city} {plan} {user_id} {shared} {list}', values)).toBe(
      'Ada Paris pro u1 state [1,2]',
    );
  });

  test('stays as it is when nothing has that name, also for names that every object has', () => {
    expect(fill('{unknown} {constructor} {toString} {} { name } {"json": 1}', values)).toBe(
      '{unknown} {constructor} {toString} {} { name } {"json": 1}',
    );
  });

  test('is filled once: a value that looks like a key is not looked up again', () => {
    expect(fill('{city}', { ...values, dependencies: { city: '{plan}' } })).toBe('{plan}');
  });
});

describe('the system message', () => {
  test('is absent when the agent has nothing to say', () => {
    expect(prompt({})).toBeNull();
  });

  test('holds what the agent says, in order', () => {
    expect(
      prompt({ description: 'You help {name}.', instructions: ['Be brief.', 'Be kind.'], markdown: true }),
    ).toBe('You help Ada.\n\n- Be brief.\n- Be kind.\n\nFormat your answer as Markdown.');
  });

  test('shows the state when asked to', () => {
    expect(prompt({}, { showState: true })).toContain('"name": "Ada"');
  });

  test('asks in words for a schema that the model cannot be held to', () => {
    const schema = { type: 'object', properties: { answer: { type: 'number' } } };
    expect(prompt({}, { promptedOutput: { name: 'Answer', schema, strict: false } })).toContain(
      JSON.stringify(schema),
    );
  });
});

test('the user message carries dependencies only when asked to', () => {
  expect(userPrompt('hi', null)).toBe('hi');
  expect(userPrompt('hi', {})).toBe('hi');
  expect(userPrompt('hi', { city: 'Paris' })).toContain('"city": "Paris"');
});
