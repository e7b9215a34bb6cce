import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { SessionStore } from '../../../src/capabilities/sessions/store.js';
import { agent, team, workflow } from '../../../src/index.js';
import { asking, book, components, Sessions } from '../../support/components/sessions.js';
import { forEachDatabase, freshSqlite } from '../../support/databases.js';
import { type Body, startService, TestService } from '../../support/service.js';

let service: TestService;
let sessions: Sessions;

beforeAll(async () => {
  service = await TestService.start(components);
  sessions = new Sessions(service);
});
afterAll(() => service.stop());

const wholeSeconds = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

describe('creating', () => {
  test('a session gives the detail of its kind', async () => {
    const given = {
      session_id: 'ct',
      session_name: 'TeamS',
      user_id: 'u9',
      team_id: 'newsroom',
      agent_id: 'writer',
      session_state: { a: 1 },
      metadata: { m: 1 },
    };
    const { status, body } = await sessions.create(given, '?type=team');
    expect(status).toBe(201);
    expect(body).toEqual({
      session_id: 'ct',
      session_name: 'TeamS',
      user_id: 'u9',
      team_id: 'newsroom',
      session_state: { a: 1 },
      metrics: {},
      metadata: { m: 1 },
      chat_history: [],
      created_at: wholeSeconds,
      updated_at: body.created_at,
    });
    expect((await sessions.get('ct')).body).toEqual(body);
  });

  test('a session without a body makes an id', async () => {
    for (const body of [undefined, {}, { session_id: null }, { session_id: '' }]) {
      const answer = await sessions.create(body);
      expect(answer.status).toBe(201);
      expect(answer.body.session_id).toMatch(/^[0-9a-f-]{36}$/);
      expect(answer.body).toMatchObject({ session_name: '', agent_session_id: answer.body.session_id });
      expect(answer.body).not.toHaveProperty('metrics');
    }
  });

  test('an id that is taken is refused, whatever the kind, and the session stays as it is', async () => {
    await sessions.create({ session_id: 'ca', session_name: 'first' });
    const { status, body } = await sessions.create(
      { session_id: 'ca', session_name: 'second' },
      '?type=team',
    );
    expect(status).toBe(409);
    expect(body.detail).toBe("Session with id 'ca' already exists. Use PATCH /sessions/ca to update it.");
    expect((await sessions.get('ca')).body).toMatchObject({ session_name: 'first', agent_session_id: 'ca' });
  });

  test('one id several times at once succeeds once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        sessions.create({ session_id: 'raced', session_name: `${index}` }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array(7).fill(409)]);
    const made = answers.find(({ status }) => status === 201)!.body;
    expect((await sessions.get('raced')).body.session_name).toBe(made.session_name);
  });

  test('a value of another type is refused', async () => {
    const { status, body } = await sessions.create({ session_state: 5, session_name: 7 });
    expect(status).toBe(422);
    expect(body.detail.map(({ type, loc, msg }: Body) => [type, loc, msg])).toEqual([
      ['string_type', ['body', 'session_name'], 'Input should be a valid string'],
      ['dict_type', ['body', 'session_state'], 'Input should be a valid dictionary'],
    ]);
    expect((await sessions.create({}, '?type=robot')).body.detail[0]).toMatchObject({
      type: 'enum',
      msg: "Input should be 'agent', 'team' or 'workflow'",
    });
    const state = { ['k'.repeat(256)]: 1 };
    expect((await sessions.create({ session_state: state })).status).toBe(422);
    expect((await sessions.create({ user_id: 'sa:robot' })).status).toBe(403);
  });
});

describe('the names of sessions', () => {
  test('come from the first message, unless one was given', async () => {
    await sessions.said('agents', 'writer', 'n1', '  Tell me about birds ');
    await sessions.said('agents', 'writer', 'n1', 'And fish');
    expect((await sessions.get('n1')).body.session_name).toBe('  Tell me about birds ');
    await sessions.create({ session_id: 'n2', session_name: '' });
    await sessions.said('agents', 'writer', 'n2', 'Hello');
    expect((await sessions.get('n2')).body.session_name).toBe('');
    await sessions.create({ session_id: 'n3', agent_id: 'writer' });
    await sessions.said('agents', 'writer', 'n3', 'Late name');
    expect((await sessions.get('n3')).body.session_name).toBe('Late name');
    await sessions.said('teams', 'newsroom', 'n4', asking('Team talk', 'Help me with it'));
    expect((await sessions.get('n4')).body.session_name).toBe('Team talk');
    await sessions.create({ session_id: 'n5', workflow_id: 'pipeline' }, '?type=workflow');
    expect((await sessions.get('n5')).body.session_name).toBe('New Pipeline Session');
    expect(await sessions.names('?session_name=new%20pipe')).toEqual(['n5']);
    await sessions.said('workflows', 'pipeline', 'n5', 'Plan it');
    expect((await sessions.get('n5')).body.session_name).toBe('Plan it');
    expect(await sessions.names('?session_name=new%20pipe')).toEqual([]);
    expect(await sessions.names('?session_name=plan%20IT')).toEqual(['n5']);
  });

  test('of a very long message are its beginning', async () => {
    await sessions.said('agents', 'writer', 'n6', 'long '.repeat(1_000));
    const { session_name: name } = (await sessions.get('n6')).body;
    expect([...name]).toHaveLength(255);
    expect(name).toMatch(/^long long .*…$/);
  });
});

