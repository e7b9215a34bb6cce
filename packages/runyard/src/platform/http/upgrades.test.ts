import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { rawClient, startServer } from '../../../test/support/clients/http-server.js';
import { errors } from '../../core/errors/errors.js';
import { defineRoute } from './route.js';
import { refuseUpgrade, type Upgrades } from './upgrades.js';

const echo = defineRoute({
  method: 'POST',
  path: '/echo',
  operationId: 'echo',
  public: true,
  tag: 'Test',
  summary: 'x',
  accepts: 'json',
  body: z.looseObject({}),
  responses: {},
  handler: (_, { body }) => body,
});

const greeting = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nhello';

/** Endpoints that greet in the other protocol, at /talk. */
function talking(): Upgrades {
  const open: Duplex[] = [];
  const talk = (_request: unknown, socket: Duplex) => {
    open.push(socket);
    socket.on('error', () => {});
    socket.write(greeting);
  };
  return {
    paths: new Map([['/talk', talk]]),
    close: async () => {
      for (const socket of open) socket.end('bye');
    },
  };
}

const asking = (path: string, protocol = 'websocket') =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n\r\n`;

test('an endpoint takes the connection over, and is notified when the server closes', async () => {
  const { server, port } = await startServer([echo], { upgrades: talking() });
  const client = rawClient(port);
  client.socket.write(asking('/talk/?format=json'));
  await client.until((text) => text.endsWith('hello'));
  await server.close();
  expect((await client.closed()).endsWith('hellobye')).toBe(true);
});

test('another path is answered as it is without the upgrade header', async () => {
  const { port } = await startServer([echo], { upgrades: talking() });
  const client = rawClient(port);
  client.socket.write(asking('/nowhere'));
  expect(await client.until((text) => text.includes('"detail"'))).toMatch(/^HTTP\/1\.1 404 .*"Not Found"/s);
});

test('clients that offer HTTP/2 with every request get their answers, on a connection that stays', async () => {
  const { port } = await startServer([echo], { upgrades: talking() });
  const client = rawClient(port);
  const request = (body: string) =>
    'POST /echo HTTP/1.1\r\nhost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
    `HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nContent-Type: application/json\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`;
  client.socket.write(request('{"turn":1}'));
  await client.until((text) => text.includes('{"turn":1}'));
  const second = request('{"turn":2}');
  client.socket.write(second.slice(0, -4));
  client.socket.write(second.slice(-4));
  const text = await client.until((received) => received.includes('{"turn":2}'));
  expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
});

test('inside another server, what is handed over is served under the prefix or refused', async () => {
  const { server } = await startServer([echo], { upgrades: talking() });
  const port = await hosting(server.handler({ basePath: '/ai' }));
  const served = rawClient(port);
  served.socket.write(asking('/ai/talk'));
  await served.until((text) => text.endsWith('hello'));
  const refused = rawClient(port);
  refused.socket.write(asking('/ai/nowhere'));
  expect(await refused.closed()).toMatch(/^HTTP\/1\.1 404 Not Found.*"error_code":"not_found"/s);
});

test('a refusal has the body of all errors, and its connection is closed', async () => {
  const refusing: Upgrades = {
    paths: new Map([
      ['/talk', (_, socket) => refuseUpgrade(socket, errors.originRefused('http://ö.example'), 'r1')],
    ]),
    close: async () => {},
  };
  const { port } = await startServer([echo], { upgrades: refusing });
  const client = rawClient(port);
  client.socket.write(asking('/talk'));
  const [head, body = ''] = (await client.closed()).split('\r\n\r\n');
  expect(head).toContain('403 Forbidden');
  expect(JSON.parse(body)).toEqual({
    detail: expect.stringContaining('http://ö.example'),
    error_code: 'origin_not_allowed',
    request_id: 'r1',
  });
  expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
});

async function hosting(handler: ReturnType<Awaited<ReturnType<typeof startServer>>['server']['handler']>) {
  const host = createServer(handler);
  host.on('upgrade', handler.upgrade);
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void host.close());
  return (host.address() as AddressInfo).port;
}

test('a client that connects too often is rejected with the time to wait', async () => {
  const { port } = await startServer([echo], {
    upgrades: talking(),
    settings: { rateLimit: 2, rateLimitBurst: 1 },
  });
  const first = rawClient(port);
  first.socket.write(asking('/talk'));
  await first.until((text) => text.endsWith('hello'));
  const second = rawClient(port);
  second.socket.write(asking('/talk'));
  const text = await second.closed();
  expect(text).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
  expect(text).toContain('retry-after: 30\r\n');
  expect(text).toContain('"error_code":"rate_limited"');
});

test('a path of nothing but slashes is checked quickly', async () => {
  const { port } = await startServer([echo], {
    upgrades: talking(),
    settings: { maxHeaderBytes: 1_048_576 },
  });
  const client = rawClient(port);
  client.socket.write(asking(`${'/'.repeat(900_000)}x`));
  expect(await client.until((text) => text.includes('}'))).toMatch(/^HTTP\/1\.1 414 /);
});
