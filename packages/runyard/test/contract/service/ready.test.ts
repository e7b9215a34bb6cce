import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { agent } from '../../../src/index.js';
import { openDatabase } from '../../../src/platform/storage/open.js';
import { scriptedModel } from '../../../src/testing.js';
import { emptyPostgres } from '../../support/databases.js';
import { startService, type TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';
import { WritingThreads } from '../../support/writing-threads.js';

const inOrder = {
  status: 'ready',
  checks: {
    database: { status: 'ok', databases: { default: 'ok' } },
    migrations: { status: 'ok', databases: { default: 'current' } },
    engine: {
      status: 'ok',
      databases: { default: 'ok' },
      runs: { executing: 0, waiting: 0, max_executing: expect.any(Number), max_waiting: expect.any(Number) },
    },
    stopping: { status: 'ok' },
  },
};

const pool = { in_use: expect.any(Number), open: expect.any(Number), size: 10, waiting: 0 };
const pools = { default: { runs: pool, lists: pool } };
const inOrderOnPostgres = {
  ...inOrder,
  checks: { ...inOrder.checks, database: { ...inOrder.checks.database, pools } },
};

const becomes = (service: TestService, status: number) =>
  until(`/ready answers ${status}`, async () => {
    const answer = await service.get('/ready');
    return answer.status === status && answer;
  });

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-ready-'));
  onTestFinished(() => {
    for (const name of [folder, `${folder}-away`]) rmSync(name, { recursive: true, force: true });
  });
  return folder;
}

test('a service in order is ready, on either kind of database', async () => {
  const embedded = await startService({ agents: [] });
  const { url } = await emptyPostgres();
  const shared = await startService({ agents: [], database: url, autoMigrate: true });
  for (const [service, expected] of [
    [embedded, inOrder],
    [shared, inOrderOnPostgres],
  ] as const) {
    const { status, body, headers } = await service.get('/ready');
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual(expected);
  }
});

describe('a database that cannot be written to is named without further details, and it comes back', () => {
  async function isNoticedAndOver(folder: string, service: TestService) {
    const { body, text } = await becomes(service, 503);
    expect(body).toMatchObject({
      status: 'not_ready',
      checks: { database: { status: 'failed', databases: { default: 'ok', archive: 'unavailable' } } },
    });
    expect(text).not.toContain(folder);
    expect((await service.get('/health')).status).toBe(200);
    renameSync(`${folder}-away`, folder);
    expect((await becomes(service, 200)).body.checks.database.databases).toEqual({
      default: 'ok',
      archive: 'ok',
    });
  }

  test('without a writing thread, which /ready does not start', async () => {
    const folder = folderOfTest();
    const threads = new WritingThreads();
    const service = await startService({
      agents: [],
      databases: { archive: `sqlite://${folder}/archive.db` },
    });
    expect((await service.get('/ready')).status).toBe(200);
    expect(threads.started).toEqual([]);
    renameSync(folder, `${folder}-away`);
    await isNoticedAndOver(folder, service);
    expect(threads.started).toEqual([]);
  });

  test('with a writing thread that has ended', async () => {
    const folder = folderOfTest();
    const service = await startService({
      agents: [],
      databases: { archive: `sqlite://${folder}/archive.db` },
    });
    const threads = new WritingThreads();
    const memory = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ memory: 'Likes tea.', user_id: 'ada' }),
    };
    expect((await service.call('POST', '/memories?db_id=archive', memory)).status).toBe(200);
    expect((await service.get('/ready')).status).toBe(200);
    renameSync(folder, `${folder}-away`);
    await threads.endNewest();
    await isNoticedAndOver(folder, service);
  });
});

test('a server that takes no writes is not ready', async () => {
  const place = await emptyPostgres();
  await place.open();
  const url = new URL(place.url);
  url.searchParams.set('options', `${url.searchParams.get('options')} -c default_transaction_read_only=on`);
  const service = await startService({ agents: [], database: url.href });
  const { status, body } = await service.get('/ready');
  expect([status, body.checks.database]).toEqual([
    503,
    { status: 'failed', databases: { default: 'read_only' }, pools },
  ]);
});

