import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { startServer } from '../../../test/support/clients/http-server.js';
import type { NodeHandler } from './handler.js';
import { defineRoute } from './route.js';

const facts = { method: 'GET', public: true, tag: 'Test', summary: 'x', responses: {} } as const;
const hello = defineRoute({
  ...facts,
  path: '/hello',
  operationId: 'hello',
  handler: () => ({ hello: 'there' }),
});

async function mounted(handler: NodeHandler, work: (url: string) => Promise<void>): Promise<void> {
  const host = createServer((request, response) => {
    if (request.url === '/other') response.end('theirs');
    else handler(request, response);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(host.address() as AddressInfo).port}`);
  } finally {
    host.closeAllConnections();
    await new Promise((resolve) => host.close(resolve));
  }
}

test('the application serves inside another server, with and without a prefix', async () => {
  const { server } = await startServer([hello]);
  await mounted(server.handler(), async (url) => {
    expect(await (await fetch(`${url}/hello/`)).json()).toEqual({ hello: 'there' });
    expect(await (await fetch(`${url}/other`)).text()).toBe('theirs');
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  });
  await mounted(server.handler({ basePath: '/agents-api/' }), async (url) => {
    expect(await (await fetch(`${url}/agents-api/hello?x=1`)).json()).toEqual({ hello: 'there' });
    const description = (await (await fetch(`${url}/agents-api/openapi.json`)).json()) as {
      servers: unknown;
    };
    expect(description.servers).toEqual([{ url: '/agents-api' }]);
    expect(await (await fetch(`${url}/agents-api/docs`)).text()).toContain(
      '/agents-api/docs/assets/swagger-ui.css',
    );
    expect((await fetch(`${url}/agents-apihello`)).status).toBe(404);
  });
});

test('closing waits for open requests, up to the grace it is given', async () => {
  let finish: (value: unknown) => void = () => {};
  const onStart = vi.fn();
  const slow = defineRoute({
    ...facts,
    path: '/slow',
    operationId: 'slow',
    handler: () => {
      onStart();
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
  });
  const { server, url } = await startServer([slow]);
  const answer = fetch(`${url}/slow`);
  await vi.waitFor(() => expect(onStart).toHaveBeenCalled());
  const closed = server.close({ graceMs: 10_000 });
  finish({ done: true });
  expect(await (await answer).json()).toEqual({ done: true });
  await closed;
  await expect(fetch(`${url}/slow`)).rejects.toThrow();
});

test('what does not end in time is cut off', async () => {
  const stuck = defineRoute({
    ...facts,
    path: '/stuck',
    operationId: 'stuck',
    handler: () => new Promise(() => {}),
  });
  const onReceive = vi.fn();
  const { server, url } = await startServer([stuck]);
  server.server.on('request', onReceive);
  const answer = fetch(`${url}/stuck`);
  await vi.waitFor(() => expect(onReceive).toHaveBeenCalled());
  const failed = expect(answer).rejects.toThrow();
  await server.close({ graceMs: 10 });
  await failed;
});
