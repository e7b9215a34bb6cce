import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { agent, tool } from '../../../src/index.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Answer, startService, TestService } from '../../support/service.js';

/** What reveals the internals of a service: statements, files, stacks, libraries, addresses. */
const insides =
  /select |insert |no such table|relation "|sqlite|postgres|node_modules|\/src\/|\/tmp\/|\.(ts|js|mjs):\d+|\n\s+at |ECONN|127\.0\.0\.1|hunter2/i;

function expectNothingInside(answer: Answer): void {
  expect(answer.text).not.toMatch(insides);
}

interface Operation {
  readonly method: string;
  readonly path: string;
}

/** Every operation of the service, with something for its parameters. */
async function operationsOf(service: TestService): Promise<Operation[]> {
  const { paths } = (await service.get('/openapi.json')).body as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.keys(methods)
      .filter((method) => /^(get|post|put|patch|delete)$/.test(method))
      .map((method) => ({
        method: method.toUpperCase(),
        path: template.replaceAll('{agent_id}', 'a').replace(/\{[^}]+\}/g, 'unknown'),
      })),
  );
}

describe('every answer', () => {
  const book = new ScriptBook();
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ agents: [agent({ id: 'a', model: book.model })] });
  });
  afterAll(() => service.stop());

  test('says how a browser is to treat it, and does not reveal what made it', async () => {
    const operations = await operationsOf(service);
    expect(operations.length).toBeGreaterThan(40);
    for (const { method, path } of [...operations, { method: 'GET', path: '/nowhere' }]) {
      const { headers } = await service.call(method, path);
      const shown = (name: string) => [path, headers.get(name)];
      expect(shown('x-content-type-options')).toEqual([path, 'nosniff']);
      expect(shown('referrer-policy')).toEqual([path, 'no-referrer']);
      expect(shown('cache-control')).toEqual([path, expect.stringContaining('no-store')]);
      expect([headers.get('server'), headers.get('x-powered-by')]).toEqual([null, null]);
    }
  });

  test('of a stream too', async () => {
    const response = await fetch(`${service.url}/agents/a/runs`, {
      method: 'POST',
      body: new URLSearchParams({ message: 'x' }),
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('cache-control')).toContain('no-store');
    await response.text();
  });

  test('of the API browser: in no frame, nothing from elsewhere; its files may be kept', async () => {
    const { headers } = await service.get('/docs');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('content-security-policy')).not.toMatch(/script-src[^;]*unsafe/);
    const asset = await service.get('/docs/assets/swagger-ui.css');
    expect(asset.headers.get('cache-control')).toBe('public, max-age=86400');
    expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
  });
});

test('routes of the application get the same headers, and may choose others', async () => {
  const service = await startService({
    agents: [],
    routes: (app) => {
      app.get('/plain', async () => ({ ok: true }));
      app.get('/own', async (_request, reply) => reply.header('referrer-policy', 'origin').send('x'));
    },
  });
  const plain = await fetch(`${service.url}/plain`);
  expect(plain.headers.get('x-content-type-options')).toBe('nosniff');
  expect(plain.headers.get('referrer-policy')).toBe('no-referrer');
  expect((await fetch(`${service.url}/own`)).headers.get('referrer-policy')).toBe('origin');
});

describe('what goes wrong inside stays inside', () => {
  test('when a route of the application throws', async () => {
    const service = await startService({
      agents: [],
      routes: (app) => {
        app.get('/throws', async () => {
          throw new Error('password=hunter2 in /etc/app/config');
        });
        app.get('/rejects', () => Promise.reject({ password: 'hunter2' }));
        app.get('/fails', async () => {
          throw Object.assign(new Error('hunter2'), { statusCode: 503 });
        });
      },
    });
    for (const path of ['/throws', '/rejects', '/fails']) {
      const response = await fetch(service.url + path);
      const text = await response.text();
      expect(response.status, path).toBeGreaterThanOrEqual(500);
      expect(text).not.toMatch(insides);
      expect(JSON.parse(text)).toMatchObject({ request_id: response.headers.get('x-request-id') });
    }
  });

  test('when a tool throws: the model receives its text, and no caller its stack', async () => {
    const book = new ScriptBook();
    const breaks = tool({
      name: 'breaks',
      description: 'Breaks.',
      execute: () => {
        throw new Error('The order 7 is closed');
      },
    });
    const service = await startService({ agents: [agent({ id: 'a', model: book.model, tools: [breaks] })] });
    const message = book.write('go', { toolCalls: [{ name: 'breaks', arguments: {} }] }, 'It is closed.');
    const run = await service.run('a', { message });
    expect(run.body.tools[0]).toMatchObject({ tool_call_error: true });
    expect(run.text).toContain('The order 7 is closed');
    expectNothingInside(run);
    for (const path of [`/traces?run_id=${run.body.run_id}`, `/sessions/${run.body.session_id}/runs`])
      expect((await service.get(path)).text).not.toMatch(/\n\s+at |\.(ts|js|mjs):\d+/);
  });
});

