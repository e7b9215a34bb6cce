import { expect, test } from 'vitest';
import { rawClient, startServer } from '../../../test/support/clients/http-server.js';
import { defineRoute, type HttpMethod } from './route.js';

const routes = (
  [
    ['GET', '/'],
    ['GET', '/items'],
    ['POST', '/items'],
    ['GET', '/items/special'],
    ['GET', '/items/:id'],
    ['DELETE', '/items/:id'],
    ['GET', '/items/:id/parts/:part'],
    ['POST', '/items/:id::close'],
    ['GET', '/other'],
  ] satisfies [HttpMethod, string][]
).map(([method, path]) =>
  defineRoute({
    method,
    path,
    operationId: `${method} ${path}`,
    public: true,
    tag: 'Test',
    summary: 'Says what was found',
    responses: {},
    handler: (_services, { requestId, ...request }) => ({
      found: `${method} ${path}`,
      params: request.params,
      known: requestId === 'r',
    }),
  }),
);

const targets = [
  'GET /',
  'GET /items',
  'GET /items/',
  'GET /items?a=1',
  'GET /items#part',
  'GET /Items',
  'GET //items',
  'GET /%69tems',
  'GET /%69tems/special',
  'GET /items%2Fspecial',
  'GET /items/special',
  'GET /items/specials',
  'GET /items/a%2Fb',
  'GET /items/%C3%A4%20%2B',
  'GET /items/%zz',
  'GET /nowhere/%zz',
  'PUT /items/%zz',
  'PATCH /items/%zz',
  `GET /items/${'x'.repeat(1_024)}`,
  `GET /items/${'x'.repeat(1_025)}`,
  'GET /items/a/parts/b',
  'GET /items/a/parts',
  'GET /items//parts/b',
  'POST /items/a:close',
  'GET /items/a:close',
  'POST /items/a',
  'POST /other',
  'HEAD /items',
  'OPTIONS /items',
  'PROPFIND /items',
  'DELETE /nowhere',
  'GET /items;a=1',
];

test('finds what fastify finds, with and without custom routes', async () => {
  const own = await startServer(routes);
  const fastify = await startServer(routes, { customRoutes: () => {} });
  for (const target of targets) {
    const answers = await Promise.all([own, fastify].map(({ port }) => answerTo(port, target)));
    expect(answers[0], target).toBe(answers[1]);
    expect(answers[0], target).toMatch(/^HTTP\/1\.1 (200|400|404|405|414) /);
  }
});

test('a connection that is still in use while the service stops is closed after its response', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = defineRoute({
    method: 'GET',
    path: '/slow',
    operationId: 'slow',
    public: true,
    tag: 'Test',
    summary: 'Waits',
    responses: {},
    handler: () => released.then(() => ({})),
  });
  const { server, port } = await startServer([slow, ...routes]);
  const client = rawClient(port);
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
  client.socket.write(request('/slow'));
  await new Promise((resolve) => server.server.once('request', resolve));
  const closed = server.close({ graceMs: 60_000 });
  client.socket.write(request('/items'));
  await new Promise((resolve) => server.server.once('request', resolve));
  release();
  expect(await client.closed()).toMatch(/connection: close/i);
  await closed;
});

async function answerTo(port: number, target: string): Promise<string> {
  const client = rawClient(port);
  client.socket.write(
    `${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-request-id: r\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
  );
  const answer = await client.closed();
  return answer.replace(/^date: .*\r\n/im, '');
}
