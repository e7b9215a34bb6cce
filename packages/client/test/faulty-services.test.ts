import { describe, expect, test } from 'vitest';
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  createClient,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
  RunyardError,
  UnavailableError,
} from '../src/index.js';
import { frame, respondWith, ScriptedService, sendJson, stream } from './support/scripted-service.js';

const html = { 'content-type': 'text/html; charset=utf-8' };
const frames = [frame(0, 'RunStarted'), frame(1, 'RunCompleted')];
const input = { message: 'Hello', run_id: 'r', session_id: 's' };

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    return expect.unreachable(`nothing was thrown: ${JSON.stringify(await work())}`);
  } catch (error) {
    return error;
  }
}

describe('responses that are not from the service', () => {
  test('a page instead of an answer says that the address is wrong', async () => {
    const service = await ScriptedService.start((_request, response) =>
      response.writeHead(200, html).end('<!doctype html><title>Log in</title>'),
    );
    const client = createClient({ baseUrl: service.url });
    for (const work of [
      () => client.agents.list(),
      () => client.agents.run('a', input),
      () => client.agents.follow('a', 'r').result(),
    ]) {
      const error = await thrownBy(work);
      expect(error).toBeInstanceOf(RunyardError);
      expect(error).toMatchObject({ message: expect.stringMatching(/text\/html.*Check baseUrl/) });
    }
    // nothing was repeated: it would not help
    expect(service.received).toHaveLength(3);
    // a route of your own may respond with a page
    expect(await client.request('GET', '/report')).toContain('Log in');
  });

  test('an error page of a proxy is an error of its status, without the page in its text', async () => {
    const service = await ScriptedService.start((_request, response, count) =>
      count < 3
        ? response.writeHead(502, html).end(`<html>${'.'.repeat(100_000)}</html>`)
        : sendJson(response, []),
    );
    const client = createClient({ baseUrl: service.url });
    const error = await thrownBy(() => client.agents.list({ retries: 0 }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 502, errorCode: 'unknown', message: '502 unknown: Bad Gateway' });
    expect(error).toMatchObject({ body: expect.stringContaining('<html>') });
    expect(await client.agents.list()).toEqual([]);
    expect(service.received).toHaveLength(3);
  });

  test.each([
    ['{"detail":[null,1,"x",{"loc":"here","msg":"wrong"}]}', undefined],
    ['{"detail":{"message":"wrong"},"error_code":7,"request_id":{}}', undefined],
    ['null', undefined],
    ['{"detail":"trunc', undefined],
    ['{"detail":[{"loc":["body","message"],"msg":"Field required"}]}', 'body.message: Field required'],
    ['{"detail":"Not like this"}', 'Not like this'],
    ['', 'Unprocessable Entity'],
  ])('the body %s of an error is read as far as it can be', async (body, detail = body) => {
    const service = await ScriptedService.start((_request, response) =>
      response.writeHead(422, { 'x-request-id': 'q1' }).end(body),
    );
    const error = await thrownBy(() => createClient({ baseUrl: service.url }).sessions.create({}));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ detail, errorCode: 'unknown', requestId: 'q1', status: 422 });
  });

  test.each([
    [400, InvalidRequestError],
    [401, AuthenticationError],
    [403, ForbiddenError],
    [404, NotFoundError],
    [409, ConflictError],
    [418, ApiError],
    [422, InvalidRequestError],
    [429, RateLimitError],
    [500, ApiError],
    [503, UnavailableError],
  ])('the status %i has its class', async (status, kind) => {
    const service = await ScriptedService.start((_request, response) => sendJson(response, {}, status));
    const error = await thrownBy(() => createClient({ baseUrl: service.url, retries: 0 }).agents.list());
    expect(error).toMatchObject({ constructor: kind, name: kind.name, status });
    expect(error).toBeInstanceOf(RunyardError);
    expect(service.received).toHaveLength(1);
  });

  test('a response that is cut off is asked for again if that is safe', async () => {
    const service = await ScriptedService.start((_request, response, count) => {
      if (count === 1) return response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":');
      if (count === 2) {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('[');
        return response.socket?.resetAndDestroy();
      }
      return sendJson(response, []);
    });
    const client = createClient({ baseUrl: service.url });
    expect(await client.agents.list()).toEqual([]);
    expect(service.received).toHaveLength(3);
  });
});

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])(
    'a redirect with %i is refused, and nothing reaches its address',
    async (status) => {
      const elsewhere = await ScriptedService.start((_request, response) => sendJson(response, []));
      const service = await ScriptedService.start((_request, response) =>
        response.writeHead(status, { location: `${elsewhere.url}/agents` }).end(),
      );
      const headers = { 'x-api-key': 'secret' };
      const client = createClient({ baseUrl: service.url, token: 'secret', headers });
      const onUploadProgress = () => {};
      for (const work of [
        () => client.agents.list(),
        () => client.agents.run('a', input),
        () => client.agents.run('a', { ...input, files: [new Blob(['x'])] }, { onUploadProgress }),
        () => client.agents.follow('a', 'r').result(),
      ]) {
        const error = await thrownBy(work);
        expect(error).toBeInstanceOf(ApiError);
        expect(error).toMatchObject({ status, message: expect.stringContaining(`${elsewhere.url}/agents`) });
      }
      expect(service.received).toHaveLength(4);
      expect(elsewhere.received).toEqual([]);
    },
  );
});

