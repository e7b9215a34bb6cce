import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, ModelError } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const book = new ScriptBook();
let service: TestService;

beforeAll(async () => {
  const { model } = book;
  const names = ['a', 'other', 'counted', 'paged'];
  service = await TestService.start({ agents: names.map((id) => agent({ id, model })) });
});
afterAll(() => service.stop());

const ended = (runId: string, agentId = 'a') =>
  until(`run ${runId} ended`, async () => {
    const { body } = await service.get(`/agents/${agentId}/runs/${runId}`);
    return !['pending', 'running'].includes(body.status) && (body as Body);
  });

describe('a run in the background', () => {
  test('is acknowledged at once, then found, and in the end has its content', async () => {
    const rest = gate();
    const message = book.write('later', { text: 'here it is', waitFor: rest.opened });
    const { status, body } = await service.run('a', { message, background: true, user_id: 'ada' });
    expect(status).toBe(202);
    expect(Object.keys(body).sort()).toEqual(['run_id', 'session_id', 'status']);
    expect(body.status).toBe('pending');
    const running = await service.get(`/agents/a/runs/${body.run_id}?session_id=${body.session_id}`);
    expect(running.status).toBe(200);
    expect(running.body).toMatchObject({
      run_id: body.run_id,
      session_id: body.session_id,
      user_id: 'ada',
      agent_id: 'a',
    });
    expect(['pending', 'running']).toContain(running.body.status);
    expect(running.body.content ?? '').toBe('');
    for (const absent of ['messages', 'tools']) expect(running.body).not.toHaveProperty(absent);
    rest.open();
    expect(await ended(body.run_id)).toMatchObject({ status: 'completed', content: 'here it is' });
  });

  test('is not streamed unless asked for', async () => {
    const form = new URLSearchParams({ message: 'just background', background: 'true' });
    const { status } = await service.call('POST', '/agents/a/runs', { body: form });
    expect(status).toBe(202);
  });

  test('can be streamed too', async () => {
    const stream = await service.stream('a', { message: 'both', background: true, stream: true });
    await stream.end();
    expect(stream.names.at(-1)).toBe('RunCompleted');
    expect(stream.frames.map(({ payload }) => payload.event_index)).toEqual(
      stream.frames.map((_, index) => index),
    );
  });

  test('that is streamed survives its client whatever on_disconnect says', async () => {
    const rest = gate();
    const message = book.write('survivor', { chunks: ['a', rest.opened, 'b'] });
    const leaving = new AbortController();
    const form = { message, background: true, stream: true, on_disconnect: 'cancel' };
    const stream = await service.stream('a', form, { signal: leaving.signal });
    const { run_id } = await stream.event('RunStarted');
    leaving.abort();
    await until('the departure was noticed', () => service.logged.some(({ fields }) => fields.client_gone));
    rest.open();
    expect(await ended(run_id)).toMatchObject({ status: 'completed', content: 'ab' });
  });
});

describe('a run while it is executing', () => {
  test('has all the keys of a run, and an empty content', async () => {
    const rest = gate();
    const message = book.write('going on', { text: 'x', waitFor: rest.opened });
    const { body } = await service.run('a', { message, background: true });
    const { body: running } = await service.get(`/agents/a/runs/${body.run_id}`);
    for (const key of ['run_id', 'session_id', 'user_id', 'agent_id', 'status', 'content', 'created_at']) {
      expect(running, key).toHaveProperty(key);
    }
    expect(running.content).toBe('');
    rest.open();
    await ended(body.run_id);
  });

  test('is in the list of its session, in the foreground too', async () => {
    const rest = gate();
    const message = book.write('visible', { chunks: ['begun', rest.opened] });
    const stream = await service.stream('a', { message });
    const { run_id, session_id } = await stream.event('RunStarted');
    await stream.until(() => stream.content === 'begun', 'the text');
    const [listed] = (await service.get(`/agents/a/runs?session_id=${session_id}`)).body;
    expect(listed).toMatchObject({ run_id, status: 'running', content: 'begun', run_input: 'visible' });
    rest.open();
    await stream.end();
  });
});

