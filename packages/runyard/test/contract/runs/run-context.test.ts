import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, tool } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const book = new ScriptBook();
let service: TestService;

beforeAll(async () => {
  const remember = tool({
    name: 'remember',
    description: 'Writes into the state of the session',
    inputSchema: { type: 'object', properties: { key: { type: 'string' }, value: {} }, required: ['key'] },
    execute: ({ key, value }, { state }) => {
      if (value === undefined) state.delete(String(key));
      else state.set(String(key), value);
      return JSON.stringify(state.all());
    },
  });
  const { model } = book;
  service = await TestService.start({
    agents: [
      agent({ id: 'plain', model }),
      agent({ id: 'other', model }),
      agent({
        id: 'guide',
        model,
        instructions:
          'You know {city} and {mood}, and {nothing}. Talk to {user_id}. State: {place}. {object}',
        dependencies: { city: 'Rome', mood: 'calm' },
        metadata: { owner: 'ops', kept: 'component' },
        sessionState: { place: 'desk', colour: 'red' },
        tools: [remember],
      }),
      agent({
        id: 'historian',
        model,
        addHistoryToContext: true,
        numHistoryRuns: 2,
        instructions: 'Be brief.',
      }),
    ],
  });
});
afterAll(() => service.stop());

const system = (message: string) =>
  book.requests(message)[0]?.messages.find(({ role }) => role === 'system')?.content;
const session = (() => {
  let last = 0;
  return () => `session-${++last}`;
})();

describe('dependencies', () => {
  test('fill the keys in the instructions; the call wins over the agent; unknown keys stay', async () => {
    const dependencies = { city: 'Paris', object: { a: [1] } };
    await service.run('guide', { message: 'filled', dependencies, user_id: 'ada' });
    expect(system('filled')).toBe(
      'You know Paris and calm, and {nothing}. Talk to ada. State: desk. {"a":[1]}',
    );
  });

  test('are shown to the model when asked for, and not otherwise', async () => {
    const dependencies = { secretary: 'Grace' };
    await service.run('plain', { message: 'unseen', dependencies });
    expect(JSON.stringify(book.requests('unseen')[0]?.messages)).not.toContain('Grace');
    await service.run('plain', { message: 'seen', dependencies, add_dependencies_to_context: true });
    const request = book.model.requests.find(({ messages }) => messages.at(-1)?.content.startsWith('seen'));
    expect(request?.messages.at(-1)?.content).toContain('Grace');
  });
});

describe('session_state', () => {
  test('begins with that of the agent; the call wins; what is stored wins over the agent', async () => {
    const session_id = session();
    const first = await service.run('guide', {
      message: 'one',
      session_id,
      session_state: { colour: 'blue' },
    });
    expect(first.body.session_state).toEqual({ place: 'desk', colour: 'blue' });
    const second = await service.run('guide', { message: 'two', session_id, session_state: { more: 1 } });
    expect(second.body.session_state).toEqual({ place: 'desk', colour: 'blue', more: 1 });
    const third = await service.run('guide', {
      message: 'three',
      session_id,
      session_state: { place: 'roof' },
    });
    expect(third.body.session_state).toEqual({ place: 'roof', colour: 'blue', more: 1 });
    expect(system('three')).toContain('State: roof');
  });

  test('is changed by tools, and stays changed', async () => {
    const session_id = session();
    const call = (key: string, value?: unknown) => ({
      toolCalls: [{ name: 'remember', arguments: { key, ...(value !== undefined && { value }) } as Body }],
    });
    const message = book.write('remember', call('seen', [1, 2]), call('colour'), 'done');
    const { body } = await service.run('guide', { message, session_id });
    expect(body.session_state).toEqual({ place: 'desk', seen: [1, 2] });
    const next = await service.run('guide', { message: 'afterwards', session_id });
    expect(next.body.session_state).toEqual({ place: 'desk', seen: [1, 2] });
  });

  test('is shown to the model when asked for', async () => {
    await service.run('plain', {
      message: 'look',
      session_state: { secret: 42 },
      add_session_state_to_context: true,
    });
    expect(system('look')).toContain('"secret": 42');
  });

  test('of parallel runs is merged instead of being undone', async () => {
    const session_id = session();
    await service.run('guide', { message: 'opening', session_id });
    const both = gate();
    for (const name of ['left', 'right']) {
      book.write(
        name,
        { toolCalls: [{ name: 'remember', arguments: { key: name, value: 1 } }], waitFor: both.opened },
        'ok',
      );
    }
    const runs = ['left', 'right'].map((message) => service.run('guide', { message, session_id }));
    both.open();
    await Promise.all(runs);
    const { body } = await service.run('guide', { message: 'closing', session_id });
    expect(body.session_state).toMatchObject({ left: 1, right: 1, place: 'desk' });
  });
});

describe('metadata', () => {
  test('of the call and the agent are shown together; the agent wins', async () => {
    const { body } = await service.run('guide', { message: 'meta', metadata: { kept: 'call', trip: 7 } });
    expect(body.metadata).toEqual({ owner: 'ops', kept: 'component', trip: 7 });
    const stored = await service.get(`/agents/guide/runs/${body.run_id}`);
    expect(stored.body.metadata).toEqual(body.metadata);
  });

  test('is absent when the request has none', async () => {
    expect((await service.run('plain', { message: 'bare' })).body).not.toHaveProperty('metadata');
  });
});

