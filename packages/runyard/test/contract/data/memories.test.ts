import { expect, it } from 'vitest';
import { DatabaseMemories, MemoriesService } from '../../../src/capabilities/memory/service.js';
import { agent } from '../../../src/index.js';
import { anonymousCaller } from '../../../src/platform/auth/caller.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { administrator, person } from '../../support/clients/callers.js';
import { type DatabasePlace, forEachDatabase, freshSqlite } from '../../support/databases.js';
import { type Body, startService } from '../../support/service.js';

const json = (body: unknown): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function serviceOn(place: DatabasePlace) {
  const database = await place.open();
  const service = await startService({
    agents: [agent({ id: 'helper', model: 'offline', updateMemoryOnRun: true })],
    database: place.url,
  });
  const write = async (memory: string, userId: string, topics?: string[]): Promise<Body> => {
    const { status, body } = await service.call(
      'POST',
      '/memories',
      json({ memory, user_id: userId, topics }),
    );
    expect(status).toBe(200);
    return body;
  };
  const texts = async (query: string): Promise<string[]> => {
    const { status, body } = await service.get(`/memories?${query}`);
    expect(status).toBe(200);
    expect(body.meta.total_count).toBe(body.data.length);
    return body.data.map(({ memory }: Body) => memory).toSorted();
  };
  return { service, write, texts, memories: new DatabaseMemories(database) };
}

/** The rules without HTTP, for callers whom a token names. */
function rulesOn(database: Database): MemoriesService {
  const space = { memories: new DatabaseMemories(database), media: { contents: {} as never } };
  return new MemoriesService({ spaces: { choose: async () => space }, defaultModel: () => undefined });
}

const operator = administrator();
const page = { limit: 20, page: 1 };
const newest = { by: 'updated_at', direction: 'desc' } as const;

