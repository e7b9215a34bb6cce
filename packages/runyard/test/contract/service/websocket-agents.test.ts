import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { silentLog } from '../../../src/core/log.js';
import { agent, agentFactory, Runyard, tool } from '../../../src/index.js';
import { refusalOf, WsClient } from '../../support/clients/ws-client.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const book = new ScriptBook();
const executed: string[] = [];

const send = tool({
  name: 'send',
  description: 'Sends a letter.',
  inputSchema: z.object({ to: z.string() }),
  requiresConfirmation: true,
  execute: ({ to }) => {
    executed.push(to);
    return `sent to ${to}`;
  },
});

const agents = [
  agent({ id: 'a', model: book.model }),
  agent({ id: 'b', model: book.model }),
  agent({ id: 'careful', model: book.model, tools: [send] }),
  agent({ id: 'gaps', model: book.model, instructions: 'Speak of {city}.' }),
  agentFactory({
    id: 'made',
    inputSchema: z.object({ tone: z.string() }),
    build: ({ input }) => agent({ name: input.tone, model: book.model, instructions: `Be ${input.tone}.` }),
  }),
];

let service: TestService;

beforeAll(async () => {
  service = await TestService.start({ agents, websocket: true });
});
afterAll(() => service.stop());

const connect = (query = '') => WsClient.connect(service.url, `/agents/ws${query}`);
const runOf = async (runId: string, agentId = 'a') =>
  (await service.get(`/agents/${agentId}/runs/${runId}`)).body;

/** Starts a run that waits after its first word. */
async function halfWay(client: WsClient, message: string, form: object = {}) {
  const rest = gate();
  book.write(message, { chunks: ['begun ', rest.opened, 'and ', 'finished'] });
  client.send({ action: 'start-agent', agent_id: 'a', message, run_id: message, ...form });
  await client.until(() => client.contentOf(message) === 'begun ');
  return { runId: message, finish: () => rest.open() };
}

async function started(client: WsClient, frame: object): Promise<string> {
  const before = client.frames.length;
  client.send({ action: 'start-agent', ...frame });
  const first = await client.until(() => client.frames[before]);
  expect(first.payload.event).toBe('RunStarted');
  return first.payload.run_id;
}

describe('a connection', () => {
  test('is greeted, and answers pings and tokens', async () => {
    const client = await connect();
    expect(client.frames[0]?.payload).toEqual({
      event: 'connected',
      message: 'Connected to Runyard.',
      requires_auth: false,
    });
    expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
    expect(await client.ask({ action: 'authenticate', token: 'any' })).toEqual({
      event: 'authenticated',
      message: 'Authentication successful. You can now send commands.',
    });
    expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
  });

  test.each([
    ['{"action":', /^Invalid JSON: /],
    ['[1]', /^A frame must be a JSON object/],
    ['null', /^A frame must be a JSON object/],
    ['{}', /^action is required$/],
    ['{"action":"zzz"}', /^Unknown action: zzz$/],
    ['{"action":"start-workflow","workflow_id":"w"}', /^Unknown action: start-workflow$/],
    [`${'['.repeat(100)}${']'.repeat(100)}`, /^Invalid JSON: nested deeper/],
  ])('survives the frame %s', async (text, expected) => {
    const client = await connect();
    expect(await client.ask(text)).toMatchObject({
      event: 'error',
      error: expect.stringMatching(expected),
      error_code: 'invalid_frame',
    });
    expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
  });

  test('survives a binary frame', async () => {
    const client = await connect();
    client.socket.send(Buffer.from('{"action":"ping"}'), { binary: true });
    expect(await client.event('error')).toMatchObject({ error_code: 'invalid_frame' });
    expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
  });

  test('is there only when the service is set so, and only at its path', async () => {
    expect((await refusalOf(service.url, '/ws')).status).toBe(404);
    const without = await startService({ agents });
    expect((await refusalOf(without.url, '/agents/ws')).status).toBe(404);
  });
});