describe('history', () => {
  const contents = (messages: readonly Body[]) => messages.map(({ role, content }) => `${role}: ${content}`);

  test('is shown to the model, marked in the answer, and not stored again', async () => {
    const session_id = session();
    for (const message of ['h1', 'h2', 'h3']) await service.run('historian', { message, session_id });
    const { body } = await service.run('historian', { message: 'h4', session_id });
    expect(contents(book.requests('h4')[0]!.messages)).toEqual([
      'system: Be brief.',
      'user: h2',
      'assistant: Answer to: h2',
      'user: h3',
      'assistant: Answer to: h3',
      'user: h4',
    ]);
    const old = body.messages.filter((message: Body) => message.from_history);
    expect(contents(old)).toEqual([
      'user: h2',
      'assistant: Answer to: h2',
      'user: h3',
      'assistant: Answer to: h3',
    ]);
    const stored = await service.get(`/agents/historian/runs/${body.run_id}`);
    expect(contents(stored.body.messages)).toEqual([
      'system: Be brief.',
      'user: h4',
      'assistant: Answer to: h4',
    ]);
    expect(stored.body.messages.every((message: Body) => message.from_history === false)).toBe(true);
  });

  test('is turned on and off for one run', async () => {
    const session_id = session();
    await service.run('historian', { message: 'earlier', session_id });
    await service.run('historian', { message: 'alone', session_id, add_history_to_context: false });
    expect(contents(book.requests('alone')[0]!.messages)).toEqual(['system: Be brief.', 'user: alone']);
    const plain = session();
    await service.run('plain', { message: 'p1', session_id: plain });
    await service.run('plain', { message: 'p2', session_id: plain, add_history_to_context: true });
    expect(contents(book.requests('p2')[0]!.messages)).toEqual([
      'user: p1',
      'assistant: Answer to: p1',
      'user: p2',
    ]);
  });

  test('leaves out runs that failed, and those of other agents and sessions', async () => {
    const session_id = session();
    await service.run('other', { message: 'someone else', session_id });
    await service.run('historian', { message: 'elsewhere', session_id: session() });
    await service.run('historian', { message: book.write('broken', { error: 'no answer' }), session_id });
    await service.run('historian', { message: 'good', session_id });
    await service.run('historian', { message: 'now', session_id });
    expect(contents(book.requests('now')[0]!.messages)).toEqual([
      'system: Be brief.',
      'user: good',
      'assistant: Answer to: good',
      'user: now',
    ]);
  });
});

describe('users', () => {
  test('may be named by anyone while there is no authorization; without one the field is null', async () => {
    expect((await service.run('plain', { message: 'x', user_id: 'ada' })).body.user_id).toBe('ada');
    const { body } = await service.run('plain', { message: 'x' });
    expect(body).toHaveProperty('user_id', null);
    expect((await service.get(`/agents/plain/runs/${body.run_id}`)).body).toHaveProperty('user_id', null);
  });

  test.each(['sa:evil', '__scheduler__'])('%s is nobody that a caller can be', async (user_id) => {
    const { status, body } = await service.run('plain', { message: 'reserved', user_id });
    expect(status).toBe(403);
    expect(body.error_code).toBe('reserved_user');
    expect(book.requests('reserved')).toEqual([]);
  });

  test("cannot run in one another's sessions, and the refusal comes before anything is done", async () => {
    const session_id = session();
    await service.run('plain', { message: 'mine', session_id, user_id: 'ada' });
    for (const [name, form] of Object.entries({ foreign: { user_id: 'bob' }, nobodys: {} })) {
      for (const extra of [{ stream: false }, { stream: true }, { background: true }]) {
        const answer = await service.run('plain', { message: name, session_id, ...form, ...extra });
        expect(answer.status).toBe(409);
        expect(answer.body.error_code).toBe('session_of_another_user');
      }
      expect(book.requests(name)).toEqual([]);
    }
    expect((await service.get(`/agents/plain/runs?session_id=${session_id}`)).body).toHaveLength(1);
  });

  test('who make the same new session at once do not share it', async () => {
    const session_id = session();
    const users = ['a', 'b', 'c', 'd', 'e'];
    const answers = await Promise.all(
      users.map((user_id) => service.run('plain', { message: 'race', session_id, user_id })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    const listed = (await service.get(`/agents/plain/runs?session_id=${session_id}`)).body;
    expect(listed.map((run: Body) => run.user_id)).toEqual([
      answers.find(({ status }) => status === 200)?.body.user_id,
    ]);
  });
});

describe('run_id', () => {
  test('may be chosen', async () => {
    const { body, headers } = await service.run('plain', { message: 'named', run_id: 'my-run' });
    expect([body.run_id, headers.get('x-run-id')]).toEqual(['my-run', 'my-run']);
    expect((await service.get('/agents/plain/runs/my-run')).body.content).toBe('Answer to: named');
  });

  test('that is taken is refused, however it is requested, and the stored run stays', async () => {
    await service.run('plain', { message: 'original', run_id: 'taken' });
    for (const extra of [{ stream: false }, { stream: true }, { background: true }]) {
      for (const agentId of ['plain', 'other']) {
        const answer = await service.run(agentId, { message: 'usurper', run_id: 'taken', ...extra });
        expect(answer.status).toBe(409);
        expect(answer.body.error_code).toBe('run_exists');
        expect([answer.body.run_id, answer.headers.get('x-run-id')]).toEqual(['taken', 'taken']);
      }
    }
    expect(book.requests('usurper')).toEqual([]);
    expect((await service.get('/agents/plain/runs/taken')).body.content).toBe('Answer to: original');
  });

  test('that many requests choose at once is given to one', async () => {
    const many = Array.from({ length: 6 }, () =>
      service.run('plain', { message: 'dash', run_id: 'contested' }),
    );
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(book.requests('dash')).toHaveLength(1);
  });
});
