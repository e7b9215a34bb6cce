import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test, vi } from 'vitest';
import { rawClient, startServer } from '../../../../test/support/clients/http-server.js';
import { intervalContexts } from '../../../../test/support/interval-contexts.js';
import type { Receiver } from '../../../core/async/receiver.js';
import { defineRoute } from '../route.js';
import type { EventReader, StreamEvent } from './event-reader.js';
import { eventStream } from './results.js';

function streamRoute(source: () => EventReader) {
  return defineRoute({
    method: 'GET',
    path: '/events',
    operationId: 'events',
    public: true,
    tag: 'Test',
    summary: 'x',
    responses: { 200: { events: 'Events.' } },
    handler: () => eventStream(source()),
  });
}

/** A cursor over a list that grows, as a run's log does. */
class GrowingReader implements EventReader {
  readonly events: StreamEvent[] = [];
  asked = 0;
  closed = 0;
  #cursor = 0;
  #over = false;
  #wake = () => {};

  push(...data: string[]): void {
    for (const text of data) this.events.push({ index: this.events.length, name: 'RunContent', data: text });
    this.#wake();
  }

  finish(): void {
    this.#over = true;
    this.#wake();
  }

  close(): void {
    this.closed++;
    this.finish();
  }

  async next(): Promise<readonly StreamEvent[] | null> {
    this.asked++;
    while (this.#cursor === this.events.length) {
      if (this.#over) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const batch = this.events.slice(this.#cursor, this.#cursor + 500);
    this.#cursor += batch.length;
    return batch;
  }
}

const request = 'GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n';

test('events arrive as frames with their index, and the end is the end of the body', async () => {
  const reader = new GrowingReader();
  const { url, logged } = await startServer([streamRoute(() => reader)]);
  const response = await fetch(`${url}/events`);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': expect.any(String),
  });
  reader.push('{"a":"ü"}', '{"b":2}');
  reader.finish();
  expect(await response.text()).toBe(
    'id: 0\nevent: RunContent\ndata: {"a":"ü"}\n\nid: 1\nevent: RunContent\ndata: {"b":2}\n\n',
  );
  expect(reader.closed).toBe(1);
  await vi.waitFor(() => expect(logged[0]?.fields).toMatchObject({ path: '/events', status: 200 }));
});

test('headers arrive before the first event', async () => {
  const reader = new GrowingReader();
  const { url } = await startServer([streamRoute(() => reader)]);
  const response = await fetch(`${url}/events`);
  expect(response.status).toBe(200);
  reader.finish();
  expect(await response.text()).toBe('');
});

test('an event without an index has no id line', async () => {
  const event: StreamEvent = { index: null, name: 'catch_up', data: '{}' };
  const batches = [[event], null];
  const { url } = await startServer([
    streamRoute(() => ({ next: async () => batches.shift() ?? null, close() {} })),
  ]);
  expect(await (await fetch(`${url}/events`)).text()).toBe('event: catch_up\ndata: {}\n\n');
});

test('an event that says when to come back has no name', async () => {
  const event: StreamEvent = { index: 3, name: 'end', data: '', retryMs: 500 };
  const batches = [[event], null];
  const { url } = await startServer([
    streamRoute(() => ({ next: async () => batches.shift() ?? null, close() {} })),
  ]);
  expect(await (await fetch(`${url}/events`)).text()).toBe('id: 3\nretry: 500\ndata: \n\n');
});

test('events of one turn of the loop share a write', async () => {
  const reader = new GrowingReader();
  const { port } = await startServer([streamRoute(() => reader)]);
  const client = rawClient(port);
  client.socket.write(request);
  await client.until((text) => text.includes('\r\n\r\n'));
  for (let n = 0; n < 100; n++) {
    reader.push(`${n}`);
    await Promise.resolve();
  }
  reader.finish();
  const text = await client.until((received) => received.endsWith('0\r\n\r\n'));
  expect(text.match(/event: /g)).toHaveLength(100);
  // each write is one chunk of the body
  expect(text.match(/^[0-9a-f]+\r$/gm)?.length).toBeLessThan(5);
});

test('a reader that stops reading is not written to, and its source is not asked for more', async () => {
  const reader = new GrowingReader();
  const { port } = await startServer([streamRoute(() => reader)]);
  const client = rawClient(port);
  client.socket.write(request.replace('host: localhost', 'host: localhost\r\nconnection: close'));
  await client.until((text) => text.includes('\r\n\r\n'));
  client.socket.pause();
  const data = JSON.stringify({ content: 'x'.repeat(2000) });
  for (let n = 0; n < 10_000; n++) reader.push(data);
  // the system's own buffers take some; then the source rests
  let asked = -1;
  await vi.waitFor(
    () => {
      const before = asked;
      asked = reader.asked;
      expect(asked).toBe(before);
    },
    { interval: 100 },
  );
  expect(asked).toBeLessThan(15);
  client.socket.resume();
  reader.finish();
  const text = await client.closed();
  expect(text.endsWith('0\r\n\r\n')).toBe(true);
  expect(text.match(/^id: \d+$/gm)).toHaveLength(10_000);
});