describe('reading', () => {
  test('an agent session shows who it is with, what it used and what was said', async () => {
    const usage = { inputTokens: 7, outputTokens: 3, totalTokens: 10, cacheReadTokens: 0 };
    book.write('Read one', { text: 'One', usage });
    book.write('Read two', { text: 'Two', usage });
    await sessions.said('agents', 'writer', 'r1', 'Read one', {
      user_id: 'ada',
      session_state: '{"cart":[1]}',
    });
    await sessions.said('agents', 'writer', 'r1', 'Read two', { user_id: 'ada' });
    const { status, body } = await sessions.get('r1');
    expect(status).toBe(200);
    const counts = { input_tokens: 14, output_tokens: 6, total_tokens: 20 };
    expect(body).toEqual({
      session_id: 'r1',
      agent_session_id: 'r1',
      session_name: 'Read one',
      user_id: 'ada',
      agent_id: 'writer',
      agent_data: {
        name: 'Writer',
        agent_id: 'writer',
        model: { name: 'Scripted', provider: 'Runyard', id: 'scripted' },
      },
      session_state: { cart: [1] },
      metrics: { ...counts, details: { model: [{ ...counts, id: 'scripted', provider: 'Runyard' }] } },
      total_tokens: 20,
      chat_history: ['Read one', 'One', 'Read two', 'Two'].map((content, index) =>
        expect.objectContaining({
          content,
          role: index % 2 === 0 ? 'user' : 'assistant',
          from_history: false,
        }),
      ),
      created_at: wholeSeconds,
      updated_at: wholeSeconds,
    });
    expect(body.chat_history[0].created_at).toEqual(expect.any(Number));
    const [listed] = (await sessions.list('?user_id=ada&session_name=read%20one')).body.data;
    const { chat_history: _said, agent_data: _data, agent_session_id: _id, ...shared } = body;
    expect(listed).toEqual({ ...shared, session_type: 'agent' });
  });

  test('the tool calls of a model are no text', async () => {
    await sessions.said('teams', 'newsroom', 'r2', asking('Read the team', 'Look it up'));
    const { body } = await sessions.get('r2');
    expect(body.chat_history.map(({ role, content }: Body) => [role, content])).toEqual([
      ['user', 'Read the team'],
      ['assistant', undefined],
      ['assistant', 'All done'],
    ]);
    expect(body.chat_history[1].tool_calls).toHaveLength(1);
    expect(body.team_data).toMatchObject({ name: 'Newsroom', team_id: 'newsroom' });
    expect(body).not.toHaveProperty('agent_id');
    expect(body).not.toHaveProperty('session_type');
  });

  test('a session of another user, or of no id, is not found in the words of the contract', async () => {
    await sessions.create({ session_id: 'r3', user_id: 'ada' });
    expect((await sessions.get('r3', '?user_id=ada')).status).toBe(200);
    for (const [path, text] of [
      ['r3?user_id=bob', "Session with id 'r3' not found"],
      ['nope', "Session with id 'nope' not found"],
      ['nope?type=team', "Team Session with id 'nope' not found"],
      ['nope/runs', 'Session with ID nope not found'],
      ['nope/runs/r', 'Session with ID nope not found'],
      ['r3/runs/r', 'Session with ID r3 has no runs'],
    ]) {
      const { status, body } = await sessions.get(path!);
      expect([status, body.detail], path).toEqual([404, text]);
    }
  });

  test('a session that is deleted meanwhile is not found', async () => {
    await sessions.create({ session_id: 'r4' });
    const { find } = SessionStore.prototype;
    const deleting = vi.spyOn(SessionStore.prototype, 'find').mockImplementationOnce(async function (
      this: SessionStore,
      ...given
    ) {
      const found = await find.apply(this, given);
      expect((await service.call('DELETE', '/sessions/r4')).status).toBe(204);
      return found;
    });
    onTestFinished(() => deleting.mockRestore());
    const { status, body } = await sessions.get('r4');
    expect([status, body.detail]).toEqual([404, "Session with id 'r4' not found"]);
  });
});

