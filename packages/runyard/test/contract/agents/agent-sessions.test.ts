import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, tool } from '../../../src/index.js';
import type { ScriptedToolCall } from '../../../src/testing.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService, TestService } from '../../support/service.js';

const book = new ScriptBook();
let service: TestService;
let sessions = 0;
const session = () => `sessions-${++sessions}`;

const double = tool({
  name: 'double',
  description: 'Doubles',
  inputSchema: z.object({ n: z.number() }),
  execute: ({ n }) => n * 2,
});

beforeAll(async () => {
  const model = book.model;
  service = await TestService.start({
    agents: [
      agent({ id: 'host', model, introduction: 'Welcome, I am the host.', addHistoryToContext: true }),
      agent({ id: 'historian', model, readChatHistory: true, readToolCallHistory: true, tools: [double] }),
      agent({ id: 'archivist', model, searchPastSessions: true, numPastSessionRunsInSearch: 2 }),
      agent({ id: 'other', model, searchPastSessions: true }),
      agent({ id: 'keeper', model, agenticState: true, sessionState: { colour: 'red', old: true } }),
    ],
  });
});
afterAll(() => service.stop());

/** Lets the model call a tool, and returns the call with its result. */
async function call(agentId: string, message: string, toolCall: ScriptedToolCall, form = {}): Promise<Body> {
  book.write(message, { toolCalls: [toolCall] }, 'done');
  const { body } = await service.run(agentId, { message, ...form });
  expect(body.tools).toHaveLength(1);
  return { ...body.tools[0], run: body };
}

describe('an introduction', () => {
  test('comes also in a session that was made beforehand, with the state that the agent begins with', async () => {
    const given = { session_id: session(), session_state: { colour: 'blue' } };
    const init = { body: JSON.stringify(given), headers: { 'content-type': 'application/json' } };
    await service.call('POST', '/sessions', init);
    await service.run('host', { message: 'hello again', session_id: given.session_id });
    const runs = (await service.get(`/sessions/${given.session_id}/runs`)).body;
    expect(runs.map(({ content }: Body) => content)).toEqual([
      'Welcome, I am the host.',
      'Answer to: hello again',
    ]);
    const second = { ...given, session_id: session() };
    await service.call('POST', '/sessions', { ...init, body: JSON.stringify(second) });
    const { body } = await service.run('keeper', { message: 'keep it', session_id: second.session_id });
    expect(body.session_state).toEqual({ colour: 'blue', old: true });
  });

  test('is the first run of a new session: completed, listed, and part of the history', async () => {
    const session_id = session();
    const { body } = await service.run('host', { message: 'hello host', session_id, user_id: 'ada' });
    const shown = book.requests('hello host')[0]!.messages.map(({ role, content }) => [role, content]);
    expect(shown).toEqual([
      ['assistant', 'Welcome, I am the host.'],
      ['user', 'hello host'],
    ]);
    expect(body.messages[0]).toMatchObject({ content: 'Welcome, I am the host.', from_history: true });
    const listed = (await service.get(`/agents/host/runs?session_id=${session_id}`)).body;
    expect(listed.map(({ status, content, run_input }: Body) => [status, content, run_input])).toEqual([
      ['completed', 'Welcome, I am the host.', ''],
      ['completed', 'Answer to: hello host', 'hello host'],
    ]);
    const introduction = (await service.get(`/agents/host/runs/${listed[0].run_id}`)).body;
    expect(introduction).toMatchObject({
      status: 'completed',
      user_id: 'ada',
      session_id,
      agent_id: 'host',
      content: 'Welcome, I am the host.',
      messages: [{ role: 'assistant', content: 'Welcome, I am the host.' }],
    });
    expect(introduction).not.toHaveProperty('model');
  });

  test('is said once in a session, also when many begin it at once', async () => {
    const session_id = session();
    const many = ['a', 'b', 'c', 'd'].map((message) => service.run('host', { message, session_id }));
    expect((await Promise.all(many)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await service.run('host', { message: 'later', session_id });
    const listed = (await service.get(`/agents/host/runs?session_id=${session_id}`)).body;
    const said = listed.filter(({ content }: Body) => content === 'Welcome, I am the host.');
    expect([listed.length, said.length, listed[0].content]).toEqual([6, 1, 'Welcome, I am the host.']);
  });

  test.each([{ stream: true }, { background: true }])('comes before a run with %o', async (how) => {
    const session_id = session();
    await service.run('host', { message: 'hi', session_id, ...how });
    const listed = (await service.get(`/agents/host/runs?session_id=${session_id}`)).body;
    expect(listed[0].content).toBe('Welcome, I am the host.');
  });

  test('leaves no session behind when the run is refused', async () => {
    await service.run('host', { message: 'first', run_id: 'introduced' });
    const session_id = session();
    const { status } = await service.run('host', { message: 'again', run_id: 'introduced', session_id });
    expect(status).toBe(409);
    expect((await service.get(`/agents/host/runs?session_id=${session_id}`)).status).toBe(404);
  });

  test('is not given in a session of another user', async () => {
    const session_id = session();
    const both = ['ada', 'bob'].map((user_id) => service.run('host', { message: 'x', session_id, user_id }));
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await service.get(`/agents/host/runs?session_id=${session_id}`)).body).toHaveLength(2);
  });
});

