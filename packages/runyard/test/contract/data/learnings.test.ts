import { expect, it } from 'vitest';
import { agent } from '../../../src/index.js';
import { type DatabasePlace, forEachDatabase, freshSqlite } from '../../support/databases.js';
import { type Answer, type Body, startService, type TestService } from '../../support/service.js';

const agents = [agent({ id: 'a', model: 'offline' })];

function send(service: TestService, method: string, path: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return service.call(method, path, { headers, body: JSON.stringify(body) });
}

const create = (service: TestService, body: object) =>
  send(service, 'POST', '/learnings', { learning_type: 'note', content: { text: 'hello' }, ...body });

async function serviceOn(freshPlace: () => Promise<DatabasePlace>): Promise<TestService> {
  const place = await freshPlace();
  await place.open();
  return startService({ agents, database: place.url });
}

forEachDatabase((_dialect, freshPlace) => {
  it('creates, reads, changes and deletes a learning, with every field', async () => {
    const service = await serviceOn(freshPlace);
    const given = {
      learning_type: 'entity_memory',
      namespace: 'sales',
      user_id: 'ada',
      agent_id: 'a',
      team_id: 't',
      session_id: 's',
      entity_id: 'acme',
      entity_type: 'company',
      content: { facts: ['Makes anvils', { nested: null }] },
      metadata: { source: 'crm' },
    };
    const made = await create(service, given);
    expect(made.status).toBe(201);
    const { created_at, updated_at } = made.body;
    expect(made.body).toEqual({
      ...given,
      learning_id: 'entity_sales_company_acme',
      created_at: expect.any(Number),
      updated_at: created_at,
    });
    expect(Math.abs(created_at - Date.now() / 1000)).toBeLessThan(60);
    const path = '/learnings/entity_sales_company_acme';
    expect((await service.get(path)).body).toEqual(made.body);

    const unchanged = await send(service, 'PATCH', path, {});
    expect(unchanged.body).toEqual(made.body);
    const changed = await send(service, 'PATCH', path, { content: { facts: [] }, user_id: 'bob' });
    expect(changed.body).toEqual({ ...made.body, content: { facts: [] }, updated_at: expect.any(Number) });
    expect(changed.body.updated_at).toBeGreaterThanOrEqual(updated_at);
    const cleared = await send(service, 'PATCH', path, { metadata: null });
    expect(cleared.body).toMatchObject({ content: { facts: [] }, metadata: null });

    expect((await service.call('DELETE', path)).status).toBe(204);
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      const answer =
        body === undefined ? await service.call(method, path) : await send(service, method, path, body);
      expect([answer.status, answer.body.detail]).toEqual([404, 'Learning not found']);
    }
  });

  it('gives the types that exist once their ids, and others an id of their own', async () => {
    const service = await serviceOn(freshPlace);
    const idOf = async (body: object) => (await create(service, body)).body.learning_id;
    expect(await idOf({ learning_type: 'user_profile', user_id: 'ada' })).toBe('user_profile_ada');
    expect(await idOf({ learning_type: 'user_memory', user_id: 'ada' })).toBe('memories_ada');
    expect(await idOf({ learning_type: 'session_context', session_id: 's' })).toBe('session_context_s');
    const entity = { learning_type: 'entity_memory', entity_id: 'acme', entity_type: 'company' };
    expect(await idOf(entity)).toBe('entity_global_company_acme');
    const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
    expect(await idOf({})).toMatch(uuid);
    expect(await idOf({})).toMatch(uuid);
    const again = await create(service, { learning_type: 'user_profile', user_id: 'ada' });
    expect(again.status).toBe(409);
    expect(again.body.detail).toBe(
      "A 'user_profile' learning already exists for this identity (id 'user_profile_ada'). Use PATCH /learnings/user_profile_ada to update it.",
    );
  });

  it('L1: what has no namespace stays without one, and is found in the namespace global', async () => {
    const service = await serviceOn(freshPlace);
    const entity = { learning_type: 'entity_memory', entity_type: 'company' };
    await create(service, { ...entity, entity_id: 'none' });
    await create(service, { ...entity, entity_id: 'named', namespace: 'global' });
    await create(service, { ...entity, entity_id: 'sales', namespace: 'sales' });
    const { body } = await service.get('/learnings?namespace=global&sort_by=entity_id&sort_order=asc');
    expect(body.data.map(({ entity_id, namespace }: Body) => [entity_id, namespace])).toEqual([
      ['named', 'global'],
      ['none', null],
    ]);
    expect((await service.get('/learnings?namespace=sales')).body.meta.total_count).toBe(1);
    const twin = await create(service, { ...entity, entity_id: 'none', namespace: 'global' });
    expect(twin.status).toBe(409);
  });

  it('L1: refuses unknown records in one form', async () => {
    const service = await serviceOn(freshPlace);
    const faults = async (answer: Promise<Answer>) => {
      const { status, body } = await answer;
      expect(status).toBe(422);
      return body.detail.map(({ type, loc, msg }: Body) => [type, loc.join('.'), msg]);
    };
    expect(await faults(create(service, { learning_type: '' }))).toEqual([
      ['string_too_short', 'body.learning_type', 'String should have at least 1 character'],
    ]);
    expect(await faults(create(service, { content: null }))).toEqual([
      ['dict_type', 'body.content', 'Input should be a valid dictionary'],
    ]);
    expect(await faults(create(service, { learning_type: 'user_profile', user_id: '' }))).toEqual([
      ['missing', 'body.user_id', "A 'user_profile' learning is keyed by its identity; provide user_id"],
    ]);
    expect(
      (await faults(create(service, { learning_type: 'entity_memory' }))).map(([, loc]: Body) => loc),
    ).toEqual(['body.entity_id', 'body.entity_type']);
    expect((await faults(create(service, { learning_type: 'session_context' })))[0][1]).toBe(
      'body.session_id',
    );
    const { body } = await create(service, {});
    expect(await faults(send(service, 'PATCH', `/learnings/${body.learning_id}`, { content: null }))).toEqual(
      [['dict_type', 'body.content', 'content cannot be null; omit the field to leave it unchanged']],
    );
    for (const query of ['limit=0', 'limit=1001', 'page=0', 'sort_order=up']) {
      expect((await service.get(`/learnings?${query}`)).status, query).toBe(422);
      expect((await service.get(`/learnings/users?${query}`)).status, query).toBe(422);
    }
  });

  it('L1: of many requests for one identity one is 201, the others are 409', async () => {
    const service = await serviceOn(freshPlace);
    const body = { learning_type: 'user_profile', user_id: 'ada' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(service, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  it('lists in pages, whichever filters are given', async () => {
    const service = await serviceOn(freshPlace);
    const owners = ['ada', 'ada', 'ada', 'bob', null];
    for (const [index, user_id] of owners.entries())
      await create(service, { user_id, agent_id: 'a', content: { index } });
    const list = async (query: string) => (await service.get(`/learnings?${query}`)).body;
    const seen: number[] = [];
    for (const page of [1, 2, 3]) {
      const { data, meta } = await list(`limit=2&page=${page}&sort_by=created_at&sort_order=asc`);
      expect(meta).toEqual({ page, limit: 2, total_pages: 3, total_count: 5, search_time_ms: 0 });
      seen.push(...data.map(({ content }: Body) => content.index));
    }
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4]);
    expect(await list('limit=2&page=9')).toEqual({
      data: [],
      meta: { page: 9, limit: 2, total_pages: 3, total_count: 5, search_time_ms: 0 },
    });
    expect((await list('user_id=ada&agent_id=a&learning_type=note')).meta).toMatchObject({
      total_count: 3,
      limit: 100,
    });
    expect((await list('user_id=ada&agent_id=other')).data).toEqual([]);
    expect((await list('sort_by=nonsense')).data).toEqual((await list('')).data);
  });

  it('lists users with learnings, and deletes those of one', async () => {
    const service = await serviceOn(freshPlace);
    for (const user_id of ['bob', 'ada', 'cy', null]) {
      await create(service, { user_id });
      if (user_id !== null) await create(service, { user_id, learning_type: 'user_profile' });
    }
    const users = async (query: string) => {
      const { body } = await service.get(`/learnings/users?${query}`);
      return { names: body.data.map(({ user_id }: Body) => user_id), meta: body.meta, data: body.data };
    };
    const all = await users('sort_by=user_id&sort_order=asc');
    expect(all.names).toEqual(['ada', 'bob', 'cy']);
    expect(all.meta).toEqual({ page: 1, limit: 20, total_pages: 1, total_count: 3, search_time_ms: 0 });
    expect(all.data[0]).toEqual({ user_id: 'ada', last_learning_updated_at: expect.any(Number) });
    expect((await users('limit=2&page=2&sort_by=user_id')).names).toEqual(['ada']);
    await send(service, 'PATCH', '/learnings/user_profile_bob', { content: {} });
    expect((await users('')).names[0]).toBe('bob');

    const forget = (query = '') => service.call('DELETE', `/learnings/users/bob${query}`);
    expect((await forget('?learning_type=user_profile')).status).toBe(204);
    expect((await users('learning_type=user_profile&sort_by=user_id')).names).toEqual(['cy', 'ada']);
    expect((await users('user_id=bob')).names).toEqual(['bob']);
    expect((await forget()).status).toBe(204);
    expect((await forget()).status).toBe(204);
    expect((await users('user_id=bob')).meta.total_count).toBe(0);
    expect((await service.get('/learnings')).body.meta.total_count).toBe(5);
  });
});

it('asks which database is meant when there are several', async () => {
  const other = await freshSqlite();
  await other.open();
  const service = await startService({ agents, databases: { other: other.url } });
  const detail = async (query: string) => {
    const { status, body } = await service.get(`/learnings${query}`);
    return [status, body.detail];
  };
  expect(await detail('')).toEqual([
    400,
    'The db_id query parameter is required when using multiple databases',
  ]);
  expect(await detail('?table=learnings')).toEqual([
    400,
    'The db_id query parameter is required when passing a table',
  ]);
  expect(await detail('?db_id=zz')).toEqual([404, "No database found with id 'zz'"]);
  expect(await detail('?db_id=default&table=zz')).toEqual([
    404,
    "No database with id 'default' has table 'zz'",
  ]);
  expect((await service.get('/learnings?db_id=default&table=learnings')).status).toBe(200);
});
