import { expect, test } from 'vitest';
import { rawClient, startServer } from '../../../../test/support/clients/http-server.js';
import { until } from '../../../../test/support/until.js';
import { errors } from '../../../core/errors/errors.js';
import { defineRoute } from '../route.js';
import { jsonList, jsonPage } from './json-stream.js';
import { jsonPieces } from './results.js';

function listRoute(pieces: () => AsyncIterable<string>) {
  return defineRoute({
    method: 'GET',
    path: '/list',
    operationId: 'list',
    public: true,
    tag: 'Test',
    summary: 'x',
    responses: { 200: {} },
    handler: () => jsonPieces(pieces()),
  });
}

const text = 'x'.repeat(10_000);

async function* entries(count: number, made: number[] = [], failAt = Number.POSITIVE_INFINITY) {
  for (let index = 0; index < count; index += 1) {
    if (index === failAt) throw errors.notFound();
    made.push(index);
    yield { index, text, nothing: undefined };
  }
}

async function listOf(pieces: () => AsyncIterable<string>): Promise<Response> {
  const { url } = await startServer([listRoute(pieces)]);
  return fetch(`${url}/list`);
}

test.each([0, 1, 5, 100])('a list of %i entries arrives whole', async (count) => {
  const response = await listOf(() => jsonList(entries(count)));
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('x-request-id')).toBeTruthy();
  const expected = Array.from({ length: count }, (_, index) => ({ index, text }));
  expect(await response.json()).toEqual(expected);
});

test('a short list has its length', async () => {
  const response = await listOf(() => jsonList([{ a: 'ü' }]));
  expect(response.headers.get('content-length')).toBe('12');
  expect(await response.text()).toBe('[{"a":"ü"}]');
});

test('a page has its entries and where it stands', async () => {
  const response = await listOf(() => jsonPage(entries(50), { limit: 50, page: 2 }, 120));
  const { data, meta } = (await response.json()) as { data: unknown[]; meta: unknown };
  expect(data).toHaveLength(50);
  expect(meta).toEqual({ page: 2, limit: 50, total_pages: 3, total_count: 120, search_time_ms: 0 });
});

test('what fails at once is answered as any error, and what fails later is broken off', async () => {
  const early = await listOf(() => jsonList(entries(100, [], 2)));
  expect([early.status, await early.json()]).toEqual([404, expect.objectContaining({ detail: 'Not Found' })]);
  const late = await listOf(() => jsonList(entries(100, [], 50)));
  expect(late.status).toBe(200);
  await expect(late.text()).rejects.toThrow();
});

test('a client that does not read keeps the rest from being made, and one that leaves ends it', async () => {
  const made: number[] = [];
  let ended = false;
  async function* watched() {
    try {
      yield* entries(100_000, made);
    } finally {
      ended = true;
    }
  }
  const { port } = await startServer([listRoute(() => jsonList(watched()))]);
  const client = await rawClient(port);
  client.socket.pause();
  client.socket.write('GET /list HTTP/1.1\r\nhost: localhost\r\n\r\n');
  // what it made before the sockets were full is all that it makes
  let seen = -1;
  await until('it waits', async () => {
    const before = seen;
    seen = made.length;
    return seen > 0 && seen === before;
  });
  expect(made.length).toBeLessThan(100_000);
  client.socket.destroy();
  await until('it has ended', () => ended);
});