forEachDatabase((_dialect, freshPlace) => {
  test('when the database fails, in every operation', async () => {
    const place = await freshPlace();
    const service = await startService({
      agents: [agent({ id: 'a', model: new ScriptBook().model })],
      database: place.url,
      autoMigrate: true,
    });
    const operations = await operationsOf(service);
    const other = await place.openUnprepared();
    await renameTables(other, '', '_gone');
    let failed = 0;
    for (const { method, path } of operations) {
      const init =
        method === 'GET' || method === 'DELETE'
          ? {}
          : path.endsWith('/runs')
            ? { body: new URLSearchParams({ message: 'x', stream: 'false' }) }
            : { body: '{"user_id":"u","memory":"m"}', headers: { 'content-type': 'application/json' } };
      const answer = await service.call(method, path, init);
      expectNothingInside(answer);
      if (answer.status >= 500) failed += 1;
    }
    expect(failed).toBeGreaterThan(10);
    expect((await service.get('/health')).status).toBe(200);
    // the operator of the service still learns it
    expect(JSON.stringify(service.logged.map(({ fields }) => String(fields.err)))).toMatch(
      /no such table|relation/,
    );
    // it can be stopped in peace only with its tables
    await renameTables(other, '_gone', '');
  });
});

const hidden = [
  'runs',
  'sessions',
  'memories',
  'learnings',
  'service_accounts',
  'approvals',
  'daily_metrics',
];

/** Takes tables away, or gives them back. */
async function renameTables(database: Database, from: string, to: string): Promise<void> {
  for (const name of hidden)
    await database.query.schema
      .alterTable(name + from)
      .renameTo(name + to)
      .execute();
}

describe('callers who ask too often', () => {
  test('are asked to wait, a health check never', async () => {
    const service = await startService({ agents: [], rateLimit: 60, rateLimitBurst: 5 });
    const statuses: number[] = [];
    for (let at = 0; at < 10; at++) statuses.push((await service.get('/agents')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429, 429]);
    const refused = await service.get('/sessions');
    expect(refused.body).toMatchObject({
      error_code: 'rate_limited',
      detail: expect.stringMatching(/^Too many/),
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await service.get('/nowhere')).status).toBe(429);
    for (let at = 0; at < 10; at++) expect((await service.get('/health')).status).toBe(200);
  });

  test('before anything of their bodies is read', async () => {
    const service = await startService({ agents: [], rateLimit: 1, rateLimitBurst: 1 });
    expect((await service.get('/agents')).status).toBe(200);
    const answer = await service.call('POST', '/memories', {
      body: 'no json at all',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(429);
  });

  test('count where they come from when a proxy that is trusted says so', async () => {
    const service = await startService({
      agents: [],
      rateLimit: 1,
      rateLimitBurst: 1,
      trustedProxies: ['127.0.0.1'],
    });
    const from = async (address: string) =>
      (await service.get('/agents', { 'x-forwarded-for': address })).status;
    expect([await from('1.1.1.1'), await from('2.2.2.2'), await from('1.1.1.1')]).toEqual([200, 200, 429]);
    // what a client writes before what the proxy adds is not trusted
    expect(await from('9.9.9.9, 1.1.1.1')).toBe(429);
  });

  test('with wrong keys are counted apart from those with the right one', async () => {
    const key = 'a-long-security-key-for-tests';
    const folder = await TestService.start({
      agents: [],
      securityKey: key,
      rateLimit: 60,
      rateLimitBurst: 4,
    });
    onTestFinished(() => folder.stop());
    const wrong = async () => (await folder.get('/agents', { authorization: 'Bearer wrong' })).status;
    const statuses = [];
    for (let at = 0; at < 6; at++) statuses.push(await wrong());
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429]);
    expect((await folder.get('/agents', { authorization: `Bearer ${key}` })).status).toBe(200);
  });
});