describe('start-agent', () => {
  test('sends the events of the run as a stream over HTTP does', async () => {
    const client = await connect();
    const runId = await started(client, {
      agent_id: 'a',
      message: 'hello',
      session_id: 's1',
      user_id: 'ada',
    });
    await client.event('RunCompleted');
    const frames = client.frames.slice(1);
    expect(frames.every(({ streamed }) => streamed)).toBe(true);
    expect(client.indicesOf(runId)).toEqual(frames.map((_, index) => index));
    expect(client.contentOf(runId)).toBe('Answer to: hello');
    const stream = await (await service.stream('a', { message: 'hello' })).end();
    expect(client.names.slice(1)).toEqual(stream.names);
    expect(await runOf(runId)).toMatchObject({ status: 'completed', session_id: 's1', user_id: 'ada' });
  });

  test('has one framing for clients that request it', async () => {
    const client = await connect('?format=json');
    await started(client, { agent_id: 'a', message: 'plain' });
    await client.event('RunCompleted');
    expect(client.frames.some(({ streamed }) => streamed)).toBe(false);
  });

  test('takes the runtime fields as JSON values or as the texts of the form', async () => {
    const client = await connect();
    for (const form of [
      { dependencies: { city: 'Paris' }, session_state: { n: 1 }, metadata: { team: 'x' } },
      { dependencies: '{"city":"Paris"}', session_state: '{"n":1}', metadata: '{"team":"x"}', version: null },
    ]) {
      const message = `values ${typeof form.dependencies}`;
      const runId = await started(client, { agent_id: 'gaps', message, ...form });
      await client.event('RunCompleted', ({ run_id }) => run_id === runId);
      expect(await runOf(runId, 'gaps')).toMatchObject({ metadata: { team: 'x' }, session_state: { n: 1 } });
      expect(book.requests(message)[0]?.messages[0]?.content).toContain('Speak of Paris.');
    }
  });

  test('takes an empty text for nothing, as a form does', async () => {
    const client = await connect('?format=json');
    client.send({ action: 'start-agent', agent_id: 'a', message: '' });
    expect(await client.event('error')).toMatchObject({ error: 'message is required' });
    client.send({
      action: 'start-agent',
      agent_id: 'a',
      message: 'x',
      session_id: '',
      run_id: '',
      user_id: '',
    });
    const started = await client.event('RunStarted');
    for (const id of [started.run_id, started.session_id]) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await runOf(started.run_id as string)).user_id).toBeNull();
  });

  test('gives a factory its input, and an answer its shape', async () => {
    const client = await connect();
    book.write('shaped', '{"sum":3}');
    const schema = {
      title: 'Sum',
      type: 'object',
      properties: { sum: { type: 'integer' } },
      required: ['sum'],
    };
    const runId = await started(client, {
      agent_id: 'made',
      message: 'shaped',
      factory_input: { tone: 'kind' },
      output_schema: schema,
    });
    await client.event('RunCompleted');
    expect((await runOf(runId, 'made')).content).toEqual({ sum: 3 });
    expect(book.requests('shaped')[0]?.messages[0]?.content).toContain('Be kind.');
  });

  test('leaves the single steps out for clients that want only the content', async () => {
    const client = await connect();
    client.send({
      action: 'start-agent',
      agent_id: 'a',
      message: 'quiet',
      run_id: 'quiet',
      stream_events: false,
    });
    await client.until(() => client.contentOf('quiet') === 'Answer to: quiet');
    expect(new Set(client.names.slice(1))).toEqual(new Set(['RunContent']));
  });

  test('attaches to the run that was started under the same key', async () => {
    const frame = { agent_id: 'a', message: 'once', idempotency_key: 'key-1' };
    const first = await connect();
    const runId = await started(first, frame);
    await first.event('RunCompleted');
    const second = await connect();
    expect(await started(second, frame)).toBe(runId);
    await second.event('RunCompleted');
    expect(second.events).toEqual(first.events);
    expect(book.requests('once')).toHaveLength(1);
  });

  test('attached to on the connection that follows it, a run is not sent twice', async () => {
    const client = await connect();
    const form = { idempotency_key: 'key-2' };
    const { runId, finish } = await halfWay(client, 'once more', form);
    client.send({ action: 'start-agent', agent_id: 'a', message: runId, run_id: runId, ...form });
    await client.ask({ action: 'ping' });
    finish();
    await client.event('RunCompleted');
    expect(client.names).not.toContain('error');
    expect(client.indicesOf(runId)).toEqual(client.indicesOf(runId).map((_, at) => at));
  });

  test.each([
    [{ message: 'x' }, 'agent_id is required', 'invalid_request'],
    [{ agent_id: '', message: 'x' }, 'agent_id is required', 'invalid_request'],
    [{ agent_id: 7, message: 'x' }, 'agent_id: Input should be a valid string', 'invalid_request'],
    [{ agent_id: 'a' }, 'message is required', 'invalid_request'],
    [
      { agent_id: 'a', message: 'x', session_state: [1] },
      'session_state: Input should be a valid dictionary',
      'invalid_request',
    ],
    [
      { agent_id: 'a', message: 'x', user_id: 'sa:robot' },
      expect.stringContaining('reserved'),
      'reserved_user',
    ],
  ])('refuses %j', async (frame, error, code) => {
    const client = await connect();
    expect(await client.ask({ action: 'start-agent', ...frame })).toEqual({
      event: 'error',
      error,
      error_code: code,
      action: 'start-agent',
    });
  });

  test('refuses an agent that does not exist, and names those that do', async () => {
    const client = await connect();
    expect(await client.ask({ action: 'start-agent', agent_id: 'nope', message: 'x' })).toEqual({
      event: 'error',
      error: 'Agent nope not found',
      error_code: 'agent_not_found',
      hint: expect.stringMatching(/^Agents here: a, b, /),
      action: 'start-agent',
    });
  });

  test('several runs at once share a connection', async () => {
    const client = await connect();
    const runs = Array.from({ length: 20 }, (_, at) => `crowd ${at}`);
    for (const id of runs) client.send({ action: 'start-agent', agent_id: 'a', message: id, run_id: id });
    await client.until(() => client.names.filter((name) => name === 'RunCompleted').length === runs.length);
    expect(runs.map((id) => client.contentOf(id))).toEqual(runs.map((id) => `Answer to: ${id}`));
    for (const id of runs) expect(client.indicesOf(id)).toEqual(client.indicesOf(id).map((_, at) => at));
  });

  test('a connection follows a hundred runs and no more', async () => {
    const client = await connect();
    const rest = gate();
    for (let at = 0; at < 100; at++) {
      const id = `many ${at}`;
      book.write(id, { text: 'done', waitFor: rest.opened });
      client.send({ action: 'start-agent', agent_id: 'a', message: id, run_id: id });
    }
    const more = { action: 'start-agent', agent_id: 'a', message: 'more' };
    client.send(more);
    expect(await client.event('error')).toMatchObject({ error_code: 'too_many_followed_runs' });
    rest.open();
    await client.until(() => client.names.filter((name) => name === 'RunCompleted').length === 100);
    expect(await client.ask(more)).toMatchObject({ event: 'RunStarted' });
  });
});