describe('retry-after', () => {
  test.each(['soon', '-5', '', '1e3', '1.5', '5, 5'])(
    '"%s" says nothing: the request is repeated as usual',
    async (value) => {
      const service = await ScriptedService.start((_request, response, count) =>
        count === 1 ? response.writeHead(503, { 'retry-after': value }).end() : sendJson(response, []),
      );
      expect(await createClient({ baseUrl: service.url }).agents.list()).toEqual([]);
      expect(service.received).toHaveLength(2);
    },
  );

  test('an absurd time is not waited for', async () => {
    for (const value of ['9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT']) {
      const service = await ScriptedService.start((_request, response) =>
        response.writeHead(429, { 'retry-after': value }).end(),
      );
      await expect(createClient({ baseUrl: service.url }).agents.list()).rejects.toThrow(RateLimitError);
      expect(service.received).toHaveLength(1);
    }
  });
});

describe('connections', () => {
  test('a start that is not answered is sent again, with the same key', async () => {
    const service = await ScriptedService.start((request, response, count) =>
      count === 1 ? undefined : respondWith(frames)(request, response, count),
    );
    const client = createClient({ baseUrl: service.url, silenceMs: 300 });
    expect(await client.agents.run('a', input)).toMatchObject({ status: 'completed' });
    const starts = service.received.filter(({ method }) => method === 'POST');
    expect(starts).toHaveLength(2);
    expect(starts[0]!.headers['idempotency-key']).toMatch(/./);
    expect(starts[1]!.headers['idempotency-key']).toBe(starts[0]!.headers['idempotency-key']);
    expect(starts[1]!.body).toBe(starts[0]!.body);
  });

  test('silence may be unlimited', async () => {
    const service = await ScriptedService.start(async (request, response, count) => {
      if (!request.path.includes('/events')) return respondWith(frames)(request, response, count);
      response.writeHead(200, stream).write(frames[0]);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return response.end(frames[1]);
    });
    const client = createClient({ baseUrl: service.url, silenceMs: Number.POSITIVE_INFINITY });
    expect(await client.agents.follow('a', 'r').result()).toMatchObject({ status: 'completed' });
    expect(service.lines).toEqual([
      'GET /agents/a/runs/r/events?last_event_index=-1',
      'GET /agents/a/runs/r',
    ]);
  });

  test('a service that is not there is named with the reason', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', retries: 0 });
    await expect(client.agents.list()).rejects.toThrow(/GET \/agents: .*(ECONNREFUSED|bad port)/);
  });

  test('a run that was deleted meanwhile, or that another service does not have, ends the stream', async () => {
    const service = await ScriptedService.start((_request, response, count) => {
      if (count > 1) return sendJson(response, { detail: 'Gone', error_code: 'run_not_found' }, 404);
      return response.writeHead(200, stream).write(frames[0], () => response.socket?.destroy());
    });
    const run = createClient({ baseUrl: service.url }).agents.follow('a', 'r');
    const names: string[] = [];
    const reading = (async () => {
      for await (const { event } of run) names.push(event);
    })();
    await expect(reading).rejects.toThrow(NotFoundError);
    await expect(reading).rejects.toMatchObject({ errorCode: 'run_not_found' });
    expect(names).toEqual(['RunStarted']);
    expect(service.received).toHaveLength(2);
  });

  test('a connection that ends cleanly before the run does is replaced, and 204 ends the stream', async () => {
    const service = await ScriptedService.start((request, response, count) =>
      count === 1
        ? response.writeHead(200, stream).end(frames[0])
        : respondWith(frames.slice(0, 1))(request, response, count),
    );
    const reasons: unknown[] = [];
    const onReconnect = (reason: unknown) => reasons.push(reason);
    const run = createClient({ baseUrl: service.url }).agents.follow('a', 'r', { onReconnect });
    expect(await run.result()).toMatchObject({ status: 'completed' });
    expect(reasons).toEqual([undefined]);
    expect(service.lines.slice(0, 2)).toEqual([
      'GET /agents/a/runs/r/events?last_event_index=-1',
      'GET /agents/a/runs/r/events?last_event_index=0',
    ]);
    // it has ended: nothing is sent for a further loop
    for await (const { event } of run) expect.unreachable(event);
    expect(service.received).toHaveLength(3);
  });

  test('a stream that is refused for good ends; its run id is kept', async () => {
    const service = await ScriptedService.start((_request, response) =>
      sendJson(response, { detail: 'Taken', error_code: 'run_exists' }, 409),
    );
    const run = createClient({ baseUrl: service.url }).agents.stream('a', input);
    await expect(run.result()).rejects.toMatchObject({ status: 409, errorCode: 'run_exists' });
    expect(run.runId).toBe('r');
    expect(service.received).toHaveLength(1);
  });
});

