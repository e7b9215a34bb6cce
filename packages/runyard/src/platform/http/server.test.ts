import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { rawClient, startServer } from '../../../test/support/clients/http-server.js';
import { gate, until } from '../../../test/support/until.js';
import { errors, RunyardError } from '../../core/errors/errors.js';
import { anonymousCaller } from '../auth/caller.js';
import { asset, html, reply } from './response/results.js';
import { defineRoute } from './route.js';

const ping = defineRoute({
  method: 'GET',
  path: '/things/:thing_id',
  operationId: 'get_thing',
  scope: 'things:read',
  tag: 'Things',
  summary: 'A thing',
  params: z.object({ thing_id: z.string() }),
  query: z.object({ word: z.string().optional() }),
  responses: { 200: z.object({ id: z.string(), word: z.string().optional() }) },
  handler: (_services, { params, query }) => ({ id: params.thing_id, ...query }),
});

const root = defineRoute({ ...facts('GET', '/', 'root'), handler: () => ({ root: true }) });

function facts(method: 'GET' | 'POST' | 'DELETE', path: string, operationId: string) {
  return {
    method,
    path,
    operationId,
    public: true,
    tag: 'Test',
    summary: operationId,
    responses: {},
  } as const;
}

function failing(error: unknown) {
  return defineRoute({
    ...facts('GET', '/fails', 'fails'),
    handler: () => {
      throw error;
    },
  });
}

test('a plain value is answered as JSON with status 200', async () => {
  const { url } = await startServer([ping]);
  const response = await fetch(`${url}/things/a%20b?word=w%C3%B6rd`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({ id: 'a b', word: 'wörd' });
});

test('a handler gets the services it names', async () => {
  const route = defineRoute({
    ...facts('GET', '/who', 'who'),
    handler: ({ names }: { names: string[] }) => names,
  });
  const { url } = await startServer<{ names: string[]; other: number }>([route, ping], {
    services: { names: ['Ada'], other: 1 },
  });
  expect(await (await fetch(`${url}/who`)).json()).toEqual(['Ada']);
});

test('other statuses, pages, assets and empty answers', async () => {
  const { url } = await startServer([
    defineRoute({
      ...facts('POST', '/runs', 'accepted'),
      handler: () => reply(202, { ok: true }, { 'x-extra': '1' }),
    }),
    defineRoute({ ...facts('DELETE', '/runs', 'deleted'), handler: async () => reply(204) }),
    defineRoute({ ...facts('GET', '/page', 'page'), handler: () => html('<p>ü</p>') }),
    defineRoute({
      ...facts('GET', '/bytes', 'bytes'),
      handler: () => asset(new Uint8Array([1, 2, 3]), 'image/png'),
    }),
    defineRoute({ ...facts('GET', '/nothing', 'nothing'), handler: () => undefined }),
  ]);
  const accepted = await fetch(`${url}/runs`, { method: 'POST' });
  expect([accepted.status, accepted.headers.get('x-extra'), await accepted.json()]).toEqual([
    202,
    '1',
    { ok: true },
  ]);
  const deleted = await fetch(`${url}/runs`, { method: 'DELETE' });
  expect([deleted.status, await deleted.text()]).toEqual([204, '']);
  const page = await fetch(`${url}/page`);
  expect([page.headers.get('content-type'), await page.text()]).toEqual([
    'text/html; charset=utf-8',
    '<p>ü</p>',
  ]);
  expect(new Uint8Array(await (await fetch(`${url}/bytes`)).arrayBuffer())).toEqual(
    new Uint8Array([1, 2, 3]),
  );
  expect(await (await fetch(`${url}/nothing`)).json()).toBeNull();
});

test('trailing slashes do not matter, except that // is not found', async () => {
  const { url } = await startServer([ping, root]);
  for (const path of ['/things/x', '/things/x/', '/things/x///?word=a', '/', '/?a=b']) {
    const response = await fetch(url + path, { redirect: 'error' });
    expect([path, response.status]).toEqual([path, 200]);
  }
  expect(await (await fetch(`${url}/things/x//?word=kept`)).json()).toEqual({ id: 'x', word: 'kept' });
  expect((await fetch(`${url}//`)).status).toBe(404);
  expect((await fetch(`${url}/Things/x`)).status).toBe(404);
});

test('an unknown path is 404 in the form of all errors', async () => {
  const { url } = await startServer([ping]);
  const response = await fetch(`${url}/nowhere`, { headers: { 'x-request-id': 'mine-1' } });
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({
    detail: 'Not Found',
    error_code: 'not_found',
    request_id: 'mine-1',
  });
});

test('a wrong method on a known path is 405 and names the right ones', async () => {
  const { url } = await startServer([ping]);
  for (const method of ['POST', 'DELETE', 'OPTIONS']) {
    const response = await fetch(`${url}/things/x/`, { method });
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'GET']);
    expect(await response.json()).toMatchObject({
      detail: 'Method Not Allowed',
      error_code: 'method_not_allowed',
    });
  }
  const head = await fetch(`${url}/things/x`, { method: 'HEAD' });
  expect([head.status, head.headers.get('allow'), await head.text()]).toEqual([405, 'GET', '']);
});