describe('a client that goes away', () => {
  test('does not end its run, even when it requests that as for a stream', async () => {
    const client = await connect();
    const { runId, finish } = await halfWay(client, 'left alone', { on_disconnect: 'cancel' });
    client.socket.terminate();
    await until('the departure was noticed', () =>
      service.logged.some(({ message, fields }) => message === 'websocket closed' && fields.code === 1006),
    );
    finish();
    await until('the run is completed', async () => (await runOf(runId)).status === 'completed');
    expect((await runOf(runId)).content).toBe('begun and finished');
  });
});

describe('reconnect', () => {
  test('brings two readers of a live run the same events, each without a gap or a repeat', async () => {
    const starting = await connect();
    const { runId, finish } = await halfWay(starting, 'two readers');
    const seen = starting.indicesOf(runId).length;
    const all = await connect();
    all.send({ action: 'reconnect', run_id: runId, agent_id: 'a' });
    await all.event('subscribed');
    const late = await connect();
    late.send({ action: 'reconnect', run_id: runId, last_event_index: 1 });
    await late.event('subscribed');
    finish();
    for (const client of [starting, all, late]) await client.event('RunCompleted');
    expect(all.events).toEqual(starting.events);
    expect(late.events).toEqual(starting.events.slice(2));
    expect(all.names.slice(1)).toEqual([
      'catch_up',
      ...starting.names.slice(1, 1 + seen),
      'subscribed',
      ...starting.names.slice(1 + seen),
    ]);
    expect(await all.event('catch_up')).toMatchObject({ missed_events: seen, status: 'running' });
    expect(await late.event('catch_up')).toMatchObject({ missed_events: seen - 2 });
    expect(all.frames.some(({ streamed }) => streamed)).toBe(false);
  });

  test('reports no catching up to a client that missed nothing', async () => {
    const starting = await connect();
    const { runId, finish } = await halfWay(starting, 'nothing missed');
    const client = await connect();
    client.send({ action: 'reconnect', run_id: runId, last_event_index: starting.indicesOf(runId).at(-1) });
    await client.event('subscribed');
    finish();
    await client.event('RunCompleted');
    expect(client.names).not.toContain('catch_up');
    expect(client.contentOf(runId)).toBe('and finished');
  });

  test('on the connection that follows the run already doubles nothing', async () => {
    const client = await connect();
    const { runId, finish } = await halfWay(client, 'same connection');
    client.send({ action: 'reconnect', run_id: runId, last_event_index: 0 });
    await client.event('subscribed');
    client.send({ action: 'reconnect', run_id: runId });
    await client.until(() => client.names.filter((name) => name === 'subscribed').length === 2);
    finish();
    await client.event('RunCompleted');
    expect(client.indicesOf(runId)).toEqual(client.indicesOf(runId).map((_, at) => at));
    expect(client.contentOf(runId)).toBe('begun and finished');
  });

  test('replays a finished run after the last event that the client has', async () => {
    const starting = await connect();
    const runId = await started(starting, { agent_id: 'a', message: 'over' });
    await starting.event('RunCompleted');
    const all = starting.events;
    const client = await connect();
    client.send({ action: 'reconnect', run_id: runId, last_event_index: 2 });
    await client.event('RunCompleted');
    expect(client.names[1]).toBe('replay');
    expect(await client.event('replay')).toMatchObject({ status: 'completed', total_events: all.length - 3 });
    expect(client.events).toEqual(all.slice(3));
    const again = await client.ask({ action: 'reconnect', run_id: runId, last_event_index: 9_999 });
    expect(again).toMatchObject({ event: 'replay', total_events: 0 });
  });

  test('finds only what exists', async () => {
    const client = await connect();
    const runId = await started(client, { agent_id: 'a', message: 'mine', session_id: 'mine' });
    await client.event('RunCompleted');
    const missing = (id: string) => ({
      event: 'error',
      error: `Run ${id} not found in buffer or database`,
      error_code: 'run_not_found',
    });
    expect(await client.ask({ action: 'reconnect', run_id: 'nope' })).toMatchObject(missing('nope'));
    expect(await client.ask({ action: 'reconnect', run_id: runId, agent_id: 'b' })).toMatchObject(
      missing(runId),
    );
    expect(await client.ask({ action: 'reconnect', run_id: runId, session_id: 'x' })).toMatchObject(
      missing(runId),
    );
    expect(await client.ask({ action: 'reconnect' })).toMatchObject({ error: 'run_id is required' });
    expect(await client.ask({ action: 'reconnect', run_id: runId, agent_id: 'nope' })).toMatchObject({
      error: 'Agent nope not found',
    });
    expect(await client.ask({ action: 'reconnect', run_id: runId, last_event_index: 'x' })).toMatchObject({
      error: expect.stringMatching(/^last_event_index: /),
    });
  });
});

