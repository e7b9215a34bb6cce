import { describe, expect, test } from 'vitest';
import type { Message } from '../message.js';
import { callIdsOf, withoutSystem, withPairedToolCalls } from './conversation.js';

function message(role: Message['role'], content: string): Message {
  return { id: content, role, content, createdAt: 1 };
}

describe('a conversation with a separate system text', () => {
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

describe('the calls in a conversation', () => {
  const call = (id: string, name = 'add') => ({ id, name, arguments: '{}' });
  const turn = (key: string, toolCalls: Message['toolCalls'] = []): Message[] => [
    { ...message('assistant', key), toolCalls },
    ...toolCalls.map(({ id, name }) => ({ ...message('tool', '1'), toolCallId: id, toolName: name })),
  ];
  const idsOf = (messages: readonly Message[]) =>
    messages.flatMap(({ toolCalls, toolCallId }) => toolCalls?.map(({ id }) => id) ?? toolCallId ?? []);

  test('keep ids and names that the provider takes', () => {
    const messages = turn('a', [call('call_1'), call('functions.add:0')]);
    expect(withPairedToolCalls(messages)).toEqual(messages);
  });

  test.each([
    ['Mistral', callIdsOf('Mistral mistral-large-latest')],
    ['a server of its models', callIdsOf('vLLM mistralai/Devstral-Small')],
    ['OpenAI', callIdsOf('OpenAI gpt-4o', 40)],
  ])('get ids that %s takes, the same ones in every request', (_provider, ids) => {
    const messages = turn('a', [call(`call_${'x'.repeat(40)}`), call('abcDEF123')]);
    const paired = withPairedToolCalls(messages, ids);
    const [first, second, ...answered] = idsOf(paired);
    expect(first).toMatch(ids);
    expect(second).toBe('abcDEF123');
    expect(answered).toEqual([first, second]);
    expect(withPairedToolCalls(messages, ids)).toEqual(paired);
  });

  test('get ids of their own where two turns have the same', () => {
    const ids = idsOf(withPairedToolCalls([...turn('a', [call('call_0')]), ...turn('b', [call('call_0')])]));
    expect(new Set(ids).size).toBe(2);
    expect(ids.slice(0, 2)).toEqual(['call_0', 'call_0']);
    expect(ids[2]).toBe(ids[3]);
  });

  test('get a name that every provider takes', () => {
    const paired = withPairedToolCalls(turn('a', [call('1', 'functions.add:0'), call('2', '')]));
    expect(paired[0]?.toolCalls?.map(({ name }) => name)).toEqual(['functions_add_0', 'unnamed']);
    expect(paired.slice(1).map(({ toolName }) => toolName)).toEqual(['functions_add_0', 'unnamed']);
  });
});
