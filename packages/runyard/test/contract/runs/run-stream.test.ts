import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const book = new ScriptBook();
let service: TestService;

beforeAll(async () => {
  service = await TestService.start({ agents: [agent({ id: 'a', model: book.model })], heartbeatMs: 100 });
});
afterAll(() => service.stop());

const statusOf = async (runId: string) => (await service.get(`/agents/a/runs/${runId}`)).body.status;

describe('the stream', () => {
  test('has the headers that keep it flowing', async () => {
    const { response } = await (await service.stream('a', { message: 'headers' })).end();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toContain('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('x-request-id')).toBeTruthy();
    expect(response.headers.get('content-length')).toBeNull();
  });

  test('is the default', async () => {
    expect((await (await service.stream('a', { message: 'default' })).end()).names).toContain('RunCompleted');
  });

  test('numbers its events from 0 without gaps, in the payload and on an id line', async () => {
    const { frames } = await (await service.stream('a', { message: 'numbers' })).end();
    expect(frames.map(({ id }) => Number(id))).toEqual(frames.map((_, index) => index));
    for (const { id, event, payload } of frames) {
      expect(payload.event_index).toBe(Number(id));
      expect(payload.event).toBe(event);
    }
  });

  test('sends available content without waiting for more', async () => {
    const more = gate();
    const message = book.write('in pieces', { chunks: ['first ', more.opened, 'second'] });
    const stream = await service.stream('a', { message });
    await stream.until(() => stream.content === 'first ');
    more.open();
    await stream.end();
    expect(stream.content).toBe('first second');
  });

  test('begins before there is any content, and sends heartbeats in the silence', async () => {
    const answer = gate();
    const message = book.write('silence', { text: 'at last', waitFor: answer.opened });
    const stream = await service.stream('a', { message });
    await stream.until(() => stream.comments.length >= 2);
    expect(new Set(stream.comments)).toEqual(new Set([': heartbeat']));
    answer.open();
    await stream.end();
    expect(stream.names.at(-1)).toBe('RunCompleted');
  });

  test('shows its last event only when the run is stored', async () => {
    const stream = await service.stream('a', { message: 'durable' });
    const { run_id } = await stream.event('RunCompleted');
    expect(await statusOf(run_id)).toBe('completed');
  });

  test('ends with the failure of a run that fails, and nothing after it', async () => {
    const message = book.write('failing', { chunks: ['half an '], error: 'the provider is down' });
    const stream = await (await service.stream('a', { message })).end();
    expect(stream.names.at(-1)).toBe('RunError');
    expect(stream.names).not.toContain('RunCompleted');
    expect(stream.events.at(-1)).toMatchObject({ content: expect.stringContaining('the provider is down') });
    expect(stream.content).toBe('half an ');
  });
});

describe('a client that goes away', () => {
  test('does not end the run', async () => {
    const rest = gate();
    const message = book.write('left alone', { chunks: ['begun ', rest.opened, 'and finished'] });
    const leaving = new AbortController();
    const stream = await service.stream('a', { message }, { signal: leaving.signal });
    const { run_id } = await stream.event('RunStarted');
    await stream.until(() => stream.content === 'begun ');
    leaving.abort();
    await stream.over;
    await logsDeparture();
    rest.open();
    await until('the run is completed', async () => (await statusOf(run_id)) === 'completed');
    expect((await service.get(`/agents/a/runs/${run_id}`)).body.content).toBe('begun and finished');
  });

  test('ends the run when it said so', async () => {
    const never = gate();
    const message = book.write('not alone', { chunks: ['begun ', never.opened] });
    const leaving = new AbortController();
    const stream = await service.stream(
      'a',
      { message, on_disconnect: 'cancel' },
      { signal: leaving.signal },
    );
    const { run_id } = await stream.event('RunStarted');
    await stream.until(() => stream.content === 'begun ');
    leaving.abort();
    await until('the run is cancelled', async () => (await statusOf(run_id)) === 'cancelled');
    const { body } = await service.get(`/agents/a/runs/${run_id}`);
    expect(body.content).toBe('begun ');
    expect(body.events.map(({ event }: { event: string }) => event).slice(-2)).toEqual([
      'RunCancelled',
      'RunCompleted',
    ]);
  });

  test('ends the run when the service is set so, and not when the form says otherwise', async () => {
    const cancelling = await TestService.start({
      agents: [agent({ id: 'a', model: book.model })],
      onDisconnect: 'cancel',
    });
    try {
      const ends: Record<string, string> = {};
      for (const form of [{}, { on_disconnect: 'continue' }]) {
        const rest = gate();
        const name = `set so ${JSON.stringify(form)}`;
        book.write(name, { chunks: ['begun ', rest.opened, 'done'] });
        const leaving = new AbortController();
        const stream = await cancelling.stream('a', { message: name, ...form }, { signal: leaving.signal });
        const { run_id } = await stream.event('RunStarted');
        await stream.until(() => stream.content === 'begun ');
        leaving.abort();
        await until('the departure was noticed', () =>
          cancelling.logged.some(({ fields }) => fields.client_gone),
        );
        if ('on_disconnect' in form) rest.open();
        ends[name] = await until('the run ended', async () => {
          const { body } = await cancelling.get(`/agents/a/runs/${run_id}`);
          return body.status !== 'running' && body.status;
        });
      }
      expect(Object.values(ends)).toEqual(['cancelled', 'completed']);
    } finally {
      await cancelling.stop();
    }
  });

  test('does not end a run without streaming either', async () => {
    const rest = gate();
    const message = book.write('hung up', { text: 'done', waitFor: rest.opened });
    const leaving = new AbortController();
    const answer = service.run('a', { message, run_id: 'hung-up' }, { signal: leaving.signal });
    await until('the run is there', async () => (await service.get('/agents/a/runs/hung-up')).status === 200);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    rest.open();
    await until('the run is completed', async () => (await statusOf('hung-up')) === 'completed');
  });
});

test('many streams at once each get their own run', async () => {
  const streams = await Promise.all(
    Array.from({ length: 20 }, (_, index) => service.stream('a', { message: `crowd ${index}` })),
  );
  const ended = await Promise.all(streams.map((stream) => stream.end()));
  expect(ended.map(({ content }) => content)).toEqual(streams.map((_, index) => `Answer to: crowd ${index}`));
});

async function logsDeparture(): Promise<void> {
  await until('the departure was noticed', () => service.logged.some(({ fields }) => fields.client_gone));
}
