import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rawClient, startServer } from '../../../../test/support/clients/http-server.js';
import { gate, until } from '../../../../test/support/until.js';
import { jsonPieces } from '../response/results.js';
import { defineRoute } from '../route.js';

const facts = { scope: null, tag: 'T', summary: 't', responses: {} } as const;
const echo = defineRoute({
  ...facts,
  method: 'GET',
  path: '/echo/:word',
  operationId: 'echo',
  params: z.object({ word: z.string() }),
  query: z.object({ a: z.string().optional() }),
  handler: (_services, { params, query }) => ({ ...params, ...query }),
});
const form = defineRoute({
  ...facts,
  method: 'POST',
  path: '/form',
  operationId: 'form',
  accepts: 'form',
  body: z.object({ message: z.string().optional() }),
  handler: (_services, { body }) => ({ length: body.message?.length }),
});
const json = defineRoute({
  ...facts,
  method: 'POST',
  path: '/json',
  operationId: 'json',
  body: z.unknown(),
  handler: (_services, { body }) => ({ is: typeof body }),
});

/** The bodies of all answers on a connection. */
function bodiesIn(text: string): unknown[] {
  return [...text.matchAll(/^\{.*\}$/gm)].map(([body]) => JSON.parse(body) as unknown);
}

async function answerTo(
  port: number,
  request: string,
): Promise<{ status: number; text: string; body: unknown }> {
  const client = rawClient(port);
  client.socket.write(request);
  const text = await client.closed();
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text, body: bodiesIn(text).at(-1) };
}

