import { describe, expect, test } from 'vitest';
import type { ModelRequest, ToolDefinition } from '../model.js';
import { rememberFacts } from './remember-facts.js';

function request(tools: string[], content = ''): ModelRequest {
  return {
    messages: [{ id: '1', role: 'user', content, createdAt: 0 }],
    tools: tools.map((name): ToolDefinition => ({ name, description: '', inputSchema: {} })),
    media: { put: async () => '', get: async () => undefined },
  };
}

const memoryTools = ['add_memory', 'update_memory', 'delete_memory'];

function remembered(message: string, known = 'Nothing yet.'): unknown[] | undefined {
  const content = `<remembered>\n${known}\n</remembered>\n\n<message>\n${message}\n</message>`;
  return rememberFacts('', request(memoryTools, content))?.map((call) => JSON.parse(call.arguments).memory);
}

describe('a model that keeps memories', () => {
  test.each([
    ['Hello! My name is Ada. I live in Rome. Is it far?', ['My name is Ada.', 'I live in Rome.']],
    ['please remember that the door is red', ['The door is red']],
    ['What time is it?', []],
    ['Book a table for two.', []],
  ])('takes from “%s” what it says about the user', (message, facts) => {
    expect(remembered(message)).toEqual(facts);
  });

  test('leaves out what is remembered', () => {
    expect(remembered('I like tea. I like cake.', '- 1: I like tea.')).toEqual(['I like cake.']);
  });
});

test('an agent with a memory tool remembers what it is asked to', () => {
  const asked = (question: string, tools = ['update_user_memory']) =>
    rememberFacts(question, request(tools))?.map((call) => JSON.parse(call.arguments));
  expect(asked('Remember that I like tea')).toEqual([{ operation: 'add', memory: 'I like tea' }]);
  expect(asked('I like tea')).toBeUndefined();
  expect(asked('Remember that I like tea', ['remember'])).toBeUndefined();
});