describe('migrations', () => {
  test('an older schema is not ready until an operator migrates it, without a request in between', async () => {
    const { url } = await emptyPostgres();
    const service = await startService({ agents: [], database: url, autoMigrate: false });
    const warning = "Database 'default' has an older schema than this service. Run: runyard migrate";
    expect(service.logged.map(({ message }) => message)).toContain(warning);
    const { status, body } = await service.get('/ready');
    expect(status).toBe(503);
    expect(body.checks.migrations).toEqual({ status: 'failed', databases: { default: 'older' } });
    expect(body.checks.engine).toMatchObject({ status: 'failed', databases: { default: 'closed' } });
    await service.app.migrate();
    expect((await becomes(service, 200)).body).toEqual(inOrderOnPostgres);
  });

  test('a newer schema is not ready', async () => {
    const folder = folderOfTest();
    const url = `sqlite://${folder}/data.db`;
    const service = await startService({ agents: [], database: url, autoMigrate: true });
    const other = await openDatabase({ id: 'other', url, migrations: [], log: silentLog });
    await other.transaction((run) =>
      run(`INSERT INTO runyard_migrations VALUES (9999, 'from-the-future', 0)`),
    );
    await other.close();
    const { body } = await becomes(service, 503);
    expect(body.checks.migrations).toEqual({ status: 'failed', databases: { default: 'newer' } });
  });
});

test('a service that stops is not ready from the beginning, and says so until it has stopped', async () => {
  const held = gate();
  const info = vi.fn();
  const service = await startService({
    log: { ...silentLog, info },
    agents: [
      agent({
        id: 'held',
        model: scriptedModel(async () => {
          await held.opened;
          return 'done';
        }),
      }),
    ],
  });
  // its end would wait for the run
  onTestFinished(() => held.open());
  const running = service.run('held', { message: 'hi' });
  await until('it runs', async () => (await service.get('/info')).body.runs.executing === 1);
  expect((await service.get('/ready')).body.checks.engine.runs.executing).toBe(1);
  const closed = service.app.close({ graceMs: 600_000 });
  const { status, body } = await service.get('/ready');
  expect(status).toBe(503);
  expect(body).toMatchObject({ status: 'not_ready', checks: { stopping: { status: 'failed' } } });
  expect((await service.get('/health')).status).toBe(200);
  await until('the log says what it waits for', () =>
    info.mock.calls.some(([facts, text]) => facts.runs === 1 && text.startsWith('waiting for running runs')),
  );
  held.open();
  expect((await running).body.status).toBe('completed');
  await closed;
});

test('full slots are shown, and are no fault', async () => {
  const held = gate();
  const model = scriptedModel(async () => {
    await held.opened;
    return 'done';
  });
  const service = await startService({ agents: [agent({ id: 'held', model })], maxConcurrentRuns: 1 });
  const runs = [service.run('held', { message: 'one' }), service.run('held', { message: 'two' })];
  await until('one waits', async () => (await service.get('/info')).body.runs.waiting === 1);
  const { status, body } = await service.get('/ready');
  expect([status, body.checks.engine.runs]).toMatchObject([200, { executing: 1, waiting: 1 }]);
  held.open();
  await Promise.all(runs);
});

test('with authorization it needs a token, unless its path is opened', async () => {
  const settings = { agents: [], securityKey: 'a-key-that-is-long-enough-for-anybody' };
  const closed = await startService(settings);
  expect((await closed.get('/ready')).status).toBe(401);
  const authorization = `Bearer ${settings.securityKey}`;
  expect((await closed.get('/ready', { authorization })).body).toEqual(inOrder);
  const opened = await startService({ ...settings, publicPaths: ['/ready'] });
  expect((await opened.get('/ready')).body).toEqual(inOrder);
});

test('who closes without grace does not wait for a drain in progress', async () => {
  const service = await startService({ agents: [], drainMs: 600_000 });
  const draining = service.app.close();
  await until('it is not ready', async () => (await fetch(`${service.url}/ready`)).status === 503);
  await service.app.close({ graceMs: 0 });
  await draining;
  await expect(fetch(`${service.url}/health`)).rejects.toThrow();
});