describe('getting a run', () => {
  test('needs no session, but one that is given has to be right', async () => {
    const { body } = await service.run('a', { message: 'found' });
    expect((await service.get(`/agents/a/runs/${body.run_id}`)).status).toBe(200);
    expect((await service.get(`/agents/a/runs/${body.run_id}?session_id=${body.session_id}`)).status).toBe(
      200,
    );
    for (const path of [
      `/agents/a/runs/${body.run_id}?session_id=another`,
      `/agents/other/runs/${body.run_id}`,
      '/agents/a/runs/unknown',
      `/agents/a/runs/${body.session_id}`,
    ]) {
      const answer = await service.get(path);
      expect(answer.status, path).toBe(404);
      expect(answer.body).toMatchObject({ detail: 'Run not found', error_code: 'run_not_found' });
    }
  });

  test('shows what the caller of the run received, with its events', async () => {
    const { body } = await service.run('a', { message: 'same', metadata: { m: 1 }, session_state: { s: 1 } });
    const { body: stored } = await service.get(`/agents/a/runs/${body.run_id}`);
    const { events, ...rest } = stored;
    const { tools: _, ...shown } = body;
    expect(rest).toEqual(shown);
    expect(events.map(({ event }: Body) => event)).toEqual([
      'RunStarted',
      'ModelRequestStarted',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
  });
});

describe('listing runs', () => {
  test('of a session: oldest first, all keys with nulls', async () => {
    const session_id = 'listed';
    for (const message of ['one', 'two', 'three'])
      await service.run('a', { message, session_id, user_id: 'ada' });
    const { body } = await service.get(`/agents/a/runs?session_id=${session_id}`);
    expect(body.map(({ run_input }: Body) => run_input)).toEqual(['one', 'two', 'three']);
    expect(body[0]).toMatchObject({
      parent_run_id: '',
      agent_id: 'a',
      user_id: 'ada',
      status: 'completed',
      content: 'Answer to: one',
      run_response_format: 'text',
      reasoning_content: '',
      reasoning_steps: [],
      tools: null,
      references: [],
      citations: null,
      reasoning_messages: [],
      images: [],
      videos: [],
      audio: [],
      files: [],
      response_audio: null,
      input_media: { images: [], videos: [], audios: [], files: [] },
      followups: null,
      forked_from_run_id: null,
      forked_from_message_index: null,
      forked_from_session_id: null,
      regenerated_from: null,
      last_checkpoint_at_message_index: null,
    });
    expect(body[0]).toHaveProperty('events');
    expect(body[0].messages).toHaveLength(2);
    expect(body[0].created_at).toMatch(/Z$/);
    expect((await service.get('/agents/a/runs?session_id=listed&limit=2')).body).toHaveLength(2);
    const second = await service.get('/agents/a/runs?session_id=listed&limit=2&page=2');
    expect(second.body.map(({ run_input }: Body) => run_input)).toEqual(['three']);
    expect((await service.get('/agents/other/runs?session_id=listed')).body).toEqual([]);
  });

  test('of a session that there is not', async () => {
    const { status, body } = await service.get('/agents/a/runs?session_id=none');
    expect(status).toBe(404);
    expect(body).toMatchObject({ detail: 'Session not found', error_code: 'session_not_found' });
  });

  test('of an agent: newest first, twenty at a time, in pages', async () => {
    const made: string[] = [];
    for (let index = 0; index < 23; index += 1) {
      made.push((await service.run('paged', { message: `run ${index}` })).body.run_id);
    }
    const ids = async (query: string) =>
      (await service.get(`/agents/paged/runs${query}`)).body.map(({ run_id }: Body) => run_id);
    const newest = made.toReversed();
    expect(await ids('')).toEqual(newest.slice(0, 20));
    expect(await ids('?page=2')).toEqual(newest.slice(20));
    expect(await ids('?limit=5&page=2')).toEqual(newest.slice(5, 10));
    expect(await ids('?limit=1000')).toEqual(newest);
    expect(await ids('?limit=5&page=99')).toEqual([]);
    expect(await ids('?limit=1000&page=9007199254740991')).toEqual([]);
  });

  test('refuses limits and pages out of bounds', async () => {
    for (const [query, type, field] of [
      ['limit=0', 'greater_than_equal', 'limit'],
      ['limit=-5', 'greater_than_equal', 'limit'],
      ['limit=1001', 'less_than_equal', 'limit'],
      ['limit=abc', 'int_parsing', 'limit'],
      ['page=0', 'greater_than_equal', 'page'],
      ['page=1.5', 'int_parsing', 'page'],
    ]) {
      const { status, body } = await service.get(`/agents/a/runs?${query}`);
      expect(status, query).toBe(422);
      expect(body.detail[0]).toMatchObject({ type, loc: ['query', field] });
    }
  });

  test('by status, in any case', async () => {
    await service.run('counted', { message: 'good' });
    await service.run('counted', { message: book.write('bad', { error: 'no' }) });
    const inputs = async (status: string) =>
      (await service.get(`/agents/counted/runs?status=${status}`)).body.map(
        ({ run_input }: Body) => run_input,
      );
    expect(await inputs('completed')).toEqual(['good']);
    expect(await inputs('COMPLETED')).toEqual(['good']);
    expect(await inputs('Error')).toEqual(['bad']);
    expect(await inputs('nonsense')).toEqual([]);
  });
});

describe('a run that fails', () => {
  const failure = new ModelError('The provider says no', {
    provider: 'Elsewhere',
    kind: 'refused',
    status: 429,
  });

  test('is answered 200 with the failure, and stored', async () => {
    const { status, body } = await service.run('a', { message: book.write('refused', { error: failure }) });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'error',
      content: expect.stringContaining('The provider says no'),
      error_type: 'model_provider_error',
    });
    const { body: stored } = await service.get(`/agents/a/runs/${body.run_id}`);
    expect(stored).toMatchObject({
      status: 'error',
      content: body.content,
      error_type: 'model_provider_error',
    });
    expect(stored.messages.map(({ role }: Body) => role)).toEqual(['user']);
    expect(stored.events.at(-1)).toMatchObject({ event: 'RunError', error_type: 'model_provider_error' });
  });

  test('reports the same in its stream', async () => {
    const message = book.write('refused, streamed', { chunks: ['partly '], error: failure });
    const stream = await (await service.stream('a', { message })).end();
    expect(stream.events.at(-1)).toMatchObject({
      event: 'RunError',
      content: expect.stringContaining('The provider says no'),
      error_type: 'model_provider_error',
    });
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body.status).toBe('error');
  });

  test('in the background is stored as failed', async () => {
    const { body } = await service.run('a', {
      message: book.write('refused later', { error: failure }),
      background: true,
    });
    expect(await ended(body.run_id)).toMatchObject({ status: 'error', error_type: 'model_provider_error' });
  });

  test('reveals no internals', async () => {
    const { text } = await service.run('a', { message: book.write('inside', { error: new Error('boom') }) });
    expect(text).not.toMatch(/\.ts:\d+|\.js:\d+|node_modules/);
  });
});