test('a client that vanishes closes the source, whatever state the stream is in', async () => {
  const idle = new GrowingReader();
  const blocked = new GrowingReader();
  const readers = [idle, blocked];
  const { port } = await startServer([streamRoute(() => readers.shift() as GrowingReader)]);
  const clients = [rawClient(port), rawClient(port)];
  for (const client of clients) {
    client.socket.write(request);
    await client.until((text) => text.includes('\r\n\r\n'));
  }
  clients[1]?.socket.pause();
  for (let n = 0; n < 5_000; n++) blocked.push('x'.repeat(2000));
  await vi.waitFor(() => expect(blocked.asked).toBeGreaterThan(1));
  for (const client of clients) client.socket.resetAndDestroy();
  await vi.waitFor(() => expect([idle.closed, blocked.closed]).toEqual([1, 1]));
});

test('silence is filled with heartbeats', async () => {
  const reader = new GrowingReader();
  const { port } = await startServer([streamRoute(() => reader)], { settings: { heartbeatMs: 30 } });
  const client = rawClient(port);
  client.socket.write(request);
  await client.until((text) => (text.match(/^: heartbeat$/gm) ?? []).length >= 3);
  reader.push('1');
  await client.until((text) => /data: 1\n\n[\s\S]*: heartbeat/.test(text));
});

test('a source that fails breaks the stream off and is logged', async () => {
  const close = vi.fn();
  const source: EventReader = {
    next: async () => {
      throw new Error('disk on fire');
    },
    close,
  };
  const { url, logged } = await startServer([streamRoute(() => source)]);
  const response = fetch(`${url}/events`).then((answer) => answer.text());
  await expect(response).rejects.toThrow();
  expect(
    logged.some(({ level, fields }) => level === 'error' && String(fields.err).includes('disk on fire')),
  ).toBe(true);
  expect(close).toHaveBeenCalledOnce();
});

test('a stopping server ends its streams cleanly', async () => {
  const reader = new GrowingReader();
  const { server, url } = await startServer([streamRoute(() => reader)]);
  const response = await fetch(`${url}/events`);
  reader.push('1');
  const text = response.text();
  await server.close({ graceMs: 20 });
  expect(await text).toContain('data: 1');
  expect(reader.closed).toBe(1);
});

test('a source that throws at once, first or later, breaks the stream off and is logged', async () => {
  for (const before of [[], [[{ index: 0, name: 'RunContent', data: '{}' }]]]) {
    const batches: StreamEvent[][] = [...before];
    const next = () => {
      const batch = batches.shift();
      if (batch === undefined) throw new Error('broken');
      return Promise.resolve(batch);
    };
    const { url, logged } = await startServer([streamRoute(() => ({ next, close() {} }))]);
    const text = async () => (await fetch(`${url}/events`)).text();
    await expect(text()).rejects.toThrow();
    await vi.waitFor(() => expect(logged.map(({ message }) => message)).toContain('event stream failed'));
  }
});

test('the timer of all streams belongs to the request of none', async () => {
  const requests = new AsyncLocalStorage<string>();
  const seen = intervalContexts(requests);
  const reader = new GrowingReader();
  const source = () => {
    requests.enterWith('the first');
    return reader;
  };
  const { url } = await startServer([streamRoute(source)]);
  const text = fetch(`${url}/events`).then((response) => response.text());
  await vi.waitFor(() => expect(reader.asked).toBe(1));
  reader.finish();
  await text;
  expect(seen).toContain(undefined);
  expect(seen).not.toContain('the first');
});

test('what another request causes is written in the context of the stream', async () => {
  const requests = new AsyncLocalStorage<string>();
  const receivers: Receiver<readonly StreamEvent[] | null>[] = [];
  const source = () => {
    requests.enterWith('of the stream');
    return {
      next: () => Promise.reject(),
      nextFor: (one: Receiver<readonly StreamEvent[] | null>) => void receivers.push(one),
      close() {},
    };
  };
  const { url } = await startServer([streamRoute(source)]);
  const text = fetch(`${url}/events`).then((response) => response.text());
  await vi.waitFor(() => expect(receivers).toHaveLength(1));
  const seen = new Set<string | undefined>();
  const event = {
    index: 0,
    name: 'RunContent',
    get data() {
      seen.add(requests.getStore());
      return '{}';
    },
  };
  requests.run('of another', () => receivers[0]!.received([event]));
  await vi.waitFor(() => expect(receivers).toHaveLength(2));
  receivers[1]!.received(null);
  expect(await text).toContain('RunContent');
  expect([...seen]).toEqual(['of the stream']);
});
