import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { rawClient, startServer } from '../../../../test/support/clients/http-server.js';
import { defineRoute } from '../route.js';
import { uploadedFiles } from './fields.js';

const common = { method: 'POST', public: true, tag: 'Test', summary: 'x', responses: {} } as const;

const json = defineRoute({
  ...common,
  path: '/json',
  operationId: 'json',
  body: z.object({ text: z.string() }),
  handler: (_services, { body }) => ({ length: body.text.length }),
});

const optional = defineRoute({
  ...common,
  path: '/optional',
  operationId: 'optional',
  body: z.object({ text: z.string() }).optional(),
  handler: (_services, { body }) => ({ length: body?.text.length ?? null }),
});

const form = defineRoute({
  ...common,
  path: '/form',
  operationId: 'form',
  accepts: 'form',
  body: z.object({ message: z.string(), files: uploadedFiles().optional() }),
  handler: (_services, { body }) => ({
    length: body.message.length,
    files: body.files?.map(({ size }) => size),
  }),
});

const limits = { maxBodyBytes: 10_000, maxUploadBytes: 100_000, maxFiles: 2, maxFields: 3 };

async function post(url: string, body: RequestInit['body'], headers?: Record<string, string>) {
  const response = await fetch(url, { method: 'POST', body, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('JSON and forms within the limit pass, beyond it the bound is named', async () => {
  const { url } = await startServer([json, form], { settings: limits });
  const type = { 'content-type': 'application/json' };
  expect(await post(`${url}/json`, JSON.stringify({ text: 'x'.repeat(9000) }), type)).toEqual({
    status: 200,
    body: { length: 9000 },
  });
  const large = await post(`${url}/json`, JSON.stringify({ text: 'x'.repeat(10_000) }), type);
  expect(large).toMatchObject({
    status: 413,
    body: {
      detail: 'The request body is larger than the limit of 10000 bytes (setting maxBodyBytes).',
      error_code: 'payload_too_large',
    },
  });
  expect((await post(`${url}/form`, new URLSearchParams({ message: 'x'.repeat(10_000) }))).status).toBe(413);
});

test('files may be larger than texts, up to their own limit', async () => {
  const { url } = await startServer([form], { settings: limits });
  const upload = (size: number, count = 1, text = 'm') => {
    const data = new FormData();
    data.append('message', text);
    for (let n = 0; n < count; n++) data.append('files', new File(['x'.repeat(size)], `f${n}.txt`));
    return post(`${url}/form`, data);
  };
  expect(await upload(50_000)).toEqual({ status: 200, body: { length: 1, files: [50_000] } });
  expect(await upload(100_000)).toMatchObject({
    status: 413,
    body: { detail: expect.stringContaining('maxUploadBytes') },
  });
  expect(await upload(10, 3)).toMatchObject({
    status: 413,
    body: { detail: expect.stringContaining('maxFiles') },
  });
  expect(await upload(10, 1, 'x'.repeat(20_000))).toMatchObject({
    status: 413,
    body: { detail: expect.stringContaining('maxBodyBytes') },
  });
  const fields = await post(`${url}/form`, new URLSearchParams('message=1&a=1&b=1&c=1'));
  expect(fields).toMatchObject({
    status: 413,
    body: { detail: expect.stringContaining('limit of 3 (setting maxFields)') },
  });
});

test.each([
  ['keeps its connection', ''],
  ['closes it', 'connection: close\r\n'],
])('a client that sends everything before it reads and %s still gets the 413', async (_, connection) => {
  const { port } = await startServer([form], { settings: limits });
  const size = 20_000_000;
  const client = rawClient(port);
  client.socket.pause();
  const head = `POST /form HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${size}\r\n${connection}\r\n`;
  client.socket.write(head);
  await new Promise((resolve) => client.socket.write(Buffer.alloc(size, 'x'), resolve));
  client.socket.resume();
  expect(await client.until((text) => text.includes('}'))).toMatch(/^HTTP\/1\.1 413 [\s\S]*maxBodyBytes/);
});

test('a chunked body is cut off where it passes the limit', async () => {
  const { port } = await startServer([form], { settings: limits });
  const client = rawClient(port);
  client.socket.write(
    'POST /form HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-type: application/x-www-form-urlencoded\r\n\r\n',
  );
  const chunk = `${(4096).toString(16)}\r\n${'x'.repeat(4096)}\r\n`;
  for (let n = 0; n < 50; n++) client.socket.write(chunk);
  expect(await client.until((text) => text.includes('}'))).toMatch(/^HTTP\/1\.1 413 /);
});

test('a client that asks first is rejected before it sends, and accepted otherwise', async () => {
  const { port } = await startServer([form], { settings: limits });
  const ask = (length: number) => {
    const client = rawClient(port);
    client.socket.write(
      `POST /form HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${length}\r\n\r\n`,
    );
    return client;
  };
  expect(await ask(20_000).until((text) => text.includes('}'))).toMatch(/^HTTP\/1\.1 413 /);
  const allowed = ask(11);
  await allowed.until((text) => text.includes('HTTP/1.1 100 Continue'));
  allowed.socket.write('message=abc');
  expect(await allowed.until((text) => text.includes('}'))).toContain('{"length":3}');
});

test('curl shows the 413', async () => {
  const { url } = await startServer([form], { settings: limits });
  for (const extra of [[], ['-H', 'Expect: 100-continue'], ['-H', 'Transfer-Encoding: chunked']]) {
    const run = promisify(execFile)('curl', [
      '-sS',
      '-w',
      ' %{http_code}',
      ...extra,
      '--data-binary',
      '@-',
      `${url}/form`,
    ]);
    run.child.stdin?.on('error', () => {});
    run.child.stdin?.end(`message=${'x'.repeat(5_000_000)}`);
    expect((await run).stdout).toMatch(/payload_too_large.* 413$/);
  }
});

test('malformed, missing and mistyped JSON bodies', async () => {
  const { url } = await startServer([json]);
  const type = { 'content-type': 'application/json' };
  const detail = async (body: RequestInit['body'], headers?: Record<string, string>) => {
    const answer = await post(`${url}/json`, body, headers);
    expect(answer.status).toBe(422);
    return (answer.body.detail as unknown[])[0];
  };
  expect(await detail('{"text":}', type)).toEqual({
    type: 'json_invalid',
    loc: ['body', 8],
    msg: 'JSON decode error',
    input: {},
    ctx: { error: expect.any(String) },
  });
  expect(await detail(undefined)).toMatchObject({ type: 'missing', loc: ['body'], input: null });
  expect(await detail('[1]', type)).toMatchObject({ type: 'model_attributes_type', loc: ['body'] });
  expect(await detail(`{"text":${'['.repeat(500)}${']'.repeat(500)}}`, type)).toMatchObject({
    type: 'json_invalid',
    ctx: { error: 'nested deeper than 64 levels' },
  });
});

test('a client that hangs up in the middle of its body does no harm', async () => {
  const { url, port, logged } = await startServer([json]);
  const { socket } = rawClient(port);
  socket.write(
    'POST /json HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"te',
    () => socket.destroy(),
  );
  await vi.waitFor(() => expect(logged).toHaveLength(1));
  expect(logged[0]?.fields).toMatchObject({ status: null, client_gone: true });
  expect((await post(`${url}/json`, '{"text":"x"}', { 'content-type': 'application/json' })).status).toBe(
    200,
  );
});

describe('a route that takes JSON', () => {
  const bytes = new TextEncoder().encode('{"text":"x"}');

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.x+json',
  ])('takes it as %s', async (type) => {
    const { url } = await startServer([json]);
    expect((await post(`${url}/json`, bytes, { 'content-type': type })).status).toBe(200);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    undefined,
  ])('does not take it as %s, and says what to send', async (type) => {
    const { url } = await startServer([json]);
    const { status, body } = await post(
      `${url}/json`,
      bytes,
      type === undefined ? {} : { 'content-type': type },
    );
    const shown = type?.split(';')[0] ?? '(none)';
    expect([status, body]).toMatchObject([
      415,
      {
        error_code: 'unsupported_media_type',
        detail: `Content type ${shown} is not accepted here. Send application/json.`,
      },
    ]);
  });

  test('needs no type for a body that is empty, however its length is given', async () => {
    const { port } = await startServer([optional]);
    for (const length of ['content-length: 0', 'transfer-encoding: chunked']) {
      const client = rawClient(port);
      client.socket.write(
        `POST /optional HTTP/1.1\r\nhost: localhost\r\n${length}\r\nconnection: close\r\n\r\n`,
      );
      if (length.startsWith('transfer')) client.socket.write('0\r\n\r\n');
      expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});
