import { expect, test } from 'vitest';
import type { Message } from '../../models/message.js';
import { boundedHistory } from './history-bounds.js';

let last = 0;
const message = (role: Message['role'], content: string, more: Partial<Message> = {}): Message => ({
  id: `${++last}`,
  role,
  content,
  createdAt: 0,
  ...more,
});
const user = (content: string) => message('user', content);
const says = (content: string) => message('assistant', content);
const calls = (content: string, ...ids: string[]) =>
  message('assistant', content, {
    toolCalls: ids.map((id) => ({ id, name: 'look', arguments: '{}' })),
    providerData: { signature: 'all of it' },
  });
const result = (id: string) => message('tool', `found ${id}`, { toolCallId: id });

/** Three exchanges of 2, 6 and 4 messages. Ids of calls return in another run. */
const history = [
  user('one'),
  says('first'),
  user('two'),
  calls('', 'a', 'b'),
  result('a'),
  result('b'),
  calls('so far', 'c'),
  result('c'),
  user('three'),
  calls('', 'a'),
  result('a'),
  says('third'),
];
const texts = (messages: readonly Message[]) =>
  messages.map(({ role, content, toolCalls }) => content || `${role} ${toolCalls?.map(({ id }) => id)}`);

test.each([
  [99, texts(history)],
  [12, texts(history)],
  [11, texts(history).slice(2)],
  [9, ['two', 'so far', 'three', 'assistant a', 'found a', 'third']],
  [5, ['three', 'assistant a', 'found a', 'third']],
  [4, ['three', 'assistant a', 'found a', 'third']],
  [3, ['three', 'third']],
  [1, []],
  [0, []],
])('at most %i messages are the last whole exchanges', (messages, kept) => {
  expect(texts(boundedHistory(history, { messages }))).toEqual(kept);
});

test.each([
  [4, texts(history)],
  [3, 'one,first,two,assistant b,found b,so far,found c,three,assistant a,found a,third'.split(',')],
  [2, 'one,first,two,so far,found c,three,assistant a,found a,third'.split(',')],
  [1, 'one,first,two,so far,three,assistant a,found a,third'.split(',')],
  [0, 'one,first,two,so far,three,third'.split(',')],
])('at most %i tool calls are the last ones, each with its result', (toolCalls, kept) => {
  const shown = boundedHistory(history, { toolCalls });
  expect(texts(shown)).toEqual(kept);
  // what the provider wants back describes all calls of a message
  for (const { toolCalls: left, providerData } of shown)
    if (left?.some(({ id }) => id === 'b') && left.length === 1) expect(providerData).toBeUndefined();
});

test('the bounds hold together', () => {
  expect(texts(boundedHistory(history, { messages: 6, toolCalls: 0 }))).toEqual([
    'one',
    'first',
    'two',
    'so far',
    'three',
    'third',
  ]);
});
