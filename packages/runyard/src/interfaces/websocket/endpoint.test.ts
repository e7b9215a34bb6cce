import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  authenticated,
  pieceSize,
  startEndless,
  startSockets,
} from '../../../test/support/clients/socket-server.js';
import { refusalOf, WsClient } from '../../../test/support/clients/ws-client.js';
import { intervalContexts } from '../../../test/support/interval-contexts.js';
import { until } from '../../../test/support/until.js';

describe('who may connect', () => {
  test.each(['https://evil.example.com', 'null', 'http://127.0.0.1:1'])(
    'not a page of the origin %s',
    async (origin) => {
      const { url } = await startSockets();
      const { status, body } = await refusalOf(url, '/agents/ws', { origin });
      expect(status).toBe(403);
      expect(JSON.parse(body)).toMatchObject({ error_code: 'origin_not_allowed' });
    },
  );

  test('not a page of another site without an origin, nor a request to another host name', async () => {
    const { url } = await startSockets();
    const codeOf = async (headers: Record<string, string>) =>
      (JSON.parse((await refusalOf(url, '/agents/ws', { headers })).body) as { error_code: string })
        .error_code;
    expect(await codeOf({ 'sec-fetch-site': 'cross-site' })).toBe('origin_not_allowed');
    expect(await codeOf({ host: 'evil.example' })).toBe('host_not_allowed');
  });

  test('a page of this host, and one of an origin that may call', async () => {
    const { url } = await startSockets();
    for (const origin of [url, 'https://app.example.com']) {
      const client = await WsClient.connect(url, '/agents/ws', { origin });
      expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
    }
  });
});

describe('signs of life', () => {
  test('a client that answers them stays, one that does not is cut off', async () => {
    const { url } = await startSockets({ settings: { heartbeatMs: 100 } });
    const alive = await WsClient.connect(url, '/agents/ws');
    const dead = await WsClient.connect(url, '/agents/ws', { autoPong: false });
    expect(await dead.closed).toMatchObject({ code: 1006 });
    const { pings } = alive;
    await alive.until(() => alive.pings > pings + 3);
    expect(await alive.ask({ action: 'ping' })).toEqual({ event: 'pong' });
  });

  test('pings of the client are answered', async () => {
    const { url } = await startSockets();
    const client = await WsClient.connect(url, '/agents/ws');
    const answered = new Promise<string>((resolve) => {
      client.socket.once('pong', (data) => resolve(data.toString()));
    });
    client.socket.ping('there?');
    expect(await answered).toBe('there?');
  });
});

test('the timers of all connections belong to the request of none', async () => {
  const requests = new AsyncLocalStorage<string>();
  const { server, url } = await startSockets();
  server.server.prependListener('upgrade', () => requests.enterWith('the first'));
  const seen = intervalContexts(requests);
  const client = await WsClient.connect(url, '/agents/ws');
  expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
  expect(seen).toContain(undefined);
  expect(seen).not.toContain('the first');
});

test('what a client does not read stays out of the memory of the service', async () => {
  const { server, url, runs } = await startSockets();
  let stream: Socket | undefined;
  server.server.on('connection', (socket: Socket) => {
    stream = socket;
  });
  const client = await WsClient.connect(url, '/agents/ws?format=json');
  client.send({ action: 'authenticate', token: 'right' });
  client.send(startEndless);
  await client.event('Piece');
  client.socket.pause();
  await until('the socket is full', () => stream?.writableNeedDrain);
  const asked = await until('nothing more is read from the run', async () => {
    const before = runs.pieces;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return runs.pieces === before && before;
  });
  expect(stream?.writableLength).toBeLessThan(10 * pieceSize);
  client.socket.resume();
  await until('reading continues', () => runs.pieces > asked);
});

test('a frame larger than a body may be ends the connection', async () => {
  const { url } = await startSockets();
  const client = await WsClient.connect(url, '/agents/ws');
  client.send({ action: 'ping', padding: 'x'.repeat(2_000) });
  expect(await client.closed).toMatchObject({ code: 1009 });
});

test('frames are answered in the order in which they came, however many', async () => {
  const { url } = await startSockets();
  const client = await authenticated(url);
  for (let at = 0; at < 500; at++) client.send({ action: `number ${at}` });
  await client.until(() => client.frames.length === 503);
  expect(client.frames.slice(3).map(({ payload }) => payload.error)).toEqual(
    Array.from({ length: 500 }, (_, at) => `Unknown action: number ${at}`),
  );
});