forEachDatabase((_dialect, freshPlace) => {
  it('writes a memory, shows it, changes it and forgets it', async () => {
    const { service } = await serviceOn(await freshPlace());
    const given = {
      memory: 'Likes tea',
      user_id: 'u1',
      topics: ['food', 'drinks'],
      memory_id: 'mine',
      agent_id: 'x',
    };
    const created = await service.call('POST', '/memories', json(given));
    expect(created.status).toBe(200);
    const whole = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
    expect(created.body).toEqual({
      memory_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      memory: 'Likes tea',
      topics: ['food', 'drinks'],
      agent_id: null,
      team_id: null,
      user_id: 'u1',
      updated_at: expect.stringMatching(whole),
      created_at: expect.stringMatching(whole),
    });
    const path = `/memories/${created.body.memory_id}`;
    expect((await service.get(path)).body).toEqual(created.body);
    expect((await service.get('/memories')).body).toEqual({
      data: [created.body],
      meta: { page: 1, limit: 20, total_pages: 1, total_count: 1, search_time_ms: 0 },
    });
    const changed = await service.call('PATCH', path, json({ memory: 'Likes coffee', user_id: 'u1' }));
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ memory: 'Likes coffee', topics: [], user_id: 'u1' });
    expect(await service.call('DELETE', path)).toMatchObject({ status: 204, text: '' });
    expect((await service.call('DELETE', path)).status).toBe(204);
    expect(await service.get(path)).toMatchObject({
      status: 404,
      body: { detail: `Memory with ID ${created.body.memory_id} not found` },
    });
  });

  it('shows what an agent remembers', async () => {
    const { service, texts } = await serviceOn(await freshPlace());
    await service.run('helper', { message: 'My favourite drink is tea.', user_id: 'ada' });
    const { body } = await service.get('/memories?user_id=ada&agent_id=helper');
    expect(body.data).toMatchObject([{ agent_id: 'helper', team_id: null, user_id: 'ada' }]);
    expect(body.data[0].memory).toContain('tea');
    expect(await texts('user_id=bob')).toEqual([]);
  });

  it('deletes several, and only those of the named user', async () => {
    const { service, write, texts } = await serviceOn(await freshPlace());
    const [one, two, three] = [
      await write('one', 'ada'),
      await write('two', 'bob'),
      await write('three', 'ada'),
    ];
    const ids = [one.memory_id, two.memory_id, 'unknown'];
    const named = await service.call('DELETE', '/memories', json({ memory_ids: ids, user_id: 'ada' }));
    expect(named).toMatchObject({ status: 204, text: '' });
    expect(await texts('')).toEqual(['three', 'two']);
    const path = `/memories/${three.memory_id}?user_id=bob`;
    expect((await service.get(path)).status).toBe(404);
    expect((await service.call('DELETE', path)).status).toBe(204);
    expect(await texts('')).toEqual(['three', 'two']);
    await service.call('DELETE', '/memories', json({ memory_ids: ids }));
    expect(await texts('')).toEqual(['three']);
  });

  it('lists topics and counts by user', async () => {
    const { service, write } = await serviceOn(await freshPlace());
    await write('one', 'ada', ['food', 'travel']);
    await write('two', 'bob', ['food']);
    const { memory_id } = await write('three', 'ada');
    await service.call('PATCH', `/memories/${memory_id}`, json({ memory: 'four', user_id: 'ada' }));
    expect((await service.get('/memory_topics')).body.toSorted()).toEqual(['food', 'travel']);
    expect((await service.get('/memory_topics?user_id=bob')).body).toEqual(['food']);
    const { body } = await service.get('/user_memory_stats?limit=1');
    expect(body).toEqual({
      data: [{ user_id: 'ada', total_memories: 2, last_memory_updated_at: expect.stringMatching(/:\d\dZ$/) }],
      meta: { page: 1, limit: 1, total_pages: 2, total_count: 2, search_time_ms: 0 },
    });
    const bob = await service.get('/user_memory_stats?user_id=bob');
    expect(bob.body.data).toMatchObject([{ user_id: 'bob', total_memories: 1 }]);
  });

  it('M2: a change touches no other user, creates nothing, and keeps the author', async () => {
    const { service, memories } = await serviceOn(await freshPlace());
    const origin = { agentId: 'helper', teamId: 'crew', input: 'I like tea' };
    const added = { kind: 'add', memoryId: 'm1', memory: 'Likes tea', topics: ['food'], ...origin } as const;
    await memories.change('ada', [added], 1_000);
    const foreign = await service.call('PATCH', '/memories/m1', json({ memory: 'hijacked', user_id: 'bob' }));
    expect(foreign).toMatchObject({ status: 404, body: { detail: 'Memory not found' } });
    const unknown = await service.call('PATCH', '/memories/m2', json({ memory: 'made up', user_id: 'ada' }));
    expect(unknown).toMatchObject({ status: 404, body: { detail: 'Memory not found' } });
    expect((await service.get('/memories')).body.meta.total_count).toBe(1);
    expect((await service.get('/user_memory_stats')).body.meta.total_count).toBe(1);
    const changed = await service.call(
      'PATCH',
      '/memories/m1',
      json({ memory: 'Likes coffee', user_id: 'ada' }),
    );
    expect(changed.body).toMatchObject({
      memory_id: 'm1',
      memory: 'Likes coffee',
      agent_id: 'helper',
      team_id: 'crew',
      user_id: 'ada',
      created_at: '1970-01-01T00:00:01Z',
    });
    expect(changed.body.updated_at > '2026').toBe(true);
  });

  it('M3: topics may be separated by commas or sent several times, and all have to fit', async () => {
    const { write, texts } = await serviceOn(await freshPlace());
    await write('both', 'ada', ['Food', 'Travel']);
    await write('food', 'bob', ['food']);
    await write('foods', 'bob', ['foods']);
    expect(await texts('topics=food')).toEqual(['both', 'food']);
    expect(await texts('topics=FOOD,travel')).toEqual(['both']);
    expect(await texts('topics=food&topics=travel')).toEqual(['both']);
    expect(await texts('topics=food&topics=%20travel%20,FOOD')).toEqual(['both']);
    expect(await texts('topics=food&user_id=bob')).toEqual(['food']);
    expect(await texts('topics=')).toEqual(['both', 'food', 'foods']);
  });

  it('M4: a search finds letters of every script, treats nothing as a wildcard, and returns true totals', async () => {
    const { service, write, texts } = await serviceOn(await freshPlace());
    await write('Trinkt Tee in ZÜRICH', 'ada');
    await write('любит Чай', 'ada');
    await write('お茶が好き', 'bob');
    await write('Got 100% in a_b', 'bob');
    const found = (text: string, more = '') => texts(`search_content=${encodeURIComponent(text)}${more}`);
    expect(await found('zürich')).toEqual(['Trinkt Tee in ZÜRICH']);
    expect(await found('zu\u0308rich')).toEqual(['Trinkt Tee in ZÜRICH']);
    expect(await found('ЧАЙ', '&user_id=ada')).toEqual(['любит Чай']);
    expect(await found('茶が')).toEqual(['お茶が好き']);
    expect(await found('0% I')).toEqual(['Got 100% in a_b']);
    expect(await found('1%i')).toEqual([]);
    expect(await found('a%b')).toEqual([]);
    expect(await found('T_e')).toEqual([]);
    const far = await service.get('/memories?limit=3&page=9');
    expect(far.body).toMatchObject({ data: [], meta: { page: 9, total_pages: 2, total_count: 4 } });
    const stats = await service.get('/user_memory_stats?limit=1&page=9');
    expect(stats.body).toMatchObject({ data: [], meta: { page: 9, total_pages: 2, total_count: 2 } });
    const zero = await service.get('/memories?limit=3&page=0');
    expect(zero.body.meta).toMatchObject({ page: 0, total_count: 4 });
    expect(zero.body.data).toEqual((await service.get('/memories?limit=3&page=1')).body.data);
  });

  it('M5: an authenticated caller need not name themselves', async () => {
    const rules = rulesOn(await (await freshPlace()).open());
    const given = { memory: 'Likes tea', topics: [], userId: undefined };
    await expect(rules.create(anonymousCaller, {}, given)).rejects.toMatchObject({
      status: 400,
      message: 'User ID is required',
    });
    expect(await rules.create(operator, {}, given)).toMatchObject({ userId: 'root' });
    expect(await rules.create(operator, {}, { ...given, userId: 'ada' })).toMatchObject({ userId: 'ada' });
    expect(await rules.create(operator, {}, { ...given, userId: '' })).toMatchObject({ userId: '' });
    expect(await rules.create(person('bob'), {}, { ...given, userId: 'ada' })).toMatchObject({
      userId: 'bob',
    });
  });

  it('shows a caller who sees only their own nothing else, whatever they request', async () => {
    const rules = rulesOn(await (await freshPlace()).open());
    const given = (memory: string) => ({ memory, topics: [memory], userId: undefined });
    const hers = await rules.create(person('ada'), {}, given('hers'));
    const his = await rules.create(person('bob'), {}, given('his'));
    const bob = person('bob');
    const listed = await rules.list(bob, {}, { userId: 'ada' }, newest, page);
    expect(listed).toMatchObject({ items: [{ memory: 'his' }], total: 1 });
    await expect(rules.get(bob, {}, hers.memoryId)).rejects.toMatchObject({ status: 404 });
    await expect(rules.get(bob, {}, hers.memoryId, 'ada')).rejects.toMatchObject({ status: 404 });
    const change = { ...given('mine now'), userId: 'ada' };
    await expect(rules.update(bob, {}, hers.memoryId, change)).rejects.toMatchObject({
      status: 404,
      message: 'Memory not found',
    });
    await rules.delete(bob, {}, [hers.memoryId, his.memoryId], 'ada');
    expect(await rules.topics(bob, {}, 'ada')).toEqual([]);
    expect(await rules.owners(bob, {}, page, 'ada')).toMatchObject({ total: 0 });
    expect(await rules.get(operator, {}, hers.memoryId)).toMatchObject({ memory: 'hers' });
    await expect(rules.get(operator, {}, his.memoryId)).rejects.toMatchObject({ status: 404 });
  });
});

