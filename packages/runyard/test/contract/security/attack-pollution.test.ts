import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { agent, agentFactory, tool } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Answer, TestService } from '../../support/service.js';

const book = new ScriptBook();
let service: TestService;

const note = tool({
  name: 'note',
  description: 'Notes something in the state.',
  execute: (_args, { state }) => {
    state.set('noted', true);
    return JSON.stringify(state.all());
  },
});

beforeAll(async () => {
  service = await TestService.start({
    agents: [
      agent({ id: 'a', model: book.model, tools: [note], sessionState: { first: { second: 1 } } }),
      agentFactory({
        id: 'f',
        build: ({ input }) => agent({ id: 'x', model: book.model, metadata: { ...input } }),
      }),
    ],
  });
});
afterAll(() => service.stop());

/** What a plain object of this process has, beyond what it should: nothing. */
function strangers(): string[] {
  const found: string[] = [];
  for (const value of [{}, [], '', 0, () => {}]) for (const key in value as object) found.push(key);
  return found;
}
afterEach(() => {
  expect(strangers()).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
});

const poison = '"polluted":true,"isAdmin":true';
const payloads: Record<string, string> = {
  'a prototype': `{"__proto__":{${poison}},"kept":1}`,
  'a prototype inside': `{"first":{"__proto__":{${poison}}},"kept":1}`,
  'a constructor': `{"constructor":{"prototype":{${poison}}},"kept":1}`,
  'a constructor inside': `{"first":{"constructor":{"prototype":{${poison}}}},"kept":1}`,
  'a prototype of prototypes': `{"__proto__":{"__proto__":{${poison}}},"kept":1}`,
  'names of methods':
    '{"toString":1,"valueOf":1,"hasOwnProperty":1,"toJSON":1,"then":1,"length":-1,"kept":1}',
};

const jsonBody = (text: string) => ({ body: text, headers: { 'content-type': 'application/json' } });

/** Whatever is answered, it is no failure of the service. */
function expectSound(answer: Answer): Answer {
  expect(answer.status, answer.text).toBeLessThan(500);
  return answer;
}

describe.each(Object.entries(payloads))('%s', (_, payload) => {
  test.each(['session_state', 'dependencies', 'metadata', 'knowledge_filters', 'output_schema'])(
    'in the form field %s',
    async (field) => {
      const message = book.write(
        `note ${field} ${payload}`,
        { toolCalls: [{ name: 'note', arguments: {} }] },
        '{}',
      );
      const body = new URLSearchParams({ message, stream: 'false', [field]: payload });
      expectSound(await service.call('POST', '/agents/a/runs', { body }));
    },
  );

  test('in the state of a session, over two runs of it', async () => {
    const session = `s-${payload.length}-${payload.charCodeAt(3)}`;
    for (const round of ['one', 'two']) {
      const form = { message: round, session_id: session, session_state: JSON.parse(payload) };
      const { body, status } = expectSound(await service.run('a', form));
      expect(status).toBe(200);
      expect(body.session_state).toMatchObject({ kept: 1 });
      expect(body.session_state.polluted).toBeUndefined();
    }
    const stored = expectSound(await service.get(`/sessions/${session}`));
    expect(stored.body.session_state).toMatchObject({ kept: 1 });
  });

  test('in the input of a factory', async () => {
    const body = new URLSearchParams({ message: 'x', stream: 'false', factory_input: payload });
    expect(expectSound(await service.call('POST', '/agents/f/runs', { body })).status).toBe(200);
  });

  test('in a new session, and in a change of it', async () => {
    const made = expectSound(
      await service.call(
        'POST',
        '/sessions?type=agent',
        jsonBody(`{"agent_id":"a","session_state":${payload},"metadata":${payload}}`),
      ),
    );
    expect(made.status).toBe(201);
    expect(made.body.session_state).toMatchObject({ kept: 1 });
    const changed = expectSound(
      await service.call(
        'PATCH',
        `/sessions/${made.body.session_id}?type=agent`,
        jsonBody(`{"session_state":${payload},"metadata":${payload}}`),
      ),
    );
    expect(changed.body.metadata).toMatchObject({ kept: 1 });
  });

  test('in a learning, and in a change of it', async () => {
    const made = expectSound(
      await service.call(
        'POST',
        '/learnings',
        jsonBody(`{"learning_type":"user_profile","user_id":"u","content":${payload},"metadata":${payload}}`),
      ),
    );
    const id = made.body?.learning_id ?? 'none';
    expectSound(await service.call('PATCH', `/learnings/${id}`, jsonBody(`{"content":${payload}}`)));
  });

  test('as the whole body, and as a filter of traces', async () => {
    for (const [method, path] of [
      ['POST', '/sessions'],
      ['POST', '/memories'],
      ['POST', '/learnings'],
      ['POST', '/traces/search'],
      ['POST', '/service-accounts'],
    ] as const) {
      expectSound(await service.call(method, path, jsonBody(payload)));
    }
    expectSound(await service.call('POST', '/traces/search', jsonBody(`{"filter":${payload}}`)));
  });
});

test('as names of fields, of files and of parameters', async () => {
  const form = new FormData();
  form.append('message', 'x');
  form.append('stream', 'false');
  for (const name of ['__proto__', 'constructor', 'toString', '__proto__[polluted]', 'hasOwnProperty'])
    form.append(name, 'polluted');
  form.append('__proto__', new File(['polluted'], '__proto__', { type: 'text/plain' }));
  const answer = await service.call('POST', '/agents/a/runs', { body: form });
  expect(answer.status, answer.text).toBe(200);
  const query = '__proto__=1&__proto__=2&__proto__[polluted]=1&constructor[prototype][polluted]=1&toString=1';
  for (const path of ['/sessions', '/traces', '/agents/a/runs'])
    expect((await service.get(`${path}?${query}`)).status, path).toBe(200);
});

test('as ids: nothing has them', async () => {
  for (const id of ['__proto__', 'constructor', 'toString', 'prototype', 'hasOwnProperty']) {
    for (const path of [
      '/agents/',
      '/teams/',
      '/workflows/',
      '/sessions/',
      '/memories/',
      '/learnings/',
      '/traces/',
    ])
      expect((await service.get(path + id)).status, path + id).toBe(404);
    const run = await service.run(id, { message: 'x' });
    expect(run.status, id).toBe(404);
    expect((await service.get(`/sessions?db_id=${id}`)).status).toBe(404);
    expect((await service.get(`/learnings?sort_by=${id}`)).status).toBeLessThan(500);
  }
});
