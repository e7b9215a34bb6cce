import { expect, it } from 'vitest';
import type { MemoryOrder, Range } from '../../../src/capabilities/memory/order-store.js';
import type { MemoryFilter } from '../../../src/capabilities/memory/selection-store.js';
import { DatabaseMemories } from '../../../src/capabilities/memory/service.js';
import type { MemoryChange } from '../../../src/core/memory/user-memories.js';
import { forEachDatabase, freshSqlite } from '../../support/databases.js';

const everyone = { kind: 'all' } as const;
const only = (userId: string) => ({ kind: 'user', userId }) as const;
const newestFirst: MemoryOrder = { by: 'updated_at', direction: 'desc' };
const firstPage = { offset: 0, limit: 20 };
const start = Date.UTC(2026, 0, 1);

type Addition = Extract<MemoryChange, { kind: 'add' }>;

function added(memoryId: string, given: Partial<Addition> = {}): Addition {
  return {
    kind: 'add',
    memoryId,
    memory: `about ${memoryId}`,
    topics: [],
    agentId: null,
    teamId: null,
    input: null,
    ...given,
  };
}

forEachDatabase((_dialect, freshPlace) => {
  async function filled(...memories: [userId: string, memoryId: string, given?: Partial<Addition>][]) {
    const database = await (await freshPlace()).open();
    const stored = new DatabaseMemories(database);
    for (const [index, [userId, memoryId, given]] of memories.entries()) {
      await stored.change(userId, [added(memoryId, given)], start + index);
    }
    const ids = async (filter: MemoryFilter, order = newestFirst, range = firstPage, scope = everyone) => {
      const { items, total } = await stored.store.list(scope, filter, order, range);
      return { ids: items.map(({ memoryId }) => memoryId), total };
    };
    return { database, stored, ids };
  }

  it('stores what a run adds, with all its fields', async () => {
    const { stored } = await filled();
    const given = added('m1', {
      memory: 'Likes tea \0',
      topics: [' food ', 'drinks', 'food', ''],
      agentId: 'helper',
      teamId: 'crew',
      input: 'I like tea',
    });
    await stored.change('ada', [given], start);
    const kept = {
      memoryId: 'm1',
      userId: 'ada',
      memory: 'Likes tea \0',
      topics: ['food', 'drinks'],
      agentId: 'helper',
      teamId: 'crew',
      createdAt: start,
      updatedAt: start,
    };
    expect(await stored.list('ada', 10)).toEqual([kept]);
    expect(await stored.find('ada', 'm1')).toEqual(kept);
    expect(await stored.find('bob', 'm1')).toBeUndefined();
    expect(await stored.list('bob', 10)).toEqual([]);
  });

  it('makes the changes of a run once, however often they are made', async () => {
    const { stored } = await filled(['ada', 'old'], ['ada', 'gone']);
    const changes: MemoryChange[] = [
      added('new', { memory: 'first words', topics: ['a'] }),
      { kind: 'update', memoryId: 'new', memory: 'better words' },
      { kind: 'update', memoryId: 'old', memory: 'changed', topics: ['b'] },
      { kind: 'delete', memoryId: 'gone' },
    ];
    const now = start + 100;
    await stored.change('ada', changes, now);
    const after = await stored.list('ada', 10);
    expect(
      after.map(({ memoryId, memory, topics, createdAt, updatedAt }) => [
        memoryId,
        memory,
        topics,
        createdAt - start,
        updatedAt - start,
      ]),
    ).toEqual([
      ['old', 'changed', ['b'], 0, 100],
      ['new', 'better words', ['a'], 100, 100],
    ]);
    // one of them is corrected by hand before the run is executed again
    await stored.writing.update('ada', { kind: 'update', memoryId: 'old', memory: 'mended' }, now + 50);
    await stored.change('ada', [...changes, { kind: 'delete', memoryId: 'old' }], now);
    expect((await stored.find('ada', 'old'))?.memory).toBe('mended');
    expect((await stored.find('ada', 'new'))?.memory).toBe('better words');
    await stored.change('ada', [{ kind: 'clear' }], now);
    expect((await stored.list('ada', 10)).map(({ memoryId }) => memoryId)).toEqual(['old']);
  });

  it('leaves the memories of others alone, and makes all changes or none', async () => {
    const { stored } = await filled(['bob', 'his']);
    await stored.change(
      'ada',
      [
        added('his', { memory: 'stolen' }),
        { kind: 'update', memoryId: 'his', memory: 'overwritten' },
        { kind: 'delete', memoryId: 'his' },
        { kind: 'clear' },
        added('hers'),
      ],
      start + 10,
    );
    expect((await stored.list('bob', 10)).map(({ memory }) => memory)).toEqual(['about his']);
    expect((await stored.list('ada', 10)).map(({ memoryId }) => memoryId)).toEqual(['hers']);
    const unstorable = added('broken', { memory: null as unknown as string });
    await expect(stored.change('ada', [added('half'), unstorable], start + 20)).rejects.toThrow();
    expect((await stored.list('ada', 10)).map(({ memoryId }) => memoryId)).toEqual(['hers']);
  });

  it('finds memories for a run that contain all words, in the text or in a topic', async () => {
    const { stored } = await filled(
      ['ada', 'tea', { memory: 'Trinkt gern grünen TEE', topics: ['Essen'] }],
      ['ada', 'cake', { memory: '100% cake_lover', topics: ['Essen'] }],
      ['bob', 'other', { memory: 'Trinkt Tee', topics: ['Essen'] }],
    );
    const found = async (query: string) =>
      (await stored.search('ada', query, 10)).map(({ memoryId }) => memoryId);
    expect(await found('GRÜNEN essen')).toEqual(['tea']);
    expect(await found('essen')).toEqual(['cake', 'tea']);
    expect(await found('100%')).toEqual(['cake']);
    expect(await found('cake%lover')).toEqual([]);
    expect(await found('')).toEqual(['cake', 'tea']);
    expect(await stored.search('ada', 'essen', 1)).toHaveLength(1);
  });

  it('lists memories that match all filters', async () => {
    const { ids } = await filled(
      ['ada', 'a', { topics: ['Food', 'Travel'], agentId: 'helper' }],
      ['ada', 'b', { topics: ['food'], teamId: 'crew' }],
      ['bob', 'c', { topics: ['FOOD', 'work', 'travel'] }],
      ['bob', 'd', { topics: ['foods'], agentId: 'helper' }],
      ['', 'e', { topics: [] }],
    );
    const listed = async (filter: MemoryFilter, scope?: typeof everyone) => {
      const found = await ids(filter, undefined, undefined, scope);
      expect(found.total, JSON.stringify(filter)).toBe(found.ids.length);
      return found.ids.join('');
    };
    expect(await listed({})).toBe('edcba');
    expect(await listed({ userId: 'ada' })).toBe('ba');
    expect(await listed({ userId: '' })).toBe('e');
    expect(await listed({ agentId: 'helper' })).toBe('da');
    expect(await listed({ teamId: 'crew' })).toBe('b');
    expect(await listed({ topics: ['food'] })).toBe('cba');
    expect(await listed({ topics: ['fOOd', 'TRAVEL', 'travel'] })).toBe('ca');
    expect(await listed({ topics: ['food', 'travel', 'work'] })).toBe('c');
    expect(await listed({ topics: ['food', 'nothing'] })).toBe('');
    expect(await listed({ topics: ['foo'] })).toBe('');
    expect(await listed({ topics: ['food'], userId: 'ada' })).toBe('ba');
    expect(await listed({ topics: ['food', 'travel'], userId: 'ada' })).toBe('a');
    expect(await listed({ topics: ['food'], agentId: 'helper' })).toBe('a');
    expect(await listed({ topics: ['food'], text: 'about c' })).toBe('c');
    expect(await listed({ userId: 'bob', text: 'ABOUT' })).toBe('dc');
    expect(await listed({ text: 'about', agentId: 'helper' })).toBe('da');
    // a caller who sees only their own gets their own, whichever user the request names
    expect(await listed({ userId: 'ada' }, only('bob') as never)).toBe('dc');
    expect(await listed({ topics: ['food'] }, only('bob') as never)).toBe('c');
  });

  it('sorts, with an order among equals that holds from page to page', async () => {
    const { stored, ids } = await filled();
    const names = Array.from({ length: 23 }, (_, index) => `m${String(index).padStart(2, '0')}`);
    // all of one moment, in two turns, so that only the id distinguishes them
    await stored.change(
      'ada',
      names.slice(0, 11).map((name) => added(name, { topics: ['x'] })),
      start,
    );
    await stored.change(
      'bob',
      names.slice(11).map((name) => added(name, { topics: ['x'] })),
      start,
    );
    for (const by of ['updated_at', 'created_at', 'memory_id', 'user_id'] as const) {
      for (const direction of ['asc', 'desc'] as const) {
        for (const filter of [{}, { topics: ['x'] }, { text: 'about' }]) {
          const pages = [];
          for (const offset of [0, 10, 20, 30]) {
            const page = await ids(filter, { by, direction }, { offset, limit: 10 });
            expect(page.total).toBe(23);
            pages.push(...page.ids);
          }
          expect(pages).toEqual(direction === 'asc' ? names : names.toReversed());
        }
      }
    }
  });

  it('hands out everything, piece by piece, when everything is asked for', async () => {
    const { stored, ids } = await filled();
    const names = Array.from({ length: 1_100 }, (_, index) => `m${String(index).padStart(4, '0')}`);
    const halves = [names.slice(0, 600), names.slice(600)];
    for (const [index, half] of halves.entries()) {
      await stored.change(
        'ada',
        half.map((name) => added(name, { topics: [name, 'all'] })),
        start + index,
      );
    }
    const whole = { offset: 0, limit: 1_000_000 };
    for (const filter of [{}, { userId: 'ada' }, { topics: ['all'] }, { text: 'about' }]) {
      for (const direction of ['asc', 'desc'] as const) {
        const all = await ids(filter, { by: 'updated_at', direction }, whole);
        expect(all.ids).toEqual(direction === 'asc' ? names : names.toReversed());
      }
    }
    expect((await ids({}, newestFirst, { offset: 1_090, limit: 1_000_000 })).ids).toHaveLength(10);
    const topics = await stored.store.topics(everyone);
    expect(topics.toSorted()).toEqual(['all', ...names].toSorted());
    expect((await stored.store.all('ada')).map(({ memoryId }) => memoryId)).toEqual(names);
  });

  it('lists users with memories, how many, and since when, after every change', async () => {
    const { stored } = await filled(['ada', 'a1'], ['bob', 'b1'], ['ada', 'a2'], ['eve', 'e1']);
    const owners = async (range = firstPage, scope: typeof everyone | ReturnType<typeof only> = everyone) => {
      const { items, total } = await stored.store.owners(scope, range);
      return [
        total,
        ...items.map(({ userId, total: count, updatedAt }) => `${userId}:${count}@${updatedAt - start}`),
      ];
    };
    expect(await owners()).toEqual([3, 'eve:1@3', 'ada:2@2', 'bob:1@1']);
    expect(await owners({ offset: 1, limit: 1 })).toEqual([3, 'ada:2@2']);
    expect(await owners({ offset: 9, limit: 5 })).toEqual([3]);
    expect(await owners(firstPage, only('bob'))).toEqual([1, 'bob:1@1']);
    await stored.writing.update('bob', { kind: 'update', memoryId: 'b1', memory: 'new' }, start + 9);
    expect(await owners()).toEqual([3, 'bob:1@9', 'eve:1@3', 'ada:2@2']);
    await stored.writing.delete(everyone, ['a2', 'e1', 'unknown']);
    expect(await owners()).toEqual([2, 'bob:1@9', 'ada:1@0']);
    await stored.writing.delete(only('bob'), ['a1']);
    await stored.writing.delete(everyone, ['a1'], 'bob');
    expect(await owners()).toEqual([2, 'bob:1@9', 'ada:1@0']);
    await stored.change('ada', [{ kind: 'clear' }], start + 10);
    await stored.change('nobody', [{ kind: 'delete', memoryId: 'x' }], start + 10);
    expect(
      await stored.writing.update('nobody', { kind: 'update', memoryId: 'b1', memory: 'x' }, start),
    ).toBe(undefined);
    expect(await owners()).toEqual([1, 'bob:1@9']);
  });

  it('counts right when several processes write at the same time', async () => {
    const place = await freshPlace();
    const processes = await Promise.all(
      Array.from({ length: 4 }, async () => new DatabaseMemories(await place.open())),
    );
    const users = ['ada', 'bob'];
    await Promise.all(
      processes.flatMap((memories, process) =>
        Array.from({ length: 10 }, (_, index) =>
          memories.change(users[index % 2]!, [added(`${process}-${index}`)], start + index),
        ),
      ),
    );
    const deletions = processes.map((memories, process) =>
      memories.writing.delete(everyone, [`${process}-0`, `${(process + 1) % 4}-1`]),
    );
    await Promise.all(deletions);
    const { items } = await processes[0]!.store.owners(everyone, firstPage);
    expect(items.map(({ userId, total }) => `${userId}:${total}`).toSorted()).toEqual(['ada:16', 'bob:16']);
    const listed = await processes[0]!.store.list(everyone, {}, newestFirst, firstPage);
    expect(listed.total).toBe(32);
  });

  it('lists each topic once, of all users or of one', async () => {
    const { stored } = await filled(
      ['ada', 'a', { topics: ['food', 'travel'] }],
      ['ada', 'b', { topics: ['food', 'Ünïcode', 'Food'] }],
      ['bob', 'c', { topics: ['work'] }],
    );
    expect((await stored.store.topics(everyone)).toSorted()).toEqual(['food', 'travel', 'work', 'Ünïcode']);
    expect(await stored.store.topics(everyone, 'bob')).toEqual(['work']);
    expect(await stored.store.topics(only('bob'), 'ada')).toEqual(['work']);
    expect(await stored.store.topics(everyone, 'nobody')).toEqual([]);
    await stored.writing.update(
      'bob',
      { kind: 'update', memoryId: 'c', memory: 'x', topics: ['rest'] },
      start,
    );
    expect(await stored.store.topics(everyone, 'bob')).toEqual(['rest']);
    await stored.change('ada', [{ kind: 'clear' }], start + 10);
    expect(await stored.store.topics(everyone)).toEqual(['rest']);
  });

  it('takes topics of any length and script', async () => {
    const { stored, ids } = await filled(['ada', 'long', { topics: ['ﷺ'.repeat(400), '𝔘'.repeat(300)] }]);
    expect((await ids({ topics: ['ﷺ'.repeat(255)] })).ids).toEqual(['long']);
    expect(await stored.store.topics(everyone)).toHaveLength(2);
  });

  it('replaces memories with one only if all are unchanged since they were read', async () => {
    const { stored } = await filled(['ada', 'a', { topics: ['x'] }], ['ada', 'b'], ['bob', 'c']);
    const read = await stored.store.all('ada');
    const memory = { ...read[0]!, memoryId: 'merged', memory: 'both', topics: null, updatedAt: start + 50 };
    await stored.change('ada', [added('meanwhile')], start + 20);
    expect(await stored.writing.replace('ada', { memory, of: read })).toBe(true);
    expect(await stored.list('ada', 10)).toMatchObject([
      { memoryId: 'merged', memory: 'both', topics: [] },
      { memoryId: 'meanwhile' },
    ]);
    const again = await stored.store.all('ada');
    const next = { ...memory, memoryId: 'never' };
    // in the same millisecond as before, but another text
    await stored.writing.update('ada', { kind: 'update', memoryId: 'meanwhile', memory: 'new' }, start + 20);
    expect(await stored.writing.replace('ada', { memory: next, of: again })).toBe(false);
    await stored.writing.delete(everyone, ['meanwhile']);
    expect(await stored.writing.replace('ada', { memory: next, of: again })).toBe(false);
    expect((await stored.list('ada', 10)).map(({ memoryId }) => memoryId)).toEqual(['merged']);
    expect((await stored.list('bob', 10)).map(({ memoryId }) => memoryId)).toEqual(['c']);
  });
});

