import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type AgentFactory, agent, agentFactory, FactoryRefusal } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const book = new ScriptBook({ id: 'm', provider: 'P' });
let built: Body[] = [];
let service: TestService;

const tutor = agentFactory({
  id: 'tutor',
  name: 'Tutor',
  description: 'Teaches one subject',
  inputSchema: z.object({ subject: z.string().min(2), level: z.number().int().default(1) }),
  build(request) {
    built.push(request);
    if (request.userId === 'banned') throw new FactoryRefusal('You may not be taught.');
    if (request.input.subject === 'chaos') throw new Error('password=hunter2');
    return agent({
      name: 'Inside',
      model: book.model,
      instructions: `Teach ${request.input.subject} at level ${request.input.level}.`,
      sessionState: { lessons: 0 },
      addHistoryToContext: true,
    });
  },
});

const free = agentFactory({
  name: 'Free Form',
  build: async ({ input }) => agent({ id: 'x', model: book.model, instructions: JSON.stringify(input) }),
});

const broken = agentFactory({ id: 'broken', build: () => undefined as never });

const strict = agentFactory({
  id: 'strict',
  build: () => agent({ id: 'x', model: book.model, inputSchema: z.object({ city: z.string() }) }),
});

beforeAll(async () => {
  service = await TestService.start({
    agents: [tutor, agent({ id: 'plain', model: book.model }), free, broken, strict],
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  built = [];
});

const subject = { subject: 'logic' };
const system = (message: string) => book.requests(message)[0]!.messages[0]!.content;

describe('a factory is shown', () => {
  test('with what it takes, among the agents, in the order of registration', async () => {
    const { body } = await service.get('/agents');
    expect(body.map(({ id, is_factory }: Body) => [id, is_factory])).toEqual([
      ['tutor', true],
      ['plain', false],
      ['free-form', true],
      ['broken', true],
      ['strict', true],
    ]);
    const shown = (await service.get('/agents/tutor')).body;
    expect(shown).toEqual({
      id: 'tutor',
      name: 'Tutor',
      db_id: 'default',
      description: 'Teaches one subject',
      is_factory: true,
      input_schema: expect.objectContaining({ type: 'object', required: ['subject'] }),
      factory_input_schema: shown.input_schema,
      is_component: false,
    });
    expect(body[2]).not.toHaveProperty('factory_input_schema');
    expect(built).toEqual([]);
  });

  test('in /config and counted in /info', async () => {
    expect((await service.get('/info')).body.agent_count).toBe(5);
    const { agents } = (await service.get('/config')).body;
    expect(agents[0]).toEqual({
      id: 'tutor',
      name: 'Tutor',
      description: 'Teaches one subject',
      db_id: 'default',
    });
  });
});

describe('a run of a factory', () => {
  test('is built from the checked input, the user, the session and its state', async () => {
    const form = { message: 'first', factory_input: subject, user_id: 'ada', session_id: 's1' };
    const { body } = await service.run('tutor', { ...form, session_state: { mood: 'good' } });
    expect(built).toEqual([
      {
        input: { subject: 'logic', level: 1 },
        userId: 'ada',
        claims: null,
        sessionId: 's1',
        state: { mood: 'good' },
      },
    ]);
    expect(system('first')).toBe('Teach logic at level 1.');
    expect(body).toMatchObject({
      agent_id: 'tutor',
      agent_name: 'Tutor',
      model: 'm',
      model_provider: 'P',
      content: 'Answer to: first',
      session_state: { lessons: 0, mood: 'good' },
    });
    await service.run('tutor', { ...form, message: 'second', factory_input: { subject: 'maths', level: 3 } });
    expect(built[1]).toMatchObject({ input: { level: 3 }, state: { lessons: 0, mood: 'good' } });
    const texts = book.requests('second')[0]!.messages.map(({ content }) => content);
    expect(texts).toEqual(['Teach maths at level 3.', 'first', 'Answer to: first', 'second']);
  });

  test('streams events under the name of the factory', async () => {
    const stream = await service.stream('tutor', { message: 'streamed', factory_input: subject });
    await stream.over;
    expect(stream.content).toBe('Answer to: streamed');
    for (const event of stream.events)
      expect(event).toMatchObject({ agent_id: 'tutor', agent_name: 'Tutor' });
    expect(stream.events[0]!.session_id).toBe(built[0].sessionId);
  });

  test('is found and listed by the id of the factory', async () => {
    const { body } = await service.run('tutor', {
      message: 'kept',
      factory_input: subject,
      session_id: 'kept',
    });
    expect((await service.get(`/agents/tutor/runs/${body.run_id}`)).body.content).toBe('Answer to: kept');
    expect((await service.get('/agents/tutor/runs?session_id=kept')).body).toHaveLength(1);
    expect((await service.get(`/agents/plain/runs/${body.run_id}`)).status).toBe(404);
    expect(built).toHaveLength(1);
  });

  test('continues in the background', async () => {
    const form = { message: 'behind', factory_input: subject, background: true };
    const { status, body } = await service.run('tutor', form);
    expect(status).toBe(202);
    await until('the run ended', async () => {
      const run = (await service.get(`/agents/tutor/runs/${body.run_id}`)).body;
      return run.status === 'completed';
    });
  });

  test('may take any object, or none', async () => {
    await service.run('free-form', { message: 'any', factory_input: { a: [1] } });
    expect(system('any')).toBe('{"a":[1]}');
    await service.run('free-form', { message: 'none' });
    expect(system('none')).toBe('{}');
  });

  test('keeps to the input schema of the agent that was built', async () => {
    expect((await service.run('strict', { message: 'no JSON' })).status).toBe(422);
    expect((await service.run('strict', { message: '{"city":"Rome"}' })).status).toBe(200);
  });
});

describe('factory_input', () => {
  test.each([
    ['no JSON', '{"subject": nope}', 'factory_input is not JSON'],
    ['no object', '[1]', 'factory_input must be a JSON object.'],
    ['null', 'null', 'factory_input must be a JSON object.'],
    ['a misfit', '{"subject":"x"}', 'factory_input does not fit: subject:'],
    ['lacking', '{}', 'factory_input does not fit: subject: is required'],
    ['left out', undefined, 'factory_input does not fit: subject: is required'],
    [
      'too deep',
      `{"subject":"logic","deep":${'['.repeat(5000)}${']'.repeat(5000)}}`,
      'factory_input is not JSON',
    ],
  ])('that is %s is refused before anything is done', async (_kind, factory_input, text) => {
    for (const extra of [{ stream: false }, { stream: true }, { background: true }]) {
      const { status, body } = await service.run('tutor', { message: 'refused', factory_input, ...extra });
      expect(status).toBe(400);
      expect(body.error_code).toBe('invalid_factory_input');
      expect(body.detail).toContain(text);
    }
    expect(built).toEqual([]);
    expect(book.requests('refused')).toEqual([]);
  });

  test('is ignored by an agent that is no factory', async () => {
    const { status, body } = await service.run('plain', { message: 'hi', factory_input: 'nonsense' });
    expect(status).toBe(200);
    expect(body.content).toBe('Answer to: hi');
  });
});

describe('a factory that does not build', () => {
  test('refuses the caller with its own words', async () => {
    const form = { message: 'refused', factory_input: subject, user_id: 'banned' };
    const { status, body } = await service.run('tutor', form);
    expect(status).toBe(403);
    expect(body).toMatchObject({ detail: 'You may not be taught.', error_code: 'factory_refused' });
  });

  test('and crashes, reveals nothing to the caller and logs everything', async () => {
    const { status, body, text } = await service.run('tutor', {
      message: 'refused',
      factory_input: { subject: 'chaos' },
    });
    expect(status).toBe(500);
    expect(body.detail).toMatch(/^Error in agent factory: /);
    expect(text).not.toContain('hunter2');
    const lines = service.logged.filter(({ fields }) => fields.request_id === body.request_id);
    const causes = lines.flatMap(({ fields }) => (fields.err instanceof Error ? fields.err : []));
    expect(causes).toEqual([expect.objectContaining({ message: 'password=hunter2' })]);
  });

  test('and returns something else, fails with its own error code', async () => {
    const { status, body } = await service.run('broken', { message: 'refused' });
    expect([status, body.error_code]).toEqual([500, 'factory_failed']);
  });

  test('is not shown the state of another user', async () => {
    const form = { factory_input: subject, session_id: 'secret' };
    await service.run('tutor', { ...form, message: 'mine', user_id: 'ada', session_state: { pin: 1234 } });
    const { status } = await service.run('tutor', { ...form, message: 'theirs', user_id: 'bob' });
    expect(status).toBe(409);
    expect(built).toHaveLength(1);
  });
});

describe('a run of a factory whose process stopped', () => {
  /** Leaves a run in the middle of its model call, and comes back with another factory over the same data. */
  async function afterRestart(later: AgentFactory): Promise<Body> {
    const folder = mkdtempSync(join(tmpdir(), 'runyard-factory-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const database = `sqlite://${folder}/runyard.db`;
    const reached = gate();
    const never = new Promise<never>(() => {});
    const model = scriptedModel(() => {
      reached.open();
      return { text: 'never said', waitFor: never };
    });
    const before = agentFactory({ id: 'f', build: () => agent({ id: 'x', model }) });
    const first = await TestService.start({ database, autoMigrate: true, agents: [before] });
    const form = { message: 'long', factory_input: { topic: 'tides' }, user_id: 'ada', background: true };
    const { body } = await first.run('f', { ...form, session_state: { a: 1 } });
    await reached.opened;
    await first.stop();
    const second = await startService({ database, agents: [later] });
    return until('the run ended', async () => {
      const run = (await second.get(`/agents/f/runs/${body.run_id}`)).body;
      return run.status !== 'running' && run.status !== 'pending' && run;
    });
  }

  test('resumes with the agent that is built again from the same input', async () => {
    const requests: Body[] = [];
    const run = await afterRestart(
      agentFactory({
        id: 'f',
        build(request) {
          requests.push(request);
          return agent({ id: 'x', model: scriptedModel([`About ${String(request.input.topic)}`]) });
        },
      }),
    );
    expect(run).toMatchObject({ status: 'completed', content: 'About tides', user_id: 'ada' });
    expect(requests).toEqual([
      { input: { topic: 'tides' }, userId: 'ada', claims: null, sessionId: run.session_id, state: { a: 1 } },
    ]);
  });

  test('ends with a word when it can no longer be built', async () => {
    const refused = await afterRestart(
      agentFactory({
        id: 'f',
        build() {
          throw new FactoryRefusal('Ada has left.');
        },
      }),
    );
    expect(refused).toMatchObject({
      status: 'error',
      error_type: 'factory_refused',
      content: 'Ada has left.',
    });
  });
});

test('a factory needs an id or a name that fits in a URL, and its own', () => {
  const build = () => agent({ id: 'x', model: book.model });
  expect(() => agentFactory({ build })).toThrow('needs an id or a name');
  expect(() => agentFactory({ id: 'a/b', build })).toThrow('cannot stand in a URL');
  return expect(startService({ agents: [tutor, agent({ id: 'tutor', model: book.model })] })).rejects.toThrow(
    "Two agents have the id 'tutor'",
  );
});

describe('a factory that never answers', () => {
  const never = (asked: () => void) =>
    agentFactory({
      id: 'never',
      build: () => {
        asked();
        return new Promise<never>(() => {});
      },
    });

  test('is given up after a while, with an error that says so', async () => {
    const slow = await startService({ agents: [never(() => {})], maxRunTimeMs: 50 });
    const { status, body } = await slow.run('never', { message: 'hi' });
    expect([status, body.error_code]).toEqual([503, 'preparation_timeout']);
    expect(body.detail).toContain("The factory 'never' did not return within 0.05 s");
  });

  test('as is an input schema whose check never ends', async () => {
    const inputSchema = z.object({ city: z.string().refine(() => new Promise<boolean>(() => {})) });
    const slow = await startService({
      agents: [agent({ id: 'checked', model: book.model, inputSchema })],
      maxRunTimeMs: 50,
    });
    const { status, body } = await slow.run('checked', { message: '{"city":"Rome"}' });
    expect([status, body.error_code]).toEqual([503, 'preparation_timeout']);
    expect(body.detail).toContain("The input schema of 'checked' did not return");
  });

  test('is waited for no longer than the caller waits', async () => {
    const asked = gate();
    const slow = await startService({ agents: [never(asked.open)] });
    const leaving = new AbortController();
    const answer = slow.run('never', { message: 'hi' }, { signal: leaving.signal });
    await asked.opened;
    leaving.abort();
    await expect(answer).rejects.toThrow();
    const line = await until('the request is over', () =>
      slow.logged.find(({ fields }) => fields.path === '/agents/never/runs'),
    );
    expect(line.fields).toMatchObject({ client_gone: true });
    expect(slow.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('and does so once the caller has gone, lets go of what it has opened for the run', async () => {
    const [asked, late, closed] = [gate(), gate(), gate()];
    const source = { name: 'elsewhere', tools: async () => [], close: async () => closed.open() };
    const opening = agentFactory({
      id: 'opening',
      build: async () => {
        asked.open();
        await late.opened;
        return agent({ id: 'x', model: book.model, tools: [source] });
      },
    });
    const slow = await startService({ agents: [opening] });
    const leaving = new AbortController();
    const answer = slow.run('opening', { message: 'hi' }, { signal: leaving.signal });
    await asked.opened;
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until('the request is over', () =>
      slow.logged.some(({ fields }) => fields.path === '/agents/opening/runs'),
    );
    late.open();
    await closed.opened;
  });

  test('keeps only its run, when that continues elsewhere, and the run can be cancelled', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runyard-never-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const stuck = gate();
    const first = await startService({
      dataDir: folder,
      agents: [
        agentFactory({
          id: 'never',
          build: () => agent({ id: 'x', model: scriptedModel(() => stuck.opened.then(() => 'late')) }),
        }),
      ],
    });
    const begun = await first.run('never', { message: 'hi', background: true });
    const { run_id: runId, session_id: sessionId } = begun.body;
    await first.app.close({ graceMs: 0 });

    const asked = gate();
    const second = await startService({ dataDir: folder, agents: [never(asked.open)] });
    await asked.opened;
    const path = `/agents/never/runs/${runId}`;
    expect((await second.submit(`${path}/cancel`, {})).status).toBe(200);
    const { body } = await second.get(`${path}?session_id=${sessionId}`);
    expect(body.status).toBe('cancelled');
    stuck.open();
  });
});
