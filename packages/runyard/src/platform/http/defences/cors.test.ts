import { expect, test } from 'vitest';
import { startServer } from '../../../../test/support/clients/http-server.js';
import { eventStream } from '../response/results.js';
import { defineRoute } from '../route.js';

const route = defineRoute({
  method: 'GET',
  path: '/x',
  operationId: 'x',
  public: true,
  tag: 'Test',
  summary: 'x',
  responses: {},
  handler: () => ({}),
});

const stream = defineRoute({
  method: 'GET',
  path: '/stream',
  operationId: 'stream',
  public: true,
  tag: 'Test',
  summary: 'stream',
  responses: {},
  handler: () => eventStream({ next: async () => null, close() {} }),
});

const preflight = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization, x-a',
};

test('a preflight of an allowed origin', async () => {
  const { url } = await startServer([route], { settings: { corsOrigins: ['https://a.example', '*'] } });
  const response = await fetch(`${url}/x`, {
    method: 'OPTIONS',
    headers: { origin: 'https://a.example', ...preflight },
  });
  expect([response.status, await response.text()]).toEqual([200, 'OK']);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': 'https://a.example',
    'access-control-allow-methods': 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY',
    'access-control-allow-headers': 'authorization, x-a',
    'access-control-allow-credentials': 'true',
    'access-control-max-age': '600',
    vary: expect.stringContaining('Origin'),
  });
});

test('a preflight of another origin is refused, also with a wildcard in the list', async () => {
  const { url } = await startServer([route], { settings: { corsOrigins: ['*'] } });
  for (const origin of ['https://evil.example', '*', 'http://localhost:3000']) {
    const response = await fetch(`${url}/x`, { method: 'OPTIONS', headers: { origin, ...preflight } });
    expect([response.status, await response.text()]).toEqual([400, 'Disallowed CORS origin']);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  }
});

test('actual requests: allowed origins may read the answer, others are served without permission to read it', async () => {
  const { url } = await startServer([route, stream]);
  for (const path of ['/x', '/nowhere', '/stream']) {
    const allowed = await fetch(url + path, { headers: { origin: 'http://localhost:3000' } });
    await allowed.text();
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      'access-control-allow-origin': 'http://localhost:3000',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': '*',
      vary: 'Origin',
    });
  }
  const withCookie = { origin: 'http://localhost:3000', cookie: 'a=b' };
  const exposed = (await fetch(`${url}/x`, { headers: withCookie })).headers.get(
    'access-control-expose-headers',
  );
  expect(exposed?.split(', ')).toEqual(expect.arrayContaining(['*', 'x-run-id', 'x-runyard-hint']));
  const other = await fetch(`${url}/x`, { headers: { origin: 'https://other.example' } });
  expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([200, null]);
});

test('custom routes are covered too', async () => {
  const { url } = await startServer([], { customRoutes: (app) => void app.get('/mine', async () => 'mine') });
  const response = await fetch(`${url}/mine`, { headers: { origin: 'http://localhost:3000' } });
  expect(response.headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
});