describe('an address', () => {
  test('that is too long is refused with the bound', async () => {
    const { url } = await startServer([echo]);
    expect((await fetch(`${url}/echo/x?b=${'x'.repeat(16_000)}`)).status).toBe(200);
    const long = await fetch(`${url}/echo/x?b=${'x'.repeat(17_000)}`);
    expect([long.status, await long.json()]).toMatchObject([
      414,
      {
        detail: 'The address of the request is longer than the limit of 16384 characters.',
        error_code: 'url_too_long',
      },
    ]);
  });

  test('with too many parameters is refused with the bound', async () => {
    const { url } = await startServer([echo]);
    expect((await fetch(`${url}/echo/x?${'b=1&'.repeat(199)}a=last`)).status).toBe(200);
    const many = await fetch(`${url}/echo/x?${'b=1&'.repeat(200)}a=last`);
    expect([many.status, await many.json()]).toMatchObject([
      414,
      { detail: 'The address of the request has more than the limit of 200 query parameters.' },
    ]);
  });

  test('in the form for proxies means its path', async () => {
    const { port, logged } = await startServer([echo]);
    const asked = (target: string) =>
      answerTo(port, `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    expect((await asked('http://evil.example/echo/x/?a=1')).body).toEqual({ word: 'x', a: '1' });
    expect((await asked('http://evil.example')).status).toBe(404);
    expect((await asked('HTTP://evil.example?a=http://x/echo/y')).status).toBe(404);
    await until('all are logged', () => logged.length === 3);
    expect(logged.map(({ fields }) => fields.path)).toEqual(['/echo/x', '/', '/']);
  });
});

describe('headers', () => {
  test('that are too large are refused with the bound', async () => {
    const { url } = await startServer([echo], { settings: { maxHeaderBytes: 8_192 } });
    const large = await fetch(`${url}/echo/x`, { headers: { 'x-large': 'x'.repeat(9_000) } });
    expect([large.status, await large.json()]).toMatchObject([
      431,
      {
        detail: 'The headers of the request are larger than the limit of 8 KiB (setting maxHeaderBytes).',
        error_code: 'headers_too_large',
      },
    ]);
  });

  test('that are too many are refused, and none is dropped silently', async () => {
    const { port } = await startServer([echo]);
    const asked = (count: number) => {
      const fields = Array.from({ length: count - 2 }, (_, at) => `x-${at}: 1\r\n`).join('');
      return answerTo(port, `GET /echo/x HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${fields}\r\n`);
    };
    expect((await asked(200)).status).toBe(200);
    for (const count of [201, 1_500]) {
      expect([count, (await asked(count)).body]).toMatchObject([
        count,
        { detail: 'The headers of the request are larger than the limit of 200 fields.' },
      ]);
    }
  });

  test('have room for the longest token that is checked', async () => {
    const { url } = await startServer([echo]);
    const headers = { authorization: `Bearer ${'x'.repeat(16_384)}` };
    expect((await fetch(`${url}/echo/x`, { headers })).status).toBe(200);
  });
});

describe('a body', () => {
  test('with too many values is refused with the bound', async () => {
    const { url } = await startServer([json]);
    const post = (body: string) =>
      fetch(`${url}/json`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    expect((await post(`[${'0,'.repeat(99_998)}0]`)).status).toBe(200);
    for (const body of [`[${'0,'.repeat(100_000)}0]`, `{"a":[${'{},'.repeat(100_000)}{}]}`]) {
      const refused = await post(body);
      expect([refused.status, await refused.json()]).toMatchObject([
        422,
        { detail: [{ type: 'json_invalid', ctx: { error: 'more than 100000 values' } }] },
      ]);
    }
  });

  test('with a field whose name is too long is refused with the bound', async () => {
    const { url } = await startServer([form]);
    const name = 'n'.repeat(256);
    const multipart = new FormData();
    multipart.append(name, 'x');
    for (const body of [new URLSearchParams({ [name]: 'x' }), multipart]) {
      const refused = await fetch(`${url}/form`, { method: 'POST', body });
      expect([refused.status, await refused.json()]).toMatchObject([
        413,
        { detail: 'The name of a form field is larger than the limit of 255 characters.' },
      ]);
    }
  });

  test('that trickles in is given up, and the client gets an error', async () => {
    const { port } = await startServer([form], { settings: { slowClientMs: 100 } });
    const client = rawClient(port);
    client.socket.write(
      'POST /form HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 100000\r\n\r\n',
    );
    const drip = setInterval(() => client.socket.write('a'), 20);
    const text = await client.closed();
    clearInterval(drip);
    expect(text).toMatch(/^HTTP\/1\.1 408 .*connection: close/s);
    expect(bodiesIn(text)).toMatchObject([
      {
        detail:
          'The request arrives too slowly: its body must bring at least 16 KiB in 100 ms (setting slowClientMs).',
        error_code: 'request_timeout',
      },
    ]);
  });

  test('that is long but comes steadily is taken', async () => {
    const { port } = await startServer([form], { settings: { slowClientMs: 200 } });
    const client = rawClient(port);
    const pieces = 10;
    const piece = 'a'.repeat(40_000);
    client.socket.write(
      `POST /form HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${8 + pieces * piece.length}\r\n\r\nmessage=`,
    );
    for (let at = 0; at < pieces; at++) {
      client.socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect(bodiesIn(await client.closed())).toEqual([{ length: pieces * piece.length }]);
  });
});

test('a request that never ends is answered with 408', async () => {
  const { port } = await startServer([echo], { settings: { requestTimeoutMs: 1_000 } });
  const silent = rawClient(port);
  const slow = rawClient(port);
  slow.socket.write('GET /echo/x HTTP/1.1\r\nhost:');
  for (const client of [silent, slow]) {
    const text = await client.closed();
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(bodiesIn(text)).toMatchObject([{ error_code: 'request_timeout' }]);
  }
});

test('a connection without requests is closed', async () => {
  const { port } = await startServer([echo], { settings: { keepAliveMs: 1_000 } });
  const client = rawClient(port);
  client.socket.write('GET /echo/x HTTP/1.1\r\nhost: localhost\r\n\r\n');
  expect(bodiesIn(await client.closed())).toEqual([{ word: 'x' }]);
});

test('connections beyond the limit are refused, which is logged once', async () => {
  const { port, logged, url } = await startServer([echo], { settings: { maxConnections: 3 } });
  const held = [rawClient(port), rawClient(port), rawClient(port)];
  for (const client of held) {
    client.socket.write('GET /echo/x HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await client.until((text) => text.includes('"word"'));
  }
  expect(await rawClient(port).closed()).toBe('');
  expect(await rawClient(port).closed()).toBe('');
  expect(logged.filter(({ level }) => level === 'warn')).toMatchObject([{ fields: { max_connections: 3 } }]);
  held[0]!.socket.destroy();
  await until('there is room again', async () => (await fetch(`${url}/echo/x`).catch(() => undefined))?.ok);
});

test('a connection that keeps sending requests without reading responses is closed', async () => {
  const open = gate();
  let asked = 0;
  const slow = defineRoute({
    ...facts,
    method: 'GET',
    path: '/slow',
    operationId: 'slow',
    handler: async () => {
      asked += 1;
      await open.opened;
      return {};
    },
  });
  const { port, url } = await startServer([slow, echo]);
  const client = rawClient(port);
  client.socket.write('GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(5_000));
  expect(await client.closed()).toBe('');
  expect(asked).toBeLessThanOrEqual(100);
  open.open();
  expect((await fetch(`${url}/echo/x`)).status).toBe(200);
});

test('a connection may send any number of requests one after the other', async () => {
  const { port } = await startServer([echo]);
  const client = rawClient(port);
  for (let round = 1; round <= 5; round++) {
    client.socket.write('GET /echo/x HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(60));
    await client.until((text) => text.split('"word"').length - 1 === round * 60);
  }
});

describe('a client that does not take its answer', () => {
  const large = defineRoute({
    ...facts,
    method: 'GET',
    path: '/large',
    operationId: 'large',
    handler: () => ({ text: 'x'.repeat(30_000_000) }),
  });
  const endless = defineRoute({
    ...facts,
    method: 'GET',
    path: '/endless',
    operationId: 'endless',
    handler: () =>
      jsonPieces(
        (async function* () {
          for (;;) yield 'x'.repeat(70_000);
        })(),
      ),
  });

  test.each(['/large', '/endless'])('is cut off: %s', async (path) => {
    const { port, logged } = await startServer([large, endless], { settings: { slowClientMs: 200 } });
    const client = rawClient(port);
    client.socket.pause();
    client.socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await until('the answer is given up', () => logged.length > 0);
  });

  test('is not cut off while it takes some of it', async () => {
    const { port } = await startServer([large], { settings: { slowClientMs: 1_500 } });
    const client = rawClient(port);
    let size = 0;
    client.socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
    });
    client.socket.write('GET /large HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    for (let taken = 5_000_000; taken <= 25_000_000; taken += 5_000_000) {
      await until('the client has taken more', () => size >= taken);
      client.socket.pause();
      await new Promise((resolve) => setTimeout(resolve, 400));
      client.socket.resume();
    }
    expect((await client.closed()).length).toBeGreaterThan(30_000_000);
  });
});

describe('requests that two parties could read differently', () => {
  const smuggled = 'GET /echo/smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n';
  test.each([
    [
      'two lengths',
      `POST /json HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\ncontent-length: 5\r\n\r\n${smuggled}`,
    ],
    [
      'a length and chunks',
      `POST /json HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      'an unknown way to transfer',
      `POST /json HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      'a length with a sign',
      `POST /json HTTP/1.1\r\nhost: localhost\r\ncontent-length: +0\r\n\r\n${smuggled}`,
    ],
    [
      'a blank before the colon',
      `POST /json HTTP/1.1\r\nhost: localhost\r\ncontent-length : 0\r\n\r\n${smuggled}`,
    ],
    ['a folded header', `GET /echo/x HTTP/1.1\r\nhost: localhost\r\nx-a: 1\r\n 2\r\n\r\n${smuggled}`],
    [
      'a bare line feed in a value',
      `GET /echo/x HTTP/1.1\r\nhost: localhost\r\nx-a: 1\nx-b: 2\r\n\r\n${smuggled}`,
    ],
    ['U+0000 in a value', `GET /echo/x HTTP/1.1\r\nhost: localhost\r\nx-a: \u0000\r\n\r\n${smuggled}`],
    ['no host', `GET /echo/x HTTP/1.1\r\n\r\n${smuggled}`],
    ['a blank in the address', `GET /echo/x y HTTP/1.1\r\nhost: localhost\r\n\r\n${smuggled}`],
    ['no HTTP', 'EHLO mail\r\n\r\n'],
  ])('are refused, and the connection is closed: %s', async (_, bytes) => {
    const { port } = await startServer([echo, json]);
    const { status, text } = await answerTo(port, bytes);
    expect(status).toBe(400);
    expect(text).not.toContain('smuggled');
  });

  test('a method in a header or in the address counts for nothing', async () => {
    const { url } = await startServer([echo, json]);
    const overridden = await fetch(`${url}/echo/x?_method=DELETE`, {
      headers: { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' },
    });
    expect(await overridden.json()).toEqual({ word: 'x' });
  });

  test('an address in a header counts for nothing', async () => {
    const { url } = await startServer([echo]);
    const headers = { 'x-original-url': '/echo/y', 'x-rewrite-url': '/echo/y', 'x-forwarded-prefix': '/z' };
    expect(await (await fetch(`${url}/echo/x`, { headers })).json()).toEqual({ word: 'x' });
  });

  test('an unknown expectation is refused', async () => {
    const { port } = await startServer([json]);
    const { status } = await answerTo(
      port,
      'POST /json HTTP/1.1\r\nhost: localhost\r\nexpect: miracles\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}',
    );
    expect(status).toBe(417);
  });

  test('a second transfer encoding is refused', async () => {
    const { port } = await startServer([json]);
    const chunked = 'transfer-encoding: chunked\r\n';
    const { status } = await answerTo(
      port,
      `POST /json HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${chunked}${chunked}connection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    );
    expect(status).toBe(400);
  });

  test.each(['Host', 'Authorization', 'Content-Type', 'Origin', 'Sec-Fetch-Site', 'Content-Length'])(
    'a second %s header is refused, whatever it says',
    async (name) => {
      const { port } = await startServer([json]);
      const first = { Host: 'localhost', 'Content-Type': 'application/json', 'Content-Length': '2' };
      const values: Record<string, string> = {
        ...first,
        [name]: (first as Record<string, string>)[name] ?? 'x',
      };
      const fields = Object.entries(values).map(([field, value]) => `${field}: ${value}\r\n`);
      const again = `${name.toUpperCase()}: ${values[name]}\r\n`;
      const { status, body } = await answerTo(
        port,
        `POST /json HTTP/1.1\r\n${fields.join('')}${again}connection: close\r\n\r\n{}`,
      );
      expect(status).toBe(400);
      // two lengths are refused by Node, which says no more
      if (name !== 'Content-Length')
        expect(body).toMatchObject({
          error_code: 'repeated_header',
          detail: `The request has more than one ${name.toLowerCase()} header. Send it once.`,
        });
    },
  );
});