describe('a slow reader', () => {
  test('holds up neither the run nor others, and gets everything in the end', async () => {
    const pieces = Array.from({ length: 300 }, (_, at) => `${at} ${'x'.repeat(20_000)}`);
    book.write('much', { chunks: pieces });
    const slow = await connect();
    slow.send({ action: 'start-agent', agent_id: 'a', message: 'much', run_id: 'much' });
    await slow.event('RunStarted');
    slow.socket.pause();
    const quick = await connect();
    quick.send({ action: 'reconnect', run_id: 'much' });
    await quick.event('RunCompleted');
    expect(quick.contentOf('much')).toBe(pieces.join(''));
    expect(slow.names).not.toContain('RunCompleted');
    slow.socket.resume();
    await slow.event('RunCompleted');
    expect(slow.events).toEqual(quick.events);
  });
});

describe('a run that waits for a person', () => {
  const paused = async (client: WsClient, message: string) => {
    book.write(message, { toolCalls: [{ name: 'send', arguments: { to: message } }] }, 'All done.');
    const runId = await started(client, { agent_id: 'careful', message });
    const { tools } = await client.event('RunPaused', ({ run_id }) => run_id === runId);
    return { runId, tools: tools as Record<string, unknown>[] };
  };

  test('resumes with the answers, and is followed further', async () => {
    const client = await connect();
    const { runId, tools } = await paused(client, 'Ada');
    const answered = tools.map((call) => ({ ...call, confirmed: true }));
    client.send({ action: 'continue-agent', agent_id: 'careful', run_id: runId, tools: answered });
    await client.event('RunCompleted');
    expect(executed).toContain('Ada');
    expect(client.names).toContain('RunContinued');
    expect(client.contentOf(runId)).toBe('All done.');
    const indices = client.indicesOf(runId);
    expect(indices).toEqual([...new Set(indices)].sort((one, other) => one - other));
    expect(client.frames.slice(1).every(({ streamed }) => streamed)).toBe(true);
    expect(await runOf(runId, 'careful')).toMatchObject({ status: 'completed', content: 'All done.' });
  });

  test('reports its true status to a client that comes back', async () => {
    const client = await connect();
    const { runId } = await paused(client, 'Grace');
    const other = await connect();
    expect(await other.ask({ action: 'reconnect', run_id: runId })).toMatchObject({
      event: 'replay',
      status: 'paused',
    });
    await other.event('RunPaused');
    expect(other.events).toEqual(client.events);
    expect(executed).not.toContain('Grace');
  });

  test('does not resume when it is not waiting', async () => {
    const client = await connect();
    const runId = await started(client, { agent_id: 'a', message: 'finished' });
    await client.event('RunCompleted');
    const frame = { action: 'continue-agent', agent_id: 'a', run_id: runId };
    expect(await client.ask(frame)).toEqual({
      event: 'error',
      error: 'Run is not paused (status=completed)',
      error_code: 'run_not_paused',
      action: 'continue-agent',
      run_id: runId,
    });
    expect(await client.ask({ ...frame, run_id: 'nope' })).toMatchObject({ error: 'Run nope not found' });
    expect(await client.ask({ ...frame, run_id: null })).toMatchObject({ error: 'run_id is required' });
    expect(await client.ask({ ...frame, agent_id: null })).toMatchObject({ error: 'agent_id is required' });
    expect(await client.ask({ ...frame, session_id: 'x' })).toMatchObject({
      error: `Run ${runId} not found`,
    });
  });

  test('a finished conversation continues in a new run when there is something to say', async () => {
    const client = await connect();
    const runId = await started(client, { agent_id: 'a', message: 'first' });
    await client.event('RunCompleted');
    client.send({ action: 'continue-agent', agent_id: 'a', run_id: runId, input: 'second' });
    const { run_id } = await client.event('RunCompleted', (payload) => payload.run_id !== runId);
    expect(client.contentOf(run_id)).toBe('Answer to: second');
  });
});