describe('the compatibility switch', () => {
  const agentos = { 'x-runyard-compat': 'agentos' };

  test('gives run bodies upper-case status and integer times, and changes nothing else', async () => {
    const { body } = await service.run(
      'a',
      { message: 'compat', session_id: 'compat' },
      { headers: agentos },
    );
    expect(body.status).toBe('COMPLETED');
    expect(Number.isInteger(body.created_at)).toBe(true);
    const path = `/agents/a/runs/${body.run_id}`;
    const { body: ours } = await service.get(path);
    const { body: theirs } = await service.get(path, agentos);
    const created_at = Math.floor(Date.parse(ours.created_at) / 1000);
    expect(theirs).toEqual({ ...ours, status: 'COMPLETED', created_at });
    expect((await service.get('/agents/a/runs?session_id=compat')).body[0].status).toBe('completed');
    const later = await service.run('a', { message: 'compat later', background: true }, { headers: agentos });
    expect(later.body.status).toBe('PENDING');
    await ended(later.body.run_id);
  });

  test('can be set for the whole service', async () => {
    const compatible = await TestService.start({
      agents: [agent({ id: 'a', model: book.model })],
      compatibility: 'agentos',
    });
    const { body } = await compatible.run('a', { message: 'x' });
    await compatible.stop();
    expect(body.status).toBe('COMPLETED');
    expect(Number.isInteger(body.created_at)).toBe(true);
  });
});