describe('tokens and headers', () => {
  test('a token that is refused and does not change is sent once more at most', async () => {
    const service = await ScriptedService.start((_request, response) =>
      sendJson(response, { detail: 'No', error_code: 'invalid_token' }, 401),
    );
    let asked = 0;
    const token = () => {
      asked += 1;
      return 'same';
    };
    const client = createClient({ baseUrl: service.url, token });
    await expect(client.agents.list()).rejects.toThrow(AuthenticationError);
    expect([asked, service.received.length]).toEqual([2, 1]);
    const changing = createClient({ baseUrl: service.url, token: () => crypto.randomUUID() });
    await expect(changing.agents.follow('a', 'r').result()).rejects.toThrow(AuthenticationError);
    expect(service.received).toHaveLength(3);
  });

  test('what the function of the token throws in the middle of a stream reaches the loop', async () => {
    const loggedOut = new Error('logged out');
    const service = await ScriptedService.start((_request, response, count) =>
      count === 1
        ? response
            .writeHead(200, stream)
            .end(`${frames[0]}event: error\ndata: {"error_code":"token_expired"}\n\n`)
        : sendJson(response, { detail: 'Expired', error_code: 'token_expired' }, 401),
    );
    let asked = 0;
    const token = () => {
      asked += 1;
      if (asked > 1) throw loggedOut;
      return 'first';
    };
    const run = createClient({ baseUrl: service.url, token }).agents.follow('a', 'r');
    const names: string[] = [];
    const reading = (async () => {
      for await (const { event } of run) names.push(event);
    })();
    await expect(reading).rejects.toBe(loggedOut);
    expect(names).toEqual(['RunStarted']);
    expect(asked).toBe(2);
  });

  test.each(['a\nb', 'a\r\nx-admin: 1', 'ключ'])(
    'a value that no header may have is refused before anything is sent: %j',
    async (value) => {
      const service = await ScriptedService.start((_request, response) => sendJson(response, []));
      for (const options of [
        { token: value },
        { headers: { 'x-name': value } },
        { headers: { [value]: 'x' } },
      ]) {
        const client = createClient({ baseUrl: service.url, ...options });
        await expect(client.agents.list()).rejects.toThrow(TypeError);
        await expect(client.agents.run('a', input)).rejects.toThrow(TypeError);
      }
      expect(service.received).toEqual([]);
    },
  );

  test('headers of a call are sent with every request of its run, and replace those of the client', async () => {
    const service = await ScriptedService.start((request, response, count) =>
      request.path.endsWith('/cancel')
        ? sendJson(response, {})
        : respondWith(frames)(request, response, count),
    );
    const client = createClient({
      baseUrl: service.url,
      token: 'of the client',
      headers: { 'X-Tenant': 'one', authorization: 'Basic one' },
    });
    const headers = { 'x-tenant': 'two', Authorization: 'Basic two', 'Idempotency-Key': 'order-1001' };
    const run = client.agents.stream('a', input, { headers });
    await run.result();
    await run.cancel();
    await client.agents.follow('a', 'r', { headers }).result();
    expect(service.lines).toEqual([
      'POST /agents/a/runs',
      'GET /agents/a/runs/r',
      'POST /agents/a/runs/r/cancel',
      'GET /agents/a/runs/r/events?last_event_index=-1',
      'GET /agents/a/runs/r',
    ]);
    for (const received of service.received)
      expect(received.headers).toMatchObject({ 'x-tenant': 'two', authorization: 'Basic two' });
    expect(service.received[0]!.headers['idempotency-key']).toBe('order-1001');
  });
});

