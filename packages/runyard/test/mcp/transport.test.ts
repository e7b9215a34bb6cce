import { get, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { freshSqlite } from '../support/databases.js';
import { callTool, framesOf, RawClient, rpc, slowTool, startMcp } from './fixture.js';

const quickAnswer = (id: number | string, userId: string | null = null) => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text: `quick for ${userId}` }] },
});

async function startOnSqlite(options: Parameters<typeof startMcp>[1] = {}) {
  const { url: database } = await freshSqlite();
  return startMcp(slowTool(), { database, ...options });
}

test('statuses and texts of the endpoint, with and without a slash', async () => {
  const { url, base } = await startOnSqlite();
  const client = new RawClient(url);
  const answerOf = async (answer: Response) => [answer.status, await answer.json().catch(() => null)];
  const error = (code: number, message: unknown) => ({
    jsonrpc: '2.0',
    id: 'server-error',
    error: { code, message },
  });
  const bare = (method: string, headers: Record<string, string> = {}, body?: unknown) =>
    client.request(method, { 'content-type': 'application/json', ...headers }, body);

  expect(await answerOf(await bare('POST', { accept: 'application/json' }, rpc(1, 'ping')))).toEqual([
    406,
    error(-32600, 'Not Acceptable: Client must accept both application/json and text/event-stream'),
  ]);
  expect(await answerOf(await client.request('GET', { accept: 'application/json' }))).toMatchObject([
    406,
    {},
  ]);
  expect(await answerOf(await client.request('GET', { accept: 'text/html, */*;q=0.8' }))).toMatchObject([
    406,
    { error: { message: expect.stringContaining('This address is for MCP clients') } },
  ]);
  expect(await answerOf(await client.post(rpc(1, 'ping')))).toEqual([
    400,
    error(-32600, 'Bad Request: Missing session ID'),
  ]);
  expect(await answerOf(await client.post('{"jsonrpc":'))).toEqual([
    400,
    error(-32700, expect.stringContaining('Parse error')),
  ]);
  expect(await answerOf(await client.post({ hello: 'world' }))).toMatchObject([
    400,
    { error: { code: -32600 } },
  ]);
  expect(await answerOf(await client.post([]))).toMatchObject([400, { error: { code: -32600 } }]);
  client.sessionId = 'f'.repeat(32);
  expect(await answerOf(await client.post(rpc(1, 'ping')))).toEqual([
    404,
    error(-32600, 'Session not found'),
  ]);
  client.sessionId = '';

  const slashed = new RawClient(`${url}/`);
  expect(await slashed.connect()).toMatchObject([
    { data: { id: 0, result: { protocolVersion: '2025-11-25', serverInfo: { name: 'fixture' } } } },
  ]);
  expect(slashed.sessionId).toMatch(/^[\da-f]{32}$/);
  const notified = await slashed.post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
  expect([notified.status, await notified.text()]).toEqual([202, '']);
  const unknown = await slashed.post(rpc('a', 'no/such'));
  expect(Object.fromEntries(unknown.headers)).toMatchObject({
    'content-type': expect.stringContaining('text/event-stream'),
    'cache-control': expect.stringContaining('no-cache'),
    'x-accel-buffering': 'no',
    'mcp-session-id': slashed.sessionId,
  });
  expect(await framesOf(unknown)).toMatchObject([{ data: { id: 'a', error: { code: -32601 } } }]);
  const versioned = await slashed.post(rpc(2, 'ping'), { 'mcp-protocol-version': '1999-01-01' });
  expect(await answerOf(versioned)).toMatchObject([
    400,
    { error: { message: expect.stringContaining('1999') } },
  ]);

  expect((await slashed.request('DELETE')).status).toBe(200);
  expect(await answerOf(await slashed.post(rpc(3, 'ping')))).toEqual([
    404,
    error(-32600, 'Not Found: Session has been terminated'),
  ]);
  // other paths keep the answers of the service
  expect(await answerOf(await fetch(`${base}/no-such-path`))).toMatchObject([404, { detail: 'Not Found' }]);
  expect(await (await fetch(`${base}/info`)).json()).toMatchObject({
    mcp: { enabled: true, path: '/mcp', oauth: null },
  });
});

test('every supported version is echoed, and any other gets the newest', async () => {
  const { url } = await startOnSqlite();
  const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2026-07-28', '1.0'];
  const agreed = await Promise.all(
    versions.map(
      async (version) => (await new RawClient(url).connect(version))[0]?.data.result.protocolVersion,
    ),
  );
  expect(agreed).toEqual([...versions.slice(0, 4), '2025-11-25', '2025-11-25']);
});

test('several messages at once are answered on one stream', async () => {
  const { url } = await startOnSqlite();
  const client = new RawClient(url);
  await client.connect('2025-03-26');
  const frames = await framesOf(
    await client.post([callTool(1, 'quick'), { jsonrpc: '2.0', method: 'x' }, callTool(2, 'quick')]),
  );
  expect(frames.map(({ data }) => data)).toEqual([quickAnswer(1), quickAnswer(2)]);
  expect((await client.post(Array.from({ length: 101 }, (_, id) => rpc(id, 'ping')))).status).toBe(400);
});

