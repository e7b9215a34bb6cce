import { expect, test } from 'vitest';
import type { JsonObject } from '../../json.js';
import type { Run } from '../../runs/run.js';
import type { ModelRecord } from '../journal-records.js';
import { type ChangeSource, changesIn } from './memory-changes.js';

const source: ChangeSource = {
  run: { kind: 'agent', componentId: 'a' } as Run,
  message: 'I like tea',
  seed: 'run:memory',
  known: [],
  allowClear: false,
};

function asked(...calls: [name: string, args: JsonObject | string][]): ModelRecord {
  return {
    content: '',
    finishReason: 'tool_calls',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    timeToFirstToken: 0,
    toolCalls: calls.map(([name, args], position) => ({
      id: `${position}`,
      name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    })),
  };
}

test('what the model asks for becomes changes, with the same ids each time', () => {
  const record = asked(
    ['add_memory', { memory: 'Likes tea', topics: ['food'] }],
    ['add_memory', { memory: 'Has a dog' }],
    ['update_memory', { memory_id: 'm1', memory: 'Lives in Rome' }],
    ['delete_memory', { memory_id: 'm2' }],
  );
  const changes = changesIn(record, source);
  expect(changes).toMatchObject([
    { kind: 'add', memory: 'Likes tea', topics: ['food'], agentId: 'a', teamId: null, input: 'I like tea' },
    { kind: 'add', memory: 'Has a dog', topics: [] },
    { kind: 'update', memoryId: 'm1', memory: 'Lives in Rome' },
    { kind: 'delete', memoryId: 'm2' },
  ]);
  // topics that it does not speak of stay
  expect(changes[2]).not.toHaveProperty('topics');
  expect(changesIn(record, source)).toEqual(changes);
  const ids = changesIn(record, { ...source, seed: 'other:memory' }).map(
    (change) => change.kind === 'add' && change.memoryId,
  );
  expect(ids.slice(0, 2)).not.toContain((changes[0] as { memoryId: string }).memoryId);
});

test('what does not fit is left out', () => {
  const record = asked(
    ['add_memory', { topics: ['food'] }],
    ['add_memory', '{"memory": "Likes'],
    ['add_memory', { memory: '  ' }],
    ['update_memory', { memory: 'Lives in Rome' }],
    ['delete_memory', { memory_id: 5 }],
    ['drop_tables', { memory: 'x' }],
    ['add_memory', { memory: 'Likes tea' }],
  );
  expect(changesIn(record, source)).toMatchObject([{ kind: 'add', memory: 'Likes tea' }]);
});

test('all is forgotten only where that is allowed', () => {
  const record = asked(['clear_memory', {}]);
  expect(changesIn(record, source)).toEqual([]);
  expect(changesIn(record, { ...source, allowClear: true })).toEqual([{ kind: 'clear' }]);
});

test('a known memory is not added again, except by the change that made it', () => {
  const record = asked(['add_memory', { memory: 'likes TEA' }]);
  const [added] = changesIn(record, source);
  const known = {
    userId: 'ada',
    memory: 'Likes tea',
    topics: [],
    agentId: null,
    teamId: null,
    createdAt: 0,
    updatedAt: 0,
  };
  expect(changesIn(record, { ...source, known: [{ ...known, memoryId: 'other' }] })).toEqual([]);
  const own = { ...known, memoryId: (added as { memoryId: string }).memoryId };
  expect(changesIn(record, { ...source, known: [own] })).toEqual([added]);
});

test('one answer cannot change everything', () => {
  const calls = Array.from({ length: 60 }, (_, index): [string, JsonObject] => [
    'add_memory',
    { memory: `Fact ${index}` },
  ]);
  expect(changesIn(asked(...calls), source)).toHaveLength(20);
});