describe('the history tools', () => {
  test('read what was said and done earlier in the session', async () => {
    const session_id = session();
    await service.run('historian', { message: 'my cat is Tom', session_id });
    await call('historian', 'twice 4', { name: 'double', arguments: { n: 4 } }, { session_id });
    const chat = await call('historian', 'what did I say?', { name: 'get_chat_history' }, { session_id });
    expect(JSON.parse(chat.result)).toEqual([
      { role: 'user', content: 'my cat is Tom' },
      { role: 'assistant', content: 'Answer to: my cat is Tom' },
      { role: 'user', content: 'twice 4' },
      { role: 'assistant', content: 'done' },
    ]);
    const last = { name: 'get_chat_history', arguments: { num_chats: 1 } };
    expect(JSON.parse((await call('historian', 'last?', last, { session_id })).result)).toHaveLength(2);
    const calls = { name: 'get_tool_call_history', arguments: { num_calls: 5 } };
    const made = JSON.parse((await call('historian', 'calls?', calls, { session_id })).result);
    expect(made[0]).toEqual({ tool_name: 'double', tool_args: { n: 4 }, result: '8' });
    expect(made.map(({ tool_name }: Body) => tool_name)).toEqual([
      'double',
      'get_chat_history',
      'get_chat_history',
    ]);
  });

  test('are shown with the agent', async () => {
    const { body } = await service.get('/agents/historian');
    expect(body.tools.tools.map(({ name }: Body) => name)).toEqual([
      'double',
      'get_chat_history',
      'get_tool_call_history',
    ]);
    expect(body.default_tools).toEqual({ read_chat_history: true, read_tool_call_history: true });
  });
});

