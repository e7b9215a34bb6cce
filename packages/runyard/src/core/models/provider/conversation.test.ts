import { describe, expect, test } from 'vitest';
import type { Message } from '../message.js';
import { withoutSystem } from './conversation.js';

function message(role: Message['role'], content: string): Message {
  return { id: content, role, content, createdAt: 1 };
}

describe('a conversation whose system text stands apart', () => {
  test('keeps the order of the rest', () => {
    const messages = [
      message('system', 'one'),
      message('user', 'hi'),
      message('system', 'two'),
      message('assistant', 'ho'),
    ];
    const { system, rest } = withoutSystem(messages);
    expect(system).toBe('one\n\ntwo');
    expect(rest.map(({ content }) => content)).toEqual(['hi', 'ho']);
  });

  test('is begun by the user, also when an introduction came first', () => {
    const { rest } = withoutSystem([message('assistant', 'Welcome!'), message('user', 'hi')]);
    expect(rest.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });
});