// SQLite alone looks through its memories in pieces: it reads on the main thread.
it('finds a text among many, on the page where it belongs', async () => {
  const stored = new DatabaseMemories(await (await freshSqlite()).open());
  const ids = async (text: string, range: Range) => {
    const { items, total } = await stored.store.list(everyone, { text }, newestFirst, range);
    return { ids: items.map(({ memoryId }) => memoryId), total };
  };
  const names = Array.from({ length: 12_000 }, (_, index) => `m${String(index).padStart(5, '0')}`);
  for (let from = 0; from < names.length; from += 3_000) {
    const part = names.slice(from, from + 3_000);
    const changes = part.map((name, index) =>
      added(name, { memory: index % 1000 === 7 ? `Nadel ${name}` : `Halm ${name}` }),
    );
    await stored.change(`user-${from}`, changes, start + from);
  }
  const needles = names.filter((_, index) => index % 1000 === 7).toReversed();
  expect(await ids('NADEL', firstPage)).toEqual({ ids: needles, total: 12 });
  const second = await ids('nadel', { offset: 5, limit: 3 });
  expect(second).toEqual({ ids: needles.slice(5, 8), total: 12 });
  const common = await ids('halm', { offset: 5, limit: 3 });
  const halms = names.toReversed().filter((name) => !needles.includes(name));
  expect(common).toEqual({ ids: halms.slice(5, 8), total: 11_988 });
});
