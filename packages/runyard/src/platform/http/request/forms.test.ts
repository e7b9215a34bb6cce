import { expect, test } from 'vitest';
import { z } from 'zod';
import { rawClient, startServer } from '../../../../test/support/clients/http-server.js';
import { defineRoute } from '../route.js';
import { formBoolean, jsonObjectField, uploadedFiles } from './fields.js';

const form = defineRoute({
  method: 'POST',
  path: '/form',
  operationId: 'form',
  public: true,
  tag: 'Test',
  summary: 'x',
  accepts: 'form',
  body: z
    .object({
      message: z.string(),
      stream: formBoolean().default(true),
      session_state: jsonObjectField().optional(),
      files: uploadedFiles().optional(),
    })
    .catchall(z.unknown()),
  responses: {},
  handler: (_services, { body: { files, ...body } }) => ({
    ...body,
    files: files?.map((file) => [file.filename, file.mimeType, Buffer.from(file.bytes).toString()]),
  }),
});

const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' };

async function send(url: string, body?: RequestInit['body'], headers?: Record<string, string>) {
  const response = await fetch(`${url}/form`, { method: 'POST', body, headers });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown> & { detail: { loc: unknown; type: string }[] },
  };
}

test('both content types mean the same', async () => {
  const { url } = await startServer([form]);
  const expected = { message: 'Grüße & mehr+ 👋', stream: false, session_state: { a: 1 }, extra: 'E!' };
  const fields = { message: 'Grüße & mehr+ 👋', stream: 'no', session_state: '{"a":1}', extra: 'E!' };
  expect((await send(url, new URLSearchParams(fields))).body).toEqual(expected);
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  expect((await send(url, data)).body).toEqual(expected);
});

test('files come with their names and types', async () => {
  const { url } = await startServer([form]);
  const data = new FormData();
  data.append('message', 'x');
  data.append('files', new File(['one'], 'a b.txt', { type: 'text/plain' }));
  data.append('files', new File(['zwei ü'], 'ü.md', { type: 'text/markdown' }));
  expect((await send(url, data)).body.files).toEqual([
    ['a b.txt', 'text/plain', 'one'],
    ['ü.md', 'text/markdown', 'zwei ü'],
  ]);
});

test('empty means absent, and of several the last wins', async () => {
  const { url } = await startServer([form]);
  expect((await send(url, 'message=a&message=b&stream=', urlencoded)).body).toEqual({
    message: 'b',
    stream: true,
  });
  for (const body of ['message=', 'message=a&message=', 'message']) {
    const { status, body: answer } = await send(url, body, urlencoded);
    expect([status, answer.detail]).toEqual([
      422,
      [{ type: 'missing', loc: ['body', 'message'], msg: 'Field required', input: null }],
    ]);
  }
});

test('odd percent signs and names of object internals do no harm', async () => {
  const { url } = await startServer([form]);
  const { status, body } = await send(
    url,
    'message=100%&x=%zz&__proto__=a&constructor=b&toString=c',
    urlencoded,
  );
  expect(status).toBe(200);
  expect(body.message).toBe('100%');
  expect(({} as Record<string, unknown>).a).toBeUndefined();
});

test('other content types are 415 and the accepted ones are named', async () => {
  const { url } = await startServer([form]);
  for (const type of ['application/xml', 'text/plain;charset=UTF-8', 'nonsense', '']) {
    const { status, body } = await send(url, '{"message":"x"}', { 'content-type': type });
    expect([type, status]).toEqual([type, 415]);
    expect(body).toMatchObject({ error_code: 'unsupported_media_type' });
    expect(body.detail).toContain(
      'multipart/form-data or application/x-www-form-urlencoded or application/json',
    );
  }
});

test('JSON that is sent as a form is 422, and the header that is missing is named', async () => {
  const { url } = await startServer([form]);
  const { status, body } = await send(url, ' {"message": "a&b=c"}', urlencoded);
  expect([status, body.detail[0]]).toEqual([
    422,
    expect.objectContaining({
      loc: ['body'],
      msg: expect.stringContaining('Content-Type: application/json'),
    }),
  ]);
  // a field may have any name
  expect(await send(url, '{x=1&message=hi', urlencoded)).toMatchObject({ status: 200 });
});

test('no content type and no body is an empty form', async () => {
  const { url } = await startServer([form]);
  const { status, body } = await send(url);
  expect([status, body.detail[0]?.type]).toEqual([422, 'missing']);
});

test('a text called files and a file called message are 422', async () => {
  const { url } = await startServer([form]);
  const text = await send(url, 'message=x&files=y', urlencoded);
  expect([text.status, text.body.detail[0]]).toEqual([
    422,
    expect.objectContaining({ loc: ['body', 'files', 0] }),
  ]);
  const data = new FormData();
  data.append('message', new File(['x'], 'x.txt'));
  const file = await send(url, data);
  expect([file.status, file.body.detail[0]]).toEqual([
    422,
    expect.objectContaining({ type: 'string_type', loc: ['body', 'message'] }),
  ]);
});

test('malformed multipart is 422, at once', async () => {
  const { url } = await startServer([form]);
  for (const [type, body] of [
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=B', '--B\r\nContent-Disposition: form-data; name="message"\r\n\r\ncut'],
  ]) {
    const answer = await send(url, body, { 'content-type': type as string });
    expect([answer.status, answer.body.detail[0]]).toEqual([
      422,
      expect.objectContaining({ type: 'value_error', loc: ['body'] }),
    ]);
  }
});

test('a compressed body is refused by name', async () => {
  const { url } = await startServer([form]);
  const { status, body } = await send(url, 'message=x', { ...urlencoded, 'content-encoding': 'gzip' });
  expect([status, String(body.detail)]).toEqual([415, expect.stringContaining('gzip')]);
});

test('multipart may be cut anywhere on its way', async () => {
  const { port } = await startServer([form]);
  const body = Buffer.from(
    '--B\r\nContent-Disposition: form-data; name="message"\r\n\r\nä\r\n--B\r\nContent-Disposition: form-data; name="files"; filename="f.txt"\r\nContent-Type: text/plain\r\n\r\n\r\n-é\r\n--B--\r\n',
  );
  const head = `POST /form HTTP/1.1\r\nhost: localhost\r\ncontent-type: multipart/form-data; boundary=B\r\ncontent-length: ${body.length}\r\n\r\n`;
  const expected = '{"message":"ä","stream":true,"files":[["f.txt","text/plain","\\r\\n-é"]]}';
  const client = rawClient(port);
  client.socket.setNoDelay(true);
  for (let cut = 1; cut < body.length; cut++) {
    client.socket.write(head);
    client.socket.write(body.subarray(0, cut));
    await new Promise((resolve) => setImmediate(resolve));
    client.socket.write(body.subarray(cut));
    await client.until((text) => text.split(expected).length === cut + 1);
  }
});

test('chunked bodies of single bytes', async () => {
  const { port } = await startServer([form]);
  const client = rawClient(port);
  const chunks = [...'message=hello'].map((letter) => `1\r\n${letter}\r\n`).join('');
  client.socket.write(
    'POST /form HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-type: application/x-www-form-urlencoded\r\n\r\n',
  );
  client.socket.write(`${chunks}0\r\n\r\n`);
  expect(await client.until((text) => text.includes('}'))).toContain('{"message":"hello","stream":true}');
});
