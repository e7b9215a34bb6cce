import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../../test/support/http-server.js';
import { until } from '../../../test/support/until.js';
import { refusalOf, WsClient } from '../../../test/support/ws-client.js';
import type { RunsService } from '../../capabilities/runs/service.js';
import { RunyardError } from '../../core/errors.js';
import { silentLog } from '../../core/log.js';
import type { Caller } from '../../platform/auth/caller.js';
import { openWebSockets, type WebSocketOptions } from './endpoint.js';

const settings = {
  compatibility: 'none' as const,
  corsOrigins: ['https://app.example.com'],
  maxBodyBytes: 1_024,
  heartbeatMs: 60_000,
};
const pieceSize = 100_000;
const alice: Caller = { userId: 'alice', scope: { kind: 'user', userId: 'alice' } };

/** Knows the token of one user, and no longer knows it after `revoke`. */
class Tokens {
  private known = 'right';

  revoke(): void {
    this.known = '';
  }

  resolve: WebSocketOptions['resolveCaller'] = ({ token }) => {
    if (token === this.known) return alice;
    throw new RunyardError(
      'invalid_token',
      401,
      token === null ? 'Not authenticated' : 'Signature has expired',
    );
  };
}

/** Only notes who asked. */
class NotingRuns {
  readonly callers: Caller[] = [];

  /** How many pieces of the endless run were read. */
  pieces = 0;

  async cancel(caller: Caller): Promise<void> {
    this.callers.push(caller);
  }

  async create() {
    const reader = {
      next: async () => [
        {
          index: this.pieces,
          name: 'Piece',
          data: `{"event":"Piece","of":${this.pieces++},"x":"${'x'.repeat(pieceSize)}"}`,
        },
      ],
      close: () => {},
    };
    return { handle: { runId: 'endless' }, events: () => reader };
  }
}

async function start(options: Partial<WebSocketOptions['settings']> = {}, tokens = new Tokens()) {
  const runs = new NotingRuns();
  return { ...(await startWith(runs, options, tokens)), runs };
}

function startWith(
  runs: NotingRuns,
  options: Partial<WebSocketOptions['settings']> = {},
  tokens = new Tokens(),
): Promise<TestServer> {
  return startServer([], {
    upgrades: openWebSockets({
      runs: runs as unknown as RunsService,
      resolveCaller: tokens.resolve,
      settings: { ...settings, ...options },
      log: silentLog,
    }),
  });
}

describe('who speaks', () => {
  const cancel = { action: 'cancel-agent', agent_id: 'a', run_id: 'r' };

  test('is what the last accepted token says', async () => {
    const { url, runs } = await start();
    const client = await WsClient.connect(url, '/agents/ws');
    expect(await client.ask(cancel)).toMatchObject({ event: 'error', error_code: 'invalid_token' });
    expect(await client.ask({ action: 'authenticate' })).toEqual({
      event: 'auth_error',
      error: 'Token is required',
    });
    expect(await client.ask({ action: 'authenticate', token: 'wrong' })).toMatchObject({
      event: 'auth_error',
      error: 'Signature has expired',
    });
    expect(await client.ask({ action: 'authenticate', token: 'right' })).toMatchObject({
      event: 'authenticated',
      user_id: 'alice',
    });
    expect(await client.ask(cancel)).toEqual({ event: 'cancel_requested', run_id: 'r' });
    expect(runs.callers).toEqual([alice]);
  });

  test('is asked again for every action', async () => {
    const tokens = new Tokens();
    const { url, runs } = await start({}, tokens);
    const client = await WsClient.connect(url, '/agents/ws');
    await client.ask({ action: 'authenticate', token: 'right' });
    tokens.revoke();
    expect(await client.ask(cancel)).toMatchObject({ event: 'error', error_code: 'invalid_token' });
    expect(runs.callers).toEqual([]);
  });
});

describe('who may connect', () => {
  test.each(['https://evil.example.com', 'null', 'http://127.0.0.1:1'])(
    'not a page of the origin %s',
    async (origin) => {
      const { url } = await start();
      const { status, body } = await refusalOf(url, '/agents/ws', { origin });
      expect(status).toBe(403);
      expect(JSON.parse(body)).toMatchObject({ error_code: 'origin_not_allowed' });
    },
  );

  test('a page of this host, and one of an origin that may call', async () => {
    const { url } = await start();
    for (const origin of [url, 'https://app.example.com']) {
      const client = await WsClient.connect(url, '/agents/ws', { origin });
      expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
    }
  });
});

describe('signs of life', () => {
  test('a client that answers them stays, one that does not is cut off', async () => {
    const { url } = await start({ heartbeatMs: 100 });
    const alive = await WsClient.connect(url, '/agents/ws');
    const dead = await WsClient.connect(url, '/agents/ws', { autoPong: false });
    expect(await dead.closed).toMatchObject({ code: 1006 });
    const { pings } = alive;
    await alive.until(() => alive.pings > pings + 3);
    expect(await alive.ask({ action: 'ping' })).toEqual({ event: 'pong' });
  });

  test('pings of the client are answered', async () => {
    const { url } = await start();
    const client = await WsClient.connect(url, '/agents/ws');
    const answered = new Promise<string>((resolve) => {
      client.socket.once('pong', (data) => resolve(data.toString()));
    });
    client.socket.ping('there?');
    expect(await answered).toBe('there?');
  });
});

test('what a client does not read stays out of the memory of the service', async () => {
  const runs = new NotingRuns();
  const { server, url } = await startWith(runs);
  let stream: Socket | undefined;
  server.app.server.on('connection', (socket: Socket) => {
    stream = socket;
  });
  const client = await WsClient.connect(url, '/agents/ws?format=json');
  client.send({ action: 'authenticate', token: 'right' });
  client.send({ action: 'start-agent', agent_id: 'a', message: 'x' });
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
  await until('reading goes on', () => runs.pieces > asked);
});

test('a frame larger than a body may be ends the connection', async () => {
  const { url } = await start();
  const client = await WsClient.connect(url, '/agents/ws');
  client.send({ action: 'ping', padding: 'x'.repeat(2_000) });
  expect(await client.closed).toMatchObject({ code: 1009 });
});

test('frames are answered in the order in which they came, however many', async () => {
  const { url } = await start();
  const client = await WsClient.connect(url, '/agents/ws');
  for (let at = 0; at < 500; at++) client.send({ action: `number ${at}` });
  await client.until(() => client.frames.length === 501);
  expect(client.frames.slice(1).map(({ payload }) => payload.error)).toEqual(
    Array.from({ length: 500 }, (_, at) => `Unknown action: number ${at}`),
  );
});
