import { beforeEach, describe, expect, test } from 'vitest';
import { InProcessMemories } from './in-process-memories.js';
import type { MemoryChange } from './user-memories.js';

const add = (memoryId: string, memory: string, topics: string[] = []): MemoryChange => ({
  kind: 'add',
  memoryId,
  memory,
  topics,
  agentId: 'a',
  teamId: null,
  input: null,
});

let memories: InProcessMemories;
const texts = async (userId = 'ada') => (await memories.list(userId, 10)).map(({ memory }) => memory);

beforeEach(() => {
  memories = new InProcessMemories();
});

test('memories come newest first, as many as are asked for', async () => {
  await memories.change('ada', [add('1', 'old')], 1);
  await memories.change('ada', [add('2', 'new'), add('3', 'newest')], 2);
  expect(await texts()).toEqual(['newest', 'new', 'old']);
  expect(await memories.list('ada', 1)).toMatchObject([{ memoryId: '3', createdAt: 2, updatedAt: 2 }]);
});

test('a search finds all words, in text and topics', async () => {
  await memories.change('ada', [add('1', 'Likes green tea', ['Drinks']), add('2', 'Likes tea')], 1);
  expect(await memories.search('ada', 'TEA drinks', 10)).toMatchObject([{ memoryId: '1' }]);
  expect(await memories.search('bob', 'tea', 10)).toEqual([]);
});

describe('a change', () => {
  test('that is repeated has no further effect', async () => {
    const changes: MemoryChange[] = [
      { kind: 'clear' },
      add('1', 'Likes tea'),
      add('2', 'Has a dog'),
      { kind: 'update', memoryId: '1', memory: 'Likes coffee' },
      { kind: 'delete', memoryId: '2' },
    ];
    await memories.change('ada', changes, 5);
    const once = await memories.list('ada', 10);
    await memories.change('ada', changes, 5);
    expect(await memories.list('ada', 10)).toEqual(once);
    expect(once).toMatchObject([{ memory: 'Likes coffee', updatedAt: 5 }]);
  });

  test('leaves alone what is newer than it', async () => {
    await memories.change('ada', [add('1', 'Likes tea')], 9);
    await memories.change(
      'ada',
      [
        add('1', 'x'),
        { kind: 'update', memoryId: '1', memory: 'y' },
        { kind: 'delete', memoryId: '1' },
        { kind: 'clear' },
      ],
      8,
    );
    expect(await texts()).toEqual(['Likes tea']);
  });

  test('reaches only the memories of its user', async () => {
    await memories.change('ada', [add('1', 'Likes tea', ['food'])], 1);
    await memories.change('bob', [{ kind: 'update', memoryId: '1', memory: 'mine' }, { kind: 'clear' }], 2);
    expect(await texts()).toEqual(['Likes tea']);
    expect(await memories.find('bob', '1')).toBeUndefined();
    await memories.change('ada', [{ kind: 'update', memoryId: '1', memory: 'Likes coffee' }], 2);
    expect(await memories.find('ada', '1')).toMatchObject({ memory: 'Likes coffee', topics: ['food'] });
  });
});

test('the oldest are forgotten when there are too many', async () => {
  const changes = Array.from({ length: 1_001 }, (_, index) => add(String(index), `fact ${index}`));
  await memories.change('ada', changes, 1);
  expect(await memories.list('ada', 2_000)).toHaveLength(1_000);
  expect(await memories.find('ada', '0')).toBeUndefined();
});