test('a wrong host and a foreign page are refused in the words of this endpoint', async () => {
  const { url } = await startOnSqlite();
  const refusalOf = (headers: Record<string, string>) =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers }, async (answer) =>
        resolve([answer.statusCode, await json(answer)]),
      );
      sent.on('error', reject).end();
    });
  const host = [400, { error: 'invalid_host', detail: 'Host not allowed.' }];
  expect(await refusalOf({ host: 'evil.example' })).toEqual(host);
  const origin = [400, { error: 'invalid_origin', detail: 'Origin not allowed.' }];
  expect(await refusalOf({ origin: 'https://evil.example' })).toEqual(origin);
});

test('without authentication it answers to local names and those that are allowed, and to their pages', async () => {
  const { url } = await startOnSqlite({
    host: '0.0.0.0',
    corsOrigins: ['https://app.example.com'],
    mcpOptions: { allowedHosts: ['*.ours.example'] },
  });
  const { port } = new URL(url);
  const answerTo = (headers: Record<string, string>) =>
    new Promise((resolve, reject) => {
      const sent = { accept: 'text/event-stream', ...headers };
      const request = get({ host: '127.0.0.1', port, path: '/mcp', headers: sent }, async (answer) => {
        const body = await json(answer);
        resolve([answer.statusCode, body]);
      });
      request.on('error', reject);
    });
  const admitted = [400, { error: { message: 'Bad Request: Missing session ID' } }];
  const badHost = [400, { error: 'invalid_host', detail: 'Host not allowed.' }];
  const badOrigin = [400, { error: 'invalid_origin', detail: 'Origin not allowed.' }];
  for (const host of ['localhost:1', '[::1]', '127.0.0.1', 'agents.ours.example'])
    expect(await answerTo({ host })).toMatchObject(admitted);
  for (const host of ['evil.example', 'ours.example.evil.example', 'localhost.evil.example:80'])
    expect(await answerTo({ host })).toEqual(badHost);
  for (const origin of ['http://localhost:9', 'https://agents.ours.example', 'https://app.example.com'])
    expect(await answerTo({ origin })).toMatchObject(admitted);
  for (const origin of ['https://evil.example', 'null'])
    expect(await answerTo({ origin })).toEqual(badOrigin);
});

test('what a session cannot hold is refused', async () => {
  const { url } = await startOnSqlite();
  const client = new RawClient(url);
  await client.connect();
  const held = await Promise.all(Array.from({ length: 100 }, (_, id) => client.post(callTool(id, 'slow'))));
  const taken = await client.post(callTool(1, 'slow'));
  expect([taken.status, await taken.json()]).toMatchObject([
    400,
    { error: { message: 'Invalid Request: The request id 1 is in use' } },
  ]);
  expect((await client.post(callTool(100, 'quick'))).status).toBe(429);
  await Promise.all(held.map((answer) => answer.body?.cancel()));
});

test('what would leave a request without an answer, or fill memory, is refused', async () => {
  const { url } = await startOnSqlite();
  const client = new RawClient(url);
  await client.connect('2025-03-26');
  const refusedAs = async (body: unknown) => {
    const answer = await client.post(body);
    return [answer.status, await answer.json()];
  };
  const refused = (message: string) => [400, { error: { message: `Invalid Request: ${message}` } }];
  const start = { protocolVersion: '2025-11-25', clientInfo: { name: 'raw', version: '1' } };
  expect(await refusedAs([callTool(1, 'quick'), callTool(1, 'quick')])).toMatchObject(
    refused('The request id 1 is in use'),
  );
  expect(await refusedAs(callTool('x'.repeat(256), 'quick'))).toMatchObject(
    refused('The id of a request has more than 255 characters'),
  );
  const second = rpc(2, 'initialize', { ...start, capabilities: {} });
  expect(await refusedAs([rpc(1, 'ping'), second])).toMatchObject(
    refused('Only one initialization request is allowed'),
  );
  const tooLong = refused('A message of the handshake has more than 65536 characters');
  const capabilities = { experimental: { wide: { text: 'x'.repeat(70_000) } } };
  expect(await refusedAs(rpc(1, 'initialize', { ...start, capabilities }))).toMatchObject(tooLong);
  expect(await refusedAs(rpc(1, 'logging/setLevel', { level: 'x'.repeat(70_000) }))).toMatchObject(tooLong);
  const both = await framesOf(await client.post([callTool(1, 'quick'), callTool('1', 'quick')]));
  expect(both.map(({ data }) => data)).toEqual([quickAnswer(1), quickAnswer('1')]);
});

test('each message of a batch counts for the rate limit', async () => {
  const { url } = await startOnSqlite({ rateLimit: 6 });
  const client = new RawClient(url);
  await client.connect('2025-03-26');
  const answer = await client.post(Array.from({ length: 5 }, (_, id) => rpc(id, 'ping')));
  expect([answer.status, await answer.json()]).toMatchObject([429, { error_code: 'rate_limited' }]);
});
