import { describe, expect, test } from 'vitest';
import type { AgentExecution } from '../execution.js';
import { fill, systemPrompt, userPrompt } from './prompt.js';

const values = {
  state: { name: 'Ada', shared: 'state' },
  dependencies: { city: 'Paris', list: [1, 2], shared: 'dependencies' },
  metadata: { plan: 'pro' },
  current: { user_id: 'u1' },
};

function execution(
  settings: object,
  options: object = {},
  more: Partial<AgentExecution> = {},
): AgentExecution {
  return {
    agent: { settings: { model: 'offline', ...settings } },
    context: {
      run: { runId: 'r1', sessionId: 's1', userId: 'u1' },
      options,
      state: { all: () => values.state },
    },
    model: { capabilities: { structuredOutput: 'prompted' } },
    input: { content: 'hi' },
    output: null,
    toolInstructions: [],
    dependencies: values.dependencies,
    metadata: values.metadata,
    ...more,
  } as unknown as AgentExecution;
}

describe('{key} in instructions', () => {
  test('is filled from the user, state, dependencies and metadata, in that order', () => {
    expect(fill('{name} {city} {plan} {user_id} {shared} {list}', values)).toBe(
      'Ada Paris pro u1 state [1,2]',
    );
  });

  test('that a token fixes is filled from what the token says, and from nothing else', () => {
    const fixed = { dependencies: ['shared', 'plan'], stateKeys: ['city'], state: {} };
    expect(fill('{shared} {plan} {city} {name}', { ...values, fixed })).toBe(
      'dependencies {plan} {city} Ada',
    );
    expect(fill('{user_id}', { ...values, state: { user_id: 'root' } })).toBe('u1');
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
  test('names the user of the run, and leaves the name to the state in a run without one', async () => {
    const named = execution({ instructions: 'For {user_id}/{current_user_id}.' });
    expect(await systemPrompt(named, {})).toBe('For u1/u1.');
    const { context } = named;
    const state = { all: () => ({ user_id: 'from the state' }) };
    const run = { ...context.run, userId: null };
    const unnamed = { ...named, context: { ...context, run, state } } as unknown as AgentExecution;
    expect(await systemPrompt(unnamed, {})).toBe('For from the state/{current_user_id}.');
  });

  test('is absent when the agent has nothing to say', async () => {
    expect(await systemPrompt(execution({}))).toBeNull();
  });

  test('holds what the agent says, in order', async () => {
    const settings = {
      description: 'You help {name}.',
      instructions: ['Be brief.', 'Be kind.'],
      markdown: true,
    };
    expect(await systemPrompt(execution(settings))).toBe(
      'You help Ada.\n\n- Be brief.\n- Be kind.\n\nFormat your answer as Markdown.',
    );
  });

  test('shows the state when asked to', async () => {
    expect(await systemPrompt(execution({}, { addSessionStateToContext: true }))).toContain('"name": "Ada"');
  });

  test('describes a schema in words if the model cannot be held to it', async () => {
    const schema = { type: 'object', properties: { answer: { type: 'number' } } };
    const output = {
      format: { name: 'Answer', schema, strict: false },
    } as unknown as AgentExecution['output'];
    expect(await systemPrompt(execution({}, {}, { output }))).toContain(JSON.stringify(schema));
  });
});

test('the user message carries dependencies only when asked to', () => {
  expect(userPrompt(execution({}))).toBe('hi');
  expect(userPrompt(execution({ addDependenciesToContext: true }))).toContain('"city": "Paris"');
  expect(userPrompt(execution({ addDependenciesToContext: true }, { addDependenciesToContext: false }))).toBe(
    'hi',
  );
});