describe('the past-session tools', () => {
  const search = (query?: string): ScriptedToolCall => ({
    name: 'search_past_sessions',
    arguments: query === undefined ? '{}' : { query },
  });
  const read = (session_id: string) => ({ name: 'read_past_session', arguments: { session_id } });

  test('find and read the other sessions of the same user with the same agent', async () => {
    const [greece, bread] = [session(), session()];
    const user_id = `ada-${greece}`;
    for (const message of ['We fly to Greece', 'In May', 'With the ferry'])
      await service.run('archivist', { message, session_id: greece, user_id });
    await service.run('archivist', { message: 'How do I bake bread?', session_id: bread, user_id });
    await service.run('other', { message: 'Greece elsewhere', session_id: session(), user_id });

    const all = JSON.parse((await call('archivist', 'list all', search(), { user_id })).result);
    expect(all.map(({ session_id }: Body) => session_id)).toEqual([bread, greece]);
    const found = JSON.parse(
      (await call('archivist', 'find it', search('the FERRY to'), { user_id })).result,
    );
    expect(found[0]).toEqual({
      session_id: greece,
      name: 'We fly to Greece',
      last_used: expect.stringMatching(/^\d{4}-.*Z$/),
      runs: [
        { user: 'In May', assistant: 'Answer to: In May' },
        { user: 'With the ferry', assistant: 'Answer to: With the ferry' },
      ],
    });
    expect((await call('archivist', 'find none', search('zebra'), { user_id })).result).toBe(
      'No earlier session mentions these words.',
    );
    const whole = JSON.parse((await call('archivist', 'read it', read(greece), { user_id })).result);
    expect(whole.runs.map(({ user }: Body) => user)).toEqual([
      'We fly to Greece',
      'In May',
      'With the ferry',
    ]);
  });

  test('show no sessions of other users, and sessions without a user to no caller', async () => {
    const [hers, nobodys] = [session(), session()];
    await service.run('archivist', { message: 'my secret', session_id: hers, user_id: 'eve' });
    await service.run('archivist', { message: 'open secret', session_id: nobodys });
    for (const user_id of ['mallory', undefined]) {
      for (const wanted of [hers, nobodys]) {
        const answer = await call('archivist', `spy ${wanted} ${user_id}`, read(wanted), { user_id });
        expect(answer.tool_call_error).toBe(true);
        expect(answer.result).not.toContain('Answer to');
      }
      expect(
        (await call('archivist', `seek ${user_id}`, search('secret'), { user_id })).result,
      ).not.toContain('Answer to');
    }
    const missing = await call('archivist', 'read missing', read('nowhere'), { user_id: 'mallory' });
    const foreign = await call('archivist', 'read foreign', read(hers), { user_id: 'mallory' });
    expect(foreign.result).toBe(missing.result.replace('nowhere', hers));
  });

  test('are shown with the agent', async () => {
    const { body } = await service.get('/agents/archivist');
    expect(body.tools.tools.map(({ name }: Body) => name)).toEqual([
      'search_past_sessions',
      'read_past_session',
    ]);
    expect(body.sessions).toMatchObject({ search_past_sessions: true, num_past_session_runs_in_search: 2 });
  });
});

describe('update_session_state', () => {
  test('sets and removes keys for this run and the ones after it', async () => {
    const session_id = session();
    const updates = { session_state_updates: { colour: 'blue', list: [1, { a: null }], old: null } };
    const answer = await call(
      'keeper',
      'paint it',
      { name: 'update_session_state', arguments: updates },
      { session_id },
    );
    const state = { colour: 'blue', list: [1, { a: null }] };
    expect(JSON.parse(answer.result)).toEqual({ session_state: state });
    expect(answer.run.session_state).toEqual(state);
    expect((await service.run('keeper', { message: 'and now', session_id })).body.session_state).toEqual(
      state,
    );
  });

  test('refuses a value that is no object', async () => {
    const wrong = { name: 'update_session_state', arguments: { session_state_updates: 'blue' } };
    const answer = await call('keeper', 'wrong', wrong);
    expect(answer.tool_call_error).toBe(true);
    expect(answer.run.session_state).toEqual({ colour: 'red', old: true });
  });
});

test('a tool of the application cannot have the name of a built-in one', () => {
  const clash = tool({ name: 'get_chat_history', description: 'Mine', execute: () => '' });
  expect(() => agent({ id: 'clash', model: book.model, tools: [clash], readChatHistory: true })).toThrow(
    "Agent 'clash' has two tools named 'get_chat_history'",
  );
});

test('an agent without a service remembers past sessions and introduces itself too', async () => {
  const local = agent({
    id: 'local',
    model: book.model,
    introduction: 'Hello!',
    searchPastSessions: true,
    preHooks: [({ content }) => content.replace('tea', '[drink]')],
  });
  const { sessionId } = await local.run('I like tea', { userId: 'local-ada' });
  book.write('what do I like?', { toolCalls: [{ name: 'search_past_sessions' }] }, 'tea');
  const { tools, status } = await local.run('what do I like?', { userId: 'local-ada' });
  expect(status).toBe('completed');
  expect(JSON.parse(tools[0]!.result!)).toMatchObject([
    {
      session_id: sessionId,
      name: 'I like [drink]',
      runs: [{ assistant: 'Hello!' }, { user: 'I like [drink]' }],
    },
  ]);
  const service = await startService({ agents: [local] });
  expect((await service.get('/agents/local')).body.introduction).toBe('Hello!');
});
