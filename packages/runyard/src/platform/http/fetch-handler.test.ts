import { expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';
import { startServer } from '../../../test/support/clients/http-server.js';
import { type FetchHandler, fetchHandler } from './fetch-handler.js';
import { jsonPieces } from './response/results.js';
import { defineRoute } from './route.js';

const facts = { public: true, tag: 'Test', summary: 'x', responses: {} } as const;
const hello = defineRoute({
  ...facts,
  method: 'GET',
  path: '/hello',
  operationId: 'hello',
  handler: () => ({ hello: 'wörld' }),
});
const echo = defineRoute({
  ...facts,
  method: 'POST',
  path: '/echo',
  operationId: 'echo',
  body: z.object({ text: z.string() }),
  handler: (_, { body }) => body,
});
const routes = [hello, echo];

const origin = 'http://page.test';
const json = { 'content-type': 'application/json' };
const settings = { corsOrigins: [origin], maxBodyBytes: 1_000 };

test.each<[string, string, RequestInit]>([
  ['JSON', '/hello?x=1', { headers: { origin, 'x-request-id': 'mine' } }],
  ['a body', '/echo/', { method: 'POST', headers: json, body: '{"text":"ä"}' }],
  ['an invalid body', '/echo', { method: 'POST', headers: json, body: '{"text":1}' }],
  ['no JSON', '/echo', { method: 'POST', headers: json, body: '{' }],
  ['no body', '/echo', { method: 'POST' }],
  ['too large a body', '/echo', { method: 'POST', headers: json, body: ' '.repeat(2_000) }],
  ['an encoded body', '/echo', { method: 'POST', headers: { 'content-encoding': 'gzip' }, body: 'x' }],
  ['an unknown path', '/nowhere', {}],
  ['a wrong method', '/hello', { method: 'DELETE' }],
  ['HEAD', '/hello', { method: 'HEAD' }],
  ['too long a URL', `/hello?${'x'.repeat(17_000)}`, {}],
  ['a page of another site', '/echo', { method: 'POST', headers: { origin: 'http://evil.test' }, body: 'x' }],
  [
    'a preflight',
    '/echo',
    { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } },
  ],
])('answers as the Node server: %s', async (_, path, init) => {
  const { server, url } = await startServer(routes, { settings });
  const seen = async (response: Response) => ({
    status: response.status,
    headers: [...response.headers].filter(([name]) => !ofConnection.has(name)),
    body: (await response.text()).replace(/"request_id":"[^"]+"/, ''),
  });
  const handle = fetchHandler(server.handler());
  expect(await seen(await handle(new Request(url + path, init)))).toEqual(
    await seen(await fetch(url + path, init)),
  );
});

const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', 'x-request-id']);

test('a body without a length is bounded, and the rest of it is not read', async () => {
  const { server } = await startServer(routes, { settings });
  const onCancel = vi.fn();
  let sent = 0;
  const endless = new ReadableStream({
    pull: (controller) => {
      sent += 1;
      controller.enqueue(new Uint8Array(500));
    },
    cancel: onCancel,
  });
  const init = { method: 'POST', headers: json, body: endless, duplex: 'half' };
  const response = await fetchHandler(server.handler())(
    new Request('http://x.test/echo', init as RequestInit),
  );
  expect(response.status).toBe(413);
  await response.text();
  await vi.waitFor(() => expect(onCancel).toHaveBeenCalled());
  expect(sent).toBeLessThan(1_000);
});

/** An answer of 1,000 pieces with 100,000 characters each, and how many were asked for. */
function longAnswer() {
  const made = { pieces: 0, ended: false };
  async function* pieces() {
    try {
      for (; made.pieces < 1_000; made.pieces += 1) yield 'x'.repeat(100_000);
    } finally {
      made.ended = true;
    }
  }
  const path = '/long';
  const route = defineRoute({
    ...facts,
    method: 'GET',
    path,
    operationId: 'long',
    handler: () => jsonPieces(pieces()),
  });
  return { made, route };
}