test('a broken path encoding is 400, a long id is accepted', async () => {
  const { url } = await startServer([ping]);
  const broken = await fetch(`${url}/things/%zz`);
  expect(broken.status).toBe(400);
  expect(await broken.json()).toMatchObject({ error_code: 'bad_url' });
  expect(await (await fetch(`${url}/things/${'x'.repeat(255)}`)).json()).toEqual({ id: 'x'.repeat(255) });
});

test('valid request ids are kept, others are generated, and all are echoed', async () => {
  const { url } = await startServer([ping]);
  const idFor = async (given?: string) =>
    (
      await fetch(`${url}/things/x`, given === undefined ? {} : { headers: { 'x-request-id': given } })
    ).headers.get('x-request-id');
  expect(await idFor('abc-123')).toBe('abc-123');
  expect(await idFor('has spaces')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idFor('x'.repeat(500))).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idFor()).not.toBe(await idFor());
});

test('the access log has what happened, and no secrets', async () => {
  const { url, logged } = await startServer([ping]);
  await (
    await fetch(`${url}/things/x?token=s3cret`, {
      headers: { authorization: 'Bearer s3cret', 'x-request-id': 'r1' },
    })
  ).text();
  await vi.waitFor(() => expect(logged).toHaveLength(1));
  expect(logged[0]).toMatchObject({
    level: 'info',
    fields: {
      request_id: 'r1',
      method: 'GET',
      path: '/things/x',
      status: 200,
      duration_ms: expect.any(Number),
    },
  });
  expect(JSON.stringify(logged)).not.toContain('s3cret');
});

test('an unexpected failure reveals nothing to the client and is logged in full', async () => {
  const { url, logged } = await startServer([failing(new TypeError('password is hunter2'))]);
  const response = await fetch(`${url}/fails`, { headers: { 'x-request-id': 'r2' } });
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ error_code: 'internal_error', request_id: 'r2' });
  expect(text).not.toContain('hunter2');
  const line = logged.find(({ level }) => level === 'error');
  expect(line?.fields).toMatchObject({
    request_id: 'r2',
    err: { stack: expect.stringContaining('hunter2') },
  });
});

test('an error of the catalogue is answered with its status, text, code and headers', async () => {
  const error = new RunyardError('busy', 429, 'Slow down', { headers: { 'retry-after': '3' } });
  const { url } = await startServer([failing(error)]);
  const response = await fetch(`${url}/fails`);
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3']);
  expect(await response.json()).toMatchObject({ detail: 'Slow down', error_code: 'busy' });
});

test('faults of path, query and body come in one response', async () => {
  const route = defineRoute({
    ...facts('POST', '/runs/:id', 'faulty'),
    params: z.object({ id: z.string().max(3) }),
    query: z.object({ page: z.string() }),
    body: z.object({ name: z.string() }),
    handler: () => null,
  });
  const { url } = await startServer([route]);
  const response = await fetch(`${url}/runs/long-one`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  });
  expect(response.status).toBe(422);
  const { detail } = (await response.json()) as { detail: { loc: unknown; type: string; input: unknown }[] };
  expect(detail.map(({ loc, type }) => [loc, type])).toEqual([
    [['path', 'id'], 'string_too_long'],
    [['query', 'page'], 'missing'],
    [['body', 'name'], 'missing'],
  ]);
  expect(detail[2]?.input).toEqual({ a: 1 });
});

