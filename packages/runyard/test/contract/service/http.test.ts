import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Answer, TestService } from '../../support/service.js';

const book = new ScriptBook();
let service: TestService;

beforeAll(async () => {
  service = await TestService.start({
    agents: [agent({ id: 'a', model: book.model })],
    corsOrigins: ['https://app.example.com'],
    maxBodyBytes: 2048,
    maxFields: 30,
  });
});
afterAll(() => service.stop());

function expectProblem(
  { status, body, headers }: Answer,
  expected: { status: number; code: string; detail: unknown },
) {
  expect(status).toBe(expected.status);
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(body).toEqual({
    detail: expected.detail,
    error_code: expected.code,
    request_id: headers.get('x-request-id'),
  });
}

describe('errors', () => {
  test('of paths that there are not', async () => {
    for (const path of [
      '/nowhere',
      '/agents/a/nothing',
      '/Agents',
      '//',
      '//agents',
      '/agents/a/runs/x/y/z',
    ]) {
      expectProblem(await service.get(path), { status: 404, code: 'not_found', detail: 'Not Found' });
    }
  });

  test('of methods that a path does not have name those that it has', async () => {
    for (const [method, path, allow] of [
      ['DELETE', '/agents', 'GET'],
      ['PUT', '/agents/a/runs', 'GET, POST'],
      ['POST', '/health', 'GET'],
      ['PATCH', '/agents/a/runs/x', 'GET'],
      ['OPTIONS', '/agents', 'GET'],
      ['HEAD', '/agents', 'GET'],
    ]) {
      const answer = await service.call(method!, path!);
      expect(answer.status, `${method} ${path}`).toBe(405);
      expect(answer.headers.get('allow')).toBe(allow);
      if (method === 'HEAD') expect(answer.text).toBe('');
      else
        expect(JSON.parse(answer.text)).toMatchObject({
          detail: 'Method Not Allowed',
          error_code: 'method_not_allowed',
        });
    }
  });

  test('of bodies in another content type name those that are accepted', async () => {
    for (const type of ['application/ld+json', 'text/plain', 'application/xml']) {
      const answer = await service.call('POST', '/agents/a/runs', {
        body: '{"message":"hi"}',
        headers: { 'content-type': type },
      });
      expectProblem(answer, {
        status: 415,
        code: 'unsupported_media_type',
        detail: expect.stringContaining(type),
      });
      expect(answer.body.detail).toContain('multipart/form-data');
      expect(answer.body.detail).toContain('application/x-www-form-urlencoded');
      expect(answer.body.detail).toContain('application/json');
    }
  });

  test('of bodies that are too large name the bound and its setting', async () => {
    const detail = expect.stringMatching(/2 KiB.*maxBodyBytes/);
    const large = 'x'.repeat(3000);
    const urlencoded = await service.run('a', { message: large }, { encoding: 'urlencoded' });
    expectProblem(urlencoded, { status: 413, code: 'payload_too_large', detail });
    expectProblem(await service.run('a', { message: large }), {
      status: 413,
      code: 'payload_too_large',
      detail,
    });
    const fields = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`f${index}`, 'x']));
    for (const encoding of ['multipart', 'urlencoded'] as const) {
      const many = await service.run('a', { message: 'x', ...fields }, { encoding });
      expectProblem(many, {
        status: 413,
        code: 'payload_too_large',
        detail: expect.stringMatching(/30.*maxFields/),
      });
    }
  });

  test('of bodies that are too large and of no announced length come too', async () => {
    const chunks = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('message='));
        for (let index = 0; index < 10; index += 1)
          controller.enqueue(new TextEncoder().encode('x'.repeat(500)));
        controller.close();
      },
    });
    const answer = await service.call('POST', '/agents/a/runs', {
      body: chunks,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      duplex: 'half',
    } as RequestInit);
    expect(answer.status).toBe(413);
  });

  test('of invalid multipart bodies say so', async () => {
    for (const [type, body] of [
      ['multipart/form-data', 'x'],
      ['multipart/form-data; boundary=b', 'no boundary here'],
      ['multipart/form-data; boundary=b', '--b\r\ncontent-disposition: form-data; name="message"\r\n\r\nhi'],
    ]) {
      const answer = await service.call('POST', '/agents/a/runs', {
        body,
        headers: { 'content-type': type! },
      });
      expect(answer.status, body).toBeGreaterThanOrEqual(400);
      expect(answer.status, body).toBeLessThan(500);
    }
  });

  test('of invalid addresses', async () => {
    const answer = await service.get('/agents/%E0%A4%A');
    expect(answer.status).toBe(400);
    expect(answer.body.error_code).toBe('bad_url');
  });

  test('never end the service: anything that is not HTTP gets a 400', async () => {
    const text = await speak('NONSENSE\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect((await service.get('/health')).status).toBe(200);
  });
});

