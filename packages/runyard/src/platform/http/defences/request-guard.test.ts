import { createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startServer, type TestServer } from '../../../../test/support/clients/http-server.js';
import { defineRoute } from '../route.js';

const facts = { scope: null, tag: 'T', summary: 't', responses: {} } as const;
const routes = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) =>
  defineRoute({
    ...facts,
    method,
    path: '/x',
    operationId: method,
    ...(method !== 'GET' && { accepts: 'form' as const, body: z.looseObject({}) }),
    handler: () => ({ did: method }),
  }),
);

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** `fetch` does not let one say all headers. */
function call(port: number, headers: Record<string, string>, method = 'POST', path = '/x'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = send({ host: '127.0.0.1', port, method, path, headers }, async (response) => {
      const said = await text(response);
      const body = said.startsWith('{') ? (JSON.parse(said) as Record<string, unknown>) : {};
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    sent.on('error', reject).end();
  });
}

const refusedOrigin = [403, 'origin_not_allowed'];
const refusedHost = [403, 'host_not_allowed'];
const codeOf = ({ status, body }: Answer) => [status, body.error_code];

describe('a request that a page of another site caused', () => {
  const foreign: [string, Record<string, string>][] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['no origin of its own', { origin: 'null' }],
    ['an empty origin', { origin: '' }],
    ['another port of the same host', { origin: 'http://localhost:1' }],
    ['a host that begins the same', { origin: 'http://localhost.evil.example' }],
    ['what is no origin', { origin: 'http://[' }],
    ['the site alone', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling site', { 'sec-fetch-site': 'same-site' }],
    ['a site that nobody knows', { 'sec-fetch-site': 'Same-Origin, none' }],
  ];

  test.each(foreign)('is refused with %s, whatever its method', async (_what, headers) => {
    const { port } = await startServer(routes);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect([method, ...codeOf(await call(port, headers, method))]).toEqual([method, ...refusedOrigin]);
  });

  test.each(foreign)('is refused with %s at custom and unknown paths', async (_what, headers) => {
    const { port } = await startServer(routes, {
      customRoutes: (app) => void app.all('/mine', async () => 'mine'),
    });
    for (const path of ['/mine', '/nowhere'])
      expect([path, ...codeOf(await call(port, headers, 'POST', path))]).toEqual([path, ...refusedOrigin]);
  });

  test('is refused before the caller is identified', async () => {
    let asked = 0;
    const { port } = await startServer(routes, {
      resolveCaller: () => {
        asked++;
        throw new Error('not reached');
      },
    });
    expect(codeOf(await call(port, { origin: 'https://evil.example' }))).toEqual(refusedOrigin);
    expect(asked).toBe(0);
  });

  test('is refused although the origin looks like the own one when the browser knows better', async () => {
    const { port } = await startServer(routes);
    const own = { origin: `http://127.0.0.1:${port}` };
    expect(codeOf(await call(port, { ...own, 'sec-fetch-site': 'cross-site' }))).toEqual(refusedOrigin);
  });

  test('is served as a GET, without permission to read the response', async () => {
    const { port } = await startServer(routes);
    const { status, headers } = await call(port, { origin: 'https://evil.example' }, 'GET');
    expect([status, headers['access-control-allow-origin']]).toEqual([200, undefined]);
  });
});

test.each([
  ['a program', {}],
  ['a page of the service', { 'sec-fetch-site': 'same-origin' }],
  ['an address that the user typed', { 'sec-fetch-site': 'none' }],
  [
    'a page of the service behind a proxy that changes the host',
    {
      origin: 'https://app.example',
      'sec-fetch-site': 'same-origin',
    },
  ],
  [
    'an application with a scheme of its own',
    { origin: 'tauri://localhost', 'sec-fetch-site': 'cross-site' },
  ],
  ['an allowed origin', { origin: 'https://friend.example', 'sec-fetch-site': 'cross-site' }],
])('%s may change things', async (_who, headers) => {
  const { port } = await startServer(routes, {
    settings: { corsOrigins: ['https://Friend.example:443', 'tauri://localhost'] },
  });
  expect((await call(port, headers)).status).toBe(200);
});

test('no setting lets a page in that has no origin', async () => {
  const corsOrigins = ['null', '*', 'file:', 'tauri://localhost', 'https://['];
  const { port } = await startServer(routes, { settings: { corsOrigins } });
  for (const origin of ['null', '*', 'file:', 'https://['])
    expect([origin, ...codeOf(await call(port, { origin }))]).toEqual([origin, ...refusedOrigin]);
});

test('a page of the service is known by its host where the browser says nothing else', async () => {
  const { port } = await startServer(routes, { settings: { allowedHosts: ['yard.example'] } });
  for (const [origin, host] of [
    [`http://localhost:${port}`, `LOCALHOST:${port}`],
    ['http://yard.example', 'yard.example:80'],
    ['https://yard.example', 'yard.example'],
  ] as const)
    expect([origin, (await call(port, { origin, host })).status]).toEqual([origin, 200]);
});

test('only a trusted proxy may say which host its client called', async () => {
  const headers = { origin: 'https://app.example', 'x-forwarded-host': 'app.example' };
  const trusting = await startServer(routes, { settings: { trustedProxies: ['127.0.0.1'] } });
  expect((await call(trusting.port, headers)).status).toBe(200);
  const other = await startServer(routes);
  expect(codeOf(await call(other.port, headers))).toEqual(refusedOrigin);
});