test('the caller is resolved before the body is read, and a refused one never reaches the handler', async () => {
  const handler = vi.fn();
  const route = defineRoute({
    method: 'POST',
    path: '/secret',
    operationId: 'secret',
    scope: 'things:write',
    tag: 'Test',
    summary: 'x',
    body: z.object({}),
    responses: {},
    handler,
  });
  const seen: unknown[] = [];
  const { url } = await startServer([route, root], {
    resolveCaller: ({ scope, path, method }) => {
      seen.push({ scope, path, method });
      throw new RunyardError('unauthenticated', 401, 'Authentication required');
    },
  });
  const response = await fetch(`${url}/secret/`, {
    method: 'POST',
    headers: { origin: 'http://localhost:3000' },
  });
  expect(response.status).toBe(401);
  expect(response.headers.get('access-control-allow-headers')).toBe('*');
  expect(seen).toEqual([{ scope: 'things:write', path: '/secret', method: 'POST' }]);
  expect(handler).not.toHaveBeenCalled();
  expect((await fetch(url)).status).toBe(200);
});

test('the signal of a handler aborts when its client disconnects', async () => {
  const onAbort = vi.fn();
  const onStart = vi.fn();
  const route = defineRoute({
    ...facts('GET', '/slow', 'slow'),
    handler: async (_services, { signal }) => {
      onStart();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      onAbort();
      signal.throwIfAborted();
    },
  });
  const { port, logged } = await startServer([route]);
  const { socket } = rawClient(port);
  socket.write('GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await vi.waitFor(() => expect(onStart).toHaveBeenCalled());
  socket.destroy();
  await vi.waitFor(() => expect(onAbort).toHaveBeenCalled());
  await vi.waitFor(() => expect(logged[0]?.fields).toMatchObject({ path: '/slow', client_gone: true }));
  expect(logged).toHaveLength(1);
});

test('what is not HTTP gets a 400', async () => {
  const { port } = await startServer([root]);
  const client = rawClient(port);
  client.socket.write('HELLO\r\n\r\n');
  expect(await client.until((text) => text.includes('}'))).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*"error_code":"bad_request"/,
  );
});

test('custom routes work beside ours, with their own parsers and hooks', async () => {
  const { url } = await startServer([ping], {
    customRoutes: (app) => {
      app.addHook('onSend', async (_request, reply) => {
        reply.header('x-custom', 'yes');
      });
      app.post(
        '/hooks/github',
        { schema: { body: { type: 'object', required: ['a'] } } },
        async (request) => ({
          got: request.body,
          user: request.caller?.userId,
        }),
      );
      app.get('/hooks/fails', async () => {
        throw new Error('inner text');
      });
      app.get('/hooks/known', async () => {
        throw errors.runNotFound();
      });
    },
  });
  const post = (body: string) =>
    fetch(`${url}/hooks/github/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'c1' },
      body,
    });
  const response = await post('{"a":1}');
  expect(await response.json()).toEqual({ got: { a: 1 }, user: null });
  expect([response.headers.get('x-custom'), response.headers.get('x-request-id')]).toEqual(['yes', 'c1']);
  const invalid = await post('{}');
  expect([invalid.status, await invalid.json()]).toEqual([
    400,
    expect.objectContaining({ error_code: 'bad_request', request_id: 'c1' }),
  ]);
  const failed = await fetch(`${url}/hooks/fails`);
  expect(failed.status).toBe(500);
  expect(await failed.text()).not.toContain('inner text');
  expect((await fetch(`${url}/hooks/known`)).status).toBe(404);
  expect((await fetch(`${url}/things/x`)).headers.get('x-custom')).toBeNull();
});

test('a custom route at the path of one of ours is rejected at start', async () => {
  const start = startServer([ping], {
    customRoutes: (app) => void app.get('/things/:other', async () => 'mine'),
  });
  await expect(start).rejects.toThrow('The custom route GET /things/:other clashes with a route of Runyard');
});

test('a port in use is explained', async () => {
  const { port } = await startServer([root]);
  const second = startServer([root], {}, port);
  await expect(second).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}: the port is in use.`);
});

test.each([
  ['is anonymous', () => anonymousCaller],
  [
    'has a wrong token',
    () => {
      throw errors.securityKeyWrong();
    },
  ],
])(
  'a caller who %s counts for the rate limit also when they have left before they are known',
  async (_, found) => {
    const [asked, known] = [gate(), gate()];
    const { port, url, logged } = await startServer([ping], {
      settings: { rateLimit: 1 },
      async resolveCaller() {
        asked.open();
        await known.opened;
        return found();
      },
    });
    const client = rawClient(port);
    client.socket.write('GET /things/a HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await asked.opened;
    client.socket.destroy();
    await until('the client is known to have left', () => logged.some(({ fields }) => fields.client_gone));
    known.open();
    expect((await fetch(`${url}/things/a`)).status).toBe(429);
  },
);