describe('paths', () => {
  test('mean the same with any number of slashes at the end', async () => {
    const { body } = await service.run('a', { message: 'hi' });
    for (const path of ['/agents', '/agents/a', '/health', `/agents/a/runs/${body.run_id}`, '/config']) {
      const plain = await service.get(path);
      for (const slashes of ['/', '///']) {
        const answer = await service.get(path + slashes);
        expect(answer.status, path + slashes).toBe(200);
        expect(answer.body).toEqual(plain.body);
      }
    }
    const posted = await service.call('POST', '/agents/a/runs/', {
      body: new URLSearchParams({ message: 'hi', stream: 'false' }),
    });
    expect(posted.status).toBe(200);
    const listed = await service.get('/agents/a/runs//?limit=1');
    expect(listed.body).toHaveLength(1);
  });
});

describe('request ids', () => {
  test('are given back when they are sane, and made otherwise', async () => {
    const own = await service.get('/health', { 'x-request-id': 'trace-42' });
    expect(own.headers.get('x-request-id')).toBe('trace-42');
    const refused = await service.get('/nowhere', { 'x-request-id': 'trace-43' });
    expect(refused.body.request_id).toBe('trace-43');
    for (const bad of ['x'.repeat(500), 'with blanks and "quotes"']) {
      const made = (await service.get('/health', { 'x-request-id': bad })).headers.get('x-request-id');
      expect(made).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('are unique and in the log', async () => {
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => (await service.get('/agents')).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).toBe(5);
    const logged = service.logged.map(({ fields }) => fields.request_id);
    for (const id of ids) expect(logged).toContain(id);
  });

  test('are in a log that holds nothing of the query, the headers or the form', async () => {
    await service.get('/agents?token=verysecret', { authorization: 'Bearer verysecret' });
    await service.run('a', { message: 'verysecret', metadata: { password: 'verysecret' } });
    expect(JSON.stringify(service.logged)).not.toContain('verysecret');
  });
});

describe('pages of other origins', () => {
  const preflight = (origin: string) =>
    service.call('OPTIONS', '/agents/a/runs', {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, x-anything',
      },
    });

  test('may ask before they call, if they are known', async () => {
    const { status, text, headers } = await preflight('https://app.example.com');
    expect(status).toBe(200);
    expect(text).toBe('OK');
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(headers.get('access-control-allow-credentials')).toBe('true');
    expect(headers.get('access-control-max-age')).toBe('600');
    expect(headers.get('access-control-allow-methods')).toBe(
      'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY',
    );
    expect(headers.get('access-control-allow-headers')).toBe('authorization, x-anything');
    expect(headers.get('vary')).toContain('Origin');
  });

  test('are refused otherwise', async () => {
    for (const origin of ['https://evil.example.com', 'http://localhost:3000', 'null']) {
      const { status, text, headers } = await preflight(origin);
      expect(status).toBe(400);
      expect(text).toBe('Disallowed CORS origin');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test('can read every answer, streams and refusals too, if they are known', async () => {
    const origin = 'https://app.example.com';
    const stream = await service.stream('a', { message: 'hi' }, { headers: { origin } });
    const answers = [
      (await service.get('/agents', { origin })).headers,
      (await service.get('/nowhere', { origin })).headers,
      (await service.run('a', {}, { headers: { origin } })).headers,
      (await stream.end()).response.headers,
    ];
    for (const headers of answers) {
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('access-control-allow-credentials')).toBe('true');
      expect(headers.get('access-control-expose-headers')).toBe('*');
      expect(headers.get('vary')).toContain('Origin');
    }
    const foreign = await service.get('/agents', { origin: 'https://evil.example.com' });
    expect(foreign.status).toBe(200);
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
  });
});

/** Sends a text on a bare connection and returns all that comes back. */
function speak(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let heard = '';
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
    });
    socket.on('close', () => resolve(heard));
    socket.on('error', reject);
    socket.write(text);
  });
}