describe('addresses', () => {
  test.each(['', '/', '///', '/ai', '/ai/'])('the address of a service may end with "%s"', async (end) => {
    const service = await ScriptedService.start((_request, response) => sendJson(response, []));
    await createClient({ baseUrl: service.url + end }).agents.list();
    expect(service.lines).toEqual([`GET ${end.replace(/\/+$/, '')}/agents`]);
  });

  test.each([
    'localhost:7777',
    'ftp://service',
    'http://service?x=1',
    'http://service/#x',
    'http://user:secret@service',
    'http://a b',
    '/ai',
    '',
    'undefined',
  ])('the address "%s" is refused before anything is sent', async (baseUrl) => {
    let sent = 0;
    const fetch: typeof globalThis.fetch = () => {
      sent += 1;
      return Promise.reject(new TypeError('fetch failed'));
    };
    const client = createClient({ baseUrl, fetch });
    for (const work of [() => client.agents.list(), () => client.agents.run('a', input)]) {
      const error = await thrownBy(work);
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ message: expect.stringContaining('baseUrl is') });
    }
    expect(sent).toBe(0);
  });

  test('ids are parts of the path, whatever is in them', async () => {
    const service = await ScriptedService.start((_request, response) => sendJson(response, {}));
    const client = createClient({ baseUrl: service.url });
    for (const id of ['a/b', '../x', '...', '%2e%2e', 'ü 🚀', '?a=b#c', '__proto__', 'constructor'])
      await client.sessions.get(id);
    expect(service.lines.map((line) => decodeURIComponent(line.replace('GET /sessions/', '')))).toEqual([
      'a/b',
      '../x',
      '...',
      '%2e%2e',
      'ü 🚀',
      '?a=b#c',
      '__proto__',
      'constructor',
    ]);
    expect(service.lines.every((line) => line.split('/').length === 3)).toBe(true);
  });
});