describe('the host that a request names', () => {
  test.each([
    'localhost',
    'LocalHost:1234',
    'localhost.',
    'app.localhost:3000',
    '127.0.0.1',
    '127.8.9.10:7777',
    '[::1]:7777',
    'host.docker.internal:7777',
    '',
  ])('%j leads to a service on the loopback address', async (host) => {
    const { port } = await startServer(routes);
    expect((await call(port, { host }, 'GET')).status).toBe(200);
  });

  test.each([
    'evil.example',
    'evil.example:7777',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '0.0.0.0',
    'x@localhost',
    'localhost/evil.example',
    'localhost,evil.example',
    '[::1',
    '<script>',
    'a b',
    'localhost:99999',
  ])('%j does not, and the answer names the setting but not the host', async (host) => {
    const { port, logged } = await startServer(routes);
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const answer = await call(port, { host }, method);
      expect(codeOf(answer)).toEqual(refusedHost);
      expect(answer.body.detail).toContain('setting allowedHosts');
      expect(answer.body.detail).not.toContain(host);
    }
    expect(logged.filter(({ level }) => level === 'warn')).toMatchObject([{ fields: { host } }]);
  });

  test('may be one that the settings allow, with all below it where they say so', async () => {
    const { port } = await startServer(routes, {
      settings: { allowedHosts: ['Yard.example', '*.wild.example'] },
    });
    const statusOf = async (host: string) => (await call(port, { host }, 'GET')).status;
    expect(await statusOf('yard.example:8443')).toBe(200);
    expect(await statusOf('a.b.wild.example')).toBe(200);
    for (const host of ['a.yard.example', 'wild.example', 'notwild.example'])
      expect([host, await statusOf(host)]).toEqual([host, 403]);
  });

  test('is that of a forwarded request too: a page can write any other header', async () => {
    const { port } = await startServer(routes, { settings: { trustedProxies: ['127.0.0.1'] } });
    const headers = { host: 'evil.example', 'x-forwarded-host': 'localhost', 'x-forwarded-for': '127.0.0.1' };
    expect(codeOf(await call(port, headers))).toEqual(refusedHost);
  });

  test('is checked where another server listens, by what that one listens on', async () => {
    const { server } = await startServer(routes);
    const statusOn = async (address: string) => {
      const around = createServer(server.handler()).listen(0, address);
      onTestFinished(() => void around.close());
      await new Promise((resolve) => around.once('listening', resolve));
      const { port } = around.address() as AddressInfo;
      return (await call(port, { host: 'yard.example' }, 'GET')).status;
    };
    expect(await statusOn('127.0.0.1')).toBe(403);
    expect(await statusOn('0.0.0.0')).toBe(200);
  });

  test('is checked on another address once the settings name hosts', async () => {
    const { server } = await startServer(routes, { settings: { allowedHosts: ['yard.example'] } });
    const around = createServer(server.handler()).listen(0, '0.0.0.0');
    onTestFinished(() => void around.close());
    await new Promise((resolve) => around.once('listening', resolve));
    const { port } = around.address() as AddressInfo;
    expect((await call(port, { host: 'yard.example' }, 'GET')).status).toBe(200);
    expect((await call(port, { host: 'evil.example' }, 'GET')).status).toBe(403);
  });
});

describe('without corsOrigins', () => {
  test.each([3000, 4200, 5173, 8080])('pages of a development server on port %i may call', async (own) => {
    const { port } = await startServer(routes);
    for (const origin of [`http://localhost:${own}`, `http://127.0.0.1:${own}`]) {
      const { status, headers } = await call(port, { origin, 'sec-fetch-site': 'same-site' });
      expect([status, headers['access-control-allow-origin']]).toEqual([200, origin]);
    }
  });

  test('no others may, and only the usual one where the service is open to the network', async () => {
    const { port, server } = await startServer(routes);
    for (const origin of ['http://localhost:1', 'https://localhost:3000', 'http://evil.example:3000'])
      expect(codeOf(await call(port, { origin }))).toEqual(refusedOrigin);
    const around = createServer(server.handler()).listen(0, '0.0.0.0');
    onTestFinished(() => void around.close());
    await new Promise((resolve) => around.once('listening', resolve));
    const open = (around.address() as AddressInfo).port;
    expect((await call(open, { origin: 'http://localhost:3000' })).status).toBe(200);
    expect(codeOf(await call(open, { origin: 'http://localhost:5173' }))).toEqual(refusedOrigin);
  });
});

describe('the log', () => {
  const warned = ({ logged }: TestServer) =>
    logged.filter(({ level }) => level === 'warn').map(({ fields, message }) => [fields.origin, message]);
  const message = 'pages of this origin are refused; add it to the setting corsOrigins to let them call';

  test('names a refused origin once, with the setting that lets it in', async () => {
    const server = await startServer(routes);
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    for (const method of ['GET', 'POST', 'OPTIONS', 'POST']) await call(server.port, headers, method);
    await call(server.port, { origin: `http://127.0.0.1:${server.port}` });
    await call(server.port, { origin: 'http://localhost:3000' });
    expect(warned(server)).toEqual([['https://evil.example', message]]);
  });

  test('shows no more of it than fits on a line, and nothing that changes the line', async () => {
    const server = await startServer(routes);
    await call(server.port, { origin: `https://a\u0085b${'x'.repeat(5_000)}` });
    const [[origin] = []] = warned(server);
    expect(origin).toMatch(/^https:\/\/a\\u0085bx+$/);
    expect((origin as string).length).toBeLessThan(300);
  });
});