describe('changing', () => {
  test('replaces the given fields, and shows missing values as null', async () => {
    await sessions.create({ session_id: 'c1', session_state: { a: 1, b: 2 }, metadata: { x: 1 } });
    const summary = { summary: 'About birds', topics: ['birds'], updated_at: '2026-01-02T03:04:05+01:00' };
    const change = {
      session_name: 'Birds',
      session_state: { c: 3 },
      metadata: { y: 2 },
      summary,
      user_id: 'eve',
    };
    const { status, body } = await sessions.change('c1', change);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      session_name: 'Birds',
      session_state: { c: 3 },
      metadata: { y: 2 },
      session_summary: {
        summary: 'About birds',
        topics: ['birds'],
        updated_at: '2026-01-02T02:04:05.000000',
      },
      user_id: null,
      agent_id: null,
      agent_data: null,
      total_tokens: null,
    });
    expect((await sessions.change('c1', { session_state: {}, session_name: null })).body).toMatchObject({
      session_name: 'Birds',
      session_state: {},
      metadata: { y: 2 },
    });
    expect(await sessions.names('?session_name=bird')).toContain('c1');
  });

  test('a new name is an explicit one, also an empty one', async () => {
    await sessions.said('agents', 'writer', 'c2', 'Old name');
    expect((await sessions.rename('c2', { session_name: 'New name' })).body.session_name).toBe('New name');
    await sessions.said('agents', 'writer', 'c2', 'Another');
    expect((await sessions.get('c2')).body.session_name).toBe('New name');
    expect((await sessions.rename('c2', { session_name: '' })).body.session_name).toBe('');
    for (const body of [{}, { session_name: null }]) {
      const { status, body: refused } = await sessions.rename('c2', body);
      expect([status, refused.detail[0].type, refused.detail[0].loc]).toEqual([
        422,
        'missing',
        ['body', 'session_name'],
      ]);
    }
  });

  test('nothing still says when, and an unknown session is not made', async () => {
    await sessions.create({ session_id: 'c3' });
    const before = await order('c3');
    await sessions.create({ session_id: 'c0' });
    expect((await sessions.change('c3', {})).status).toBe(200);
    expect(before).toBe(0);
    expect(await order('c3')).toBe(0);
    expect((await sessions.change('c9', {})).body.detail).toBe("Session with id 'c9' not found");
    expect((await sessions.rename('c9', { session_name: 'x' })).status).toBe(404);
    expect((await service.call('PATCH', '/sessions/c3')).status).toBe(422);
    async function order(id: string): Promise<number> {
      return (await sessions.names('?sort_by=updated_at&limit=5')).indexOf(id);
    }
  });
});

describe('the database of a session', () => {
  test('has to be named when there are several, with the true status', async () => {
    const { url } = await freshSqlite();
    const other = new Sessions(await startService({ ...components, databases: { other: url } }));
    const several = 'The db_id query parameter is required when using multiple databases';
    for (const [answer, status, detail] of [
      [await other.list(), 400, several],
      [await other.list('?db_id=zz'), 404, "No database found with id 'zz'"],
      [
        await other.list('?table=sessions'),
        400,
        'The db_id query parameter is required when passing a table',
      ],
      [await other.get('x'), 400, several],
      [await other.delete('x'), 400, several],
      [await other.create({}), 400, several],
    ] as const)
      expect([answer.status, answer.body.detail]).toEqual([status, detail]);
    expect((await other.create({ session_id: 'x' }, '?db_id=default&table=nonsense')).status).toBe(201);
    expect(await other.names('?db_id=default&table=memories')).toEqual(['x']);
    const unknown = await other.list('?db_id=default&table=traces');
    expect([unknown.status, unknown.body.detail]).toEqual([
      404,
      "No database with id 'default' has table 'traces'",
    ]);
  });
});

forEachDatabase((_dialect, freshPlace) => {
  describe('the metadata of a component', () => {
    test('is that of its sessions, unless they have some', async () => {
      const place = await freshPlace();
      await place.open();
      const metadata = { department: 'law' };
      const lawyer = agent({ id: 'lawyer', model: book.model, metadata });
      const own = await startService({
        database: place.url,
        agents: [lawyer],
        teams: [team({ id: 'firm', model: book.model, members: [lawyer], metadata: { floor: 2 } })],
        workflows: [workflow({ id: 'case', steps: [lawyer], metadata: { court: 'high' } })],
      });
      const its = new Sessions(own);
      const metadataOf = async (id: string) => (await its.get(id)).body.metadata;
      await its.said('agents', 'lawyer', 'new', 'Hello', { metadata: '{"mine":true}' });
      await its.said('teams', 'firm', 'team', 'Hello');
      await its.said('workflows', 'case', 'flow', 'Hello');
      expect(await metadataOf('new')).toEqual(metadata);
      expect(await metadataOf('team')).toEqual({ floor: 2 });
      expect(await metadataOf('flow')).toEqual({ court: 'high' });
      await its.create({ session_id: 'prepared' });
      await its.create({ session_id: 'described', metadata: { mine: 1 } });
      for (const id of ['prepared', 'described']) await its.said('agents', 'lawyer', id, 'Hello');
      expect(await metadataOf('prepared')).toEqual(metadata);
      expect(await metadataOf('described')).toEqual({ mine: 1 });
      await its.change('new', { metadata: {} });
      await its.said('agents', 'lawyer', 'new', 'Again');
      expect(await metadataOf('new')).toEqual({});
    });
  });
});
