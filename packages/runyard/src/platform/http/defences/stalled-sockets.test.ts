import { AsyncLocalStorage } from 'node:async_hooks';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { rawClient, startServer } from '../../../../test/support/clients/http-server.js';
import { authenticated, startEndless, startSockets } from '../../../../test/support/clients/socket-server.js';
import { until } from '../../../../test/support/until.js';
import { silentLog } from '../../../core/log.js';
import type { EventReader, StreamEvent } from '../response/event-reader.js';
import { eventStream } from '../response/results.js';
import { defineRoute } from '../route.js';
import { StalledSockets } from './stalled-sockets.js';

/** Has one more event of this size whenever it is asked, up to a number; then it ends, or waits forever. */
class PieceReader implements EventReader {
  sent = 0;
  closed = false;
  #wake = () => {};

  constructor(
    private readonly size: number,
    private readonly most: number,
    private readonly ends: boolean,
  ) {}

  async next(): Promise<readonly StreamEvent[] | null> {
    if (this.sent < this.most)
      return [{ index: this.sent++, name: 'Piece', data: JSON.stringify('x'.repeat(this.size)) }];
    if (!this.ends && !this.closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return null;
  }

  close(): void {
    this.closed = true;
    this.#wake();
  }
}

function streamOf(reader: EventReader) {
  return defineRoute({
    method: 'GET',
    path: '/events',
    operationId: 'events',
    public: true,
    tag: 'Test',
    summary: 'x',
    responses: { 200: { events: 'Events.' } },
    handler: () => eventStream(reader),
  });
}

const request = 'GET /events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';

test.each([
  ['continues', false],
  ['has ended', true],
])('a stream that %s is closed when its client takes nothing', async (_, ends) => {
  const reader = new PieceReader(1_000_000, 30, ends);
  // heartbeats all the while: they are no sign of life of the client
  const settings = { slowClientMs: 300, heartbeatMs: 100 };
  const { port, logged } = await startServer([streamOf(reader)], { settings });
  const client = rawClient(port);
  client.socket.pause();
  client.socket.write(request);
  await until('the connection is closed', () => logged.find(({ message }) => message === 'request'));
  expect(reader.closed).toBe(true);
  expect(logged.map(({ message }) => message).join()).toContain('slowClientMs');
});

test('a stream of many small events is closed too, and heartbeats do not keep it', async () => {
  const reader = new PieceReader(1_000, 30_000, false);
  const settings = { slowClientMs: 300, heartbeatMs: 100 };
  const { port, logged } = await startServer([streamOf(reader)], { settings });
  const client = rawClient(port);
  client.socket.pause();
  client.socket.write(request);
  await until('the connection is closed', () => logged.find(({ message }) => message === 'request'));
  expect(reader.closed).toBe(true);
});

test('a client that takes its stream slowly gets all of it', async () => {
  const reader = new PieceReader(100_000, 240, true);
  const { port } = await startServer([streamOf(reader)], { settings: { slowClientMs: 4_000 } });
  const client = rawClient(port);
  let size = 0;
  client.socket.on('data', (chunk: Buffer) => {
    size += chunk.length;
  });
  client.socket.write(request);
  // in all for longer than the span, but never for a whole one
  for (let taken = 2_000_000; taken <= 22_000_000; taken += 2_000_000) {
    await until('the client has taken more', () => size >= taken);
    client.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 400));
    client.socket.resume();
  }
  expect((await client.closed()).length).toBeGreaterThan(24_000_000);
});

test('a stream with nothing to send stays open, however long its client says nothing', async () => {
  const reader = new PieceReader(10, 1, false);
  const settings = { slowClientMs: 100, heartbeatMs: 100 };
  const { port } = await startServer([streamOf(reader)], { settings });
  const client = rawClient(port);
  client.socket.write(request);
  await client.until((text) => text.split(': heartbeat').length > 10);
  expect(reader.closed).toBe(false);
});

test('a WebSocket whose client takes nothing is closed', async () => {
  const { url, runs } = await startSockets({ http: { slowClientMs: 300 } });
  const client = await authenticated(url);
  client.socket.pause();
  client.send(startEndless);
  await until('the run has no reader left', () => runs.closed);
});

test('what one client causes is not logged in the context of another', async () => {
  const requests = new AsyncLocalStorage<string>();
  let request: string | undefined = 'none yet';
  const info = () => {
    request = requests.getStore();
  };
  const sockets = new StalledSockets(40, { ...silentLog, info });
  const open = new Duplex({ read: () => {} });
  requests.run('the first', () => sockets.watch(open));
  const stalled = new Duplex({ read: () => {}, write: () => {} });
  stalled.write('x');
  requests.run('the second', () => sockets.watch(stalled));
  await until('the one that stalls is closed', () => stalled.destroyed);
  expect(request).toBeUndefined();
  open.destroy();
});