test('a response is produced no faster than it is read, and not at all once it is cancelled', async () => {
  const { made, route } = longAnswer();
  const { server, logged } = await startServer([route]);
  const response = await fetchHandler(server.handler())(new Request('http://x.test/long'));
  const reader = response.body!.getReader();
  expect((await reader.read()).value).toHaveLength(100_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(made.pieces).toBeLessThan(6);
  await reader.cancel();
  await vi.waitFor(() => expect(made.ended).toBe(true));
  expect(logged.find(({ message }) => message === 'request')?.fields).toMatchObject({ client_gone: true });
});

test('a reader who takes nothing loses the response, a slow one does not', async () => {
  const { route } = longAnswer();
  const { server } = await startServer([route], { settings: { slowClientMs: 200 } });
  const handle = fetchHandler(server.handler());
  const idle = await handle(new Request('http://x.test/long'));
  const slow = (await handle(new Request('http://x.test/long'))).body!.getReader();
  for (let reads = 0; reads < 20; reads += 1) {
    expect((await slow.read()).done).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await slow.cancel();
  await expect(idle.text()).rejects.toThrow('before the end of its response');
});

test('aborting the request ends the answer, whether it has begun or not', async () => {
  const { made, route } = longAnswer();
  const onStart = vi.fn();
  const stuck = defineRoute({
    ...facts,
    method: 'GET',
    path: '/stuck',
    operationId: 'stuck',
    handler: (_, { signal }) => {
      onStart(signal);
      return new Promise(() => {});
    },
  });
  const { server } = await startServer([route, stuck]);
  const handle = fetchHandler(server.handler());
  const leaving = new AbortController();
  const { signal } = leaving;
  const waiting = handle(new Request('http://x.test/stuck', { signal }));
  const response = await handle(new Request('http://x.test/long', { signal }));
  await vi.waitFor(() => expect(onStart).toHaveBeenCalled());
  leaving.abort();
  await expect(waiting).rejects.toThrow('aborted');
  await expect(response.text()).rejects.toThrow('aborted');
  await vi.waitFor(() => expect((onStart.mock.calls[0]![0] as AbortSignal).aborted).toBe(true));
  await vi.waitFor(() => expect(made.ended).toBe(true));
  await expect(handle(new Request('http://x.test/long', { signal }))).rejects.toThrow('aborted');
});

test('a response that breaks off fails visibly', async () => {
  async function* broken() {
    yield 'x'.repeat(100_000);
    throw new Error('no more');
  }
  const path = '/broken';
  const route = defineRoute({
    ...facts,
    method: 'GET',
    path,
    operationId: 'broken',
    handler: () => jsonPieces(broken()),
  });
  const { server } = await startServer([route]);
  const response = await fetchHandler(server.handler())(new Request('http://x.test/broken'));
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow('before the end of its response');
});

test('a request whose body breaks off, and a status that no response can have, end in a rejection', async () => {
  const { server } = await startServer(routes);
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(10)),
    pull: (controller) => controller.error(new Error('the line is dead')),
  });
  const init = { method: 'POST', headers: json, body, duplex: 'half' } as RequestInit;
  const sent = fetchHandler(server.handler())(new Request('http://x.test/echo', init));
  await expect(sent).rejects.toThrow('the line is dead');
  const odd = fetchHandler((_, response) => response.writeHead(999).write('x'));
  await expect(odd(new Request('http://x.test/'))).rejects.toThrow('status');
});

test.each([['text=x'], [undefined], [null], [{}]])(
  'a body that holds %j ends in a rejection',
  async (chunk) => {
    const { server, logged } = await startServer(routes);
    const onCancel = vi.fn();
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('{"text":"x"}'));
        controller.enqueue(chunk);
      },
      cancel: onCancel,
    });
    const init = { method: 'POST', headers: json, body, duplex: 'half' } as RequestInit;
    const sent = fetchHandler(server.handler())(new Request('http://x.test/echo', init));
    await expect(sent).rejects.toThrow('consist of bytes');
    await vi.waitFor(() => expect(onCancel).toHaveBeenCalled());
    await vi.waitFor(() => expect(logged.at(-1)?.fields).toMatchObject({ client_gone: true }));
  },
);

test('the host says where a request comes from', async () => {
  const { server } = await startServer([hello], { settings: { rateLimit: 1, trustedProxies: ['10.0.0.1'] } });
  const handle = fetchHandler(server.handler(), (_request, client: { address: string }) => client.address);
  expectTypeOf(handle).toEqualTypeOf<FetchHandler<[client: { address: string }]>>();
  const from = async (address: string, headers = {}) =>
    (await handle(new Request('http://x.test/hello', { headers }), { address })).status;
  expect(await from('192.0.2.1')).toBe(200);
  expect(await from('192.0.2.1')).toBe(429);
  expect(await from('192.0.2.2')).toBe(200);
  expect(await from('10.0.0.1', { 'x-forwarded-for': '192.0.2.2' })).toBe(429);
});