it('reports what is wrong with a request', async () => {
  const { service } = await serviceOn(await freshSqlite());
  const post = (body: unknown) => service.call('POST', '/memories', json(body));
  const fault = ({ status, body }: { status: number; body: Body }) => [
    status,
    body.detail[0].type,
    body.detail[0].loc,
  ];
  expect(await post({ memory: 'x' })).toMatchObject({ status: 400, body: { detail: 'User ID is required' } });
  expect(fault(await post({ user_id: 'ada' }))).toEqual([422, 'missing', ['body', 'memory']]);
  expect(fault(await post({ memory: '', user_id: 'a' }))).toEqual([
    422,
    'string_too_short',
    ['body', 'memory'],
  ]);
  const long = await post({ memory: 'x'.repeat(5001), user_id: 'a' });
  expect(fault(long)).toEqual([422, 'string_too_long', ['body', 'memory']]);
  expect((await post({ memory: 'x'.repeat(5000), user_id: '' })).status).toBe(200);
  expect(fault(await post({ memory: 'x', user_id: 'a', topics: 'food' }))).toEqual([
    422,
    'list_type',
    ['body', 'topics'],
  ]);
  const none = await service.call('DELETE', '/memories', json({ memory_ids: [] }));
  expect(fault(none)).toEqual([422, 'too_short', ['body', 'memory_ids']]);
  expect(fault(await service.get('/memories?limit=0'))).toEqual([
    422,
    'greater_than_equal',
    ['query', 'limit'],
  ]);
  expect(fault(await service.get('/memories?sort_order=up'))).toEqual([422, 'enum', ['query', 'sort_order']]);
  expect((await service.get('/memories?sort_by=mood')).status).toBe(200);
  expect(await service.get('/memories?db_id=zz')).toMatchObject({
    status: 404,
    body: { detail: "No database found with id 'zz'" },
  });
  expect((await service.get('/memories?db_id=default&table=memories')).status).toBe(200);
});