describe('cancel-agent', () => {
  test('ends a run for all who follow it', async () => {
    const starting = await connect();
    const { runId } = await halfWay(starting, 'not wanted');
    const client = await connect();
    expect(await client.ask({ action: 'cancel-agent', agent_id: 'a', run_id: runId })).toEqual({
      event: 'cancel_requested',
      run_id: runId,
    });
    await starting.event('RunCompleted');
    expect(starting.names.slice(-2)).toEqual(['RunCancelled', 'RunCompleted']);
    expect(await runOf(runId)).toMatchObject({ status: 'cancelled', content: 'begun ' });
  });

  test('requires a known agent and a run id', async () => {
    const client = await connect();
    expect(await client.ask({ action: 'cancel-agent', agent_id: 'a' })).toMatchObject({
      error: 'run_id is required',
    });
    expect(await client.ask({ action: 'cancel-agent', agent_id: 'nope', run_id: 'x' })).toMatchObject({
      error: 'Agent nope not found',
    });
  });
});

test('a service that stops says so, and its runs are followed further when it is back', async () => {
  const dataDir = temporaryFolder();
  const stopping = await TestService.start({ agents, websocket: true, dataDir });
  const client = await WsClient.connect(stopping.url, '/agents/ws');
  const idle = await WsClient.connect(stopping.url, '/agents/ws');
  const { runId } = await halfWay(client, 'stopping');
  await stopping.stop();
  expect(await client.closed).toEqual({ code: 1001, reason: 'The service is stopping' });
  expect(await idle.closed).toMatchObject({ code: 1001 });
  const back = await startService({ agents, websocket: true, dataDir });
  const again = await WsClient.connect(back.url, '/agents/ws');
  const last = client.indicesOf(runId).at(-1)!;
  again.send({ action: 'reconnect', run_id: runId, agent_id: 'a', last_event_index: last });
  await again.event('RunCompleted');
  expect(Math.min(...again.indicesOf(runId))).toBeGreaterThan(last);
  expect(again.contentOf(runId)).toBe('Answer to: stopping');
});

test('a service inside another server answers there too', async () => {
  const app = new Runyard({ agents, websocket: true, dataDir: temporaryFolder(), log: silentLog });
  const handler = app.handler({ basePath: '/ai' });
  const server = createServer(handler).on('upgrade', handler.upgrade);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  // before everything is open: the client waits
  const client = await WsClient.connect(`http://127.0.0.1:${port}`, '/ai/agents/ws');
  const runId = await started(client, { agent_id: 'a', message: 'mounted' });
  await client.event('RunCompleted');
  expect(client.contentOf(runId)).toBe('Answer to: mounted');
  await app.close({ graceMs: 0 });
  expect(await client.closed).toMatchObject({ code: 1001 });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-websocket-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
