import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../../../src/capabilities/capabilities.js';
import { silentLog } from '../../../src/core/log.js';
import { agent } from '../../../src/index.js';
import type { Migration } from '../../../src/platform/storage/database.js';
import { migrate } from '../../../src/platform/storage/migrations/migrate.js';
import { openDatabase } from '../../../src/platform/storage/open.js';
import { scriptedModel } from '../../../src/testing.js';
import { forEachDatabase, freshPostgres, freshSqlite } from '../../support/databases.js';
import { startService, type TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const latest = migrations.at(-1)!.version;
const post = (service: TestService, path: string, body?: object) =>
  service.call('POST', path, {
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });

function archive(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { archive: `sqlite://${folder}/archive.db` };
}

test('migrates to versions as the contract names them', async () => {
  const kept = agent({ id: 'kept', model: scriptedModel(['hi']), database: 'archive' });
  const service = await startService({ agents: [kept], databases: archive() });
  expect((await post(service, '/databases/default/migrate')).body).toMatchObject({
    message: 'Database migrated successfully to latest version',
    from_version: latest,
    to_version: latest,
    steps: [],
  });
  for (const version of ['2.0.0', '2.3.0', '2.5.0', '2.5.6', String(latest)]) {
    const { status, body } = await post(service, `/databases/default/migrate?target_version=${version}`);
    expect([status, body.message]).toEqual([200, `Database migrated successfully to version ${version}`]);
  }
  expect((await post(service, '/databases/all/migrate')).body.message).toBe(
    'All databases migrated successfully to latest version',
  );
  const unknown = await post(service, '/databases/default/migrate?target_version=abc');
  expect([unknown.status, unknown.body.detail]).toEqual([
    400,
    `Failed to migrate database: Invalid version: 'abc'. The versions are 0 to ${latest}; leave it out for the latest.`,
  ]);
  const all = await post(service, '/databases/all/migrate', { target_version: '9.9.9' });
  expect([all.status, all.body.message]).toEqual([207, 'Migrated 0/2 databases to version 9.9.9']);
  expect(all.body.failed.archive).toMatch(/^Invalid version: '9\.9\.9'/);
  const nope = await post(service, '/databases/nope/migrate');
  expect([nope.status, nope.body.detail]).toEqual([404, "No database found with id 'nope'"]);
  expect((await service.get('/databases/default/migrate')).status).toBe(405);
  // the program itself changes no database when one of them would lose data
  await service.run('kept', { message: 'hi' });
  await expect(service.app.migrate({ to: 9 })).rejects.toThrow(
    "database 'archive' to version 9 deletes data",
  );
  expect((await service.get('/databases')).body).toMatchObject([{ version: latest }, { version: latest }]);
});

test('refuses the id that stands for all databases', async () => {
  const { archive: url } = archive();
  await expect(startService({ agents: [], databases: { all: url! } })).rejects.toThrow(
    "A database cannot have the id 'all'",
  );
});

test('a database that fails is reported beside those that were migrated, and nothing is half done', async () => {
  const faulty: Migration = {
    version: latest + 1,
    name: 'faulty',
    up: () => ['CREATE TABLE half_made (id integer)', 'SELECT * FROM there_is_no_such_table'],
    down: () => [],
  };
  const service = await startService({ agents: [], databases: archive() });
  const known: Migration[] = [...migrations, faulty];
  const [own] = await databasesOf(service);
  Object.defineProperty(own, 'migrations', { value: known });
  const { status, body } = await post(service, '/databases/all/migrate');
  expect([status, body.message]).toEqual([207, 'Migrated 1/2 databases to latest version']);
  expect(body.failed).toEqual({
    default: `Migration ${latest + 1} (faulty, up) failed and was rolled back. The database has version ${latest}. The log has the details.`,
  });
  const one = await post(service, '/databases/default/migrate');
  expect([one.status, one.body.error_code, one.body.to_version]).toEqual([500, 'migration_failed', latest]);
  expect(one.body.steps).toMatchObject([{ name: 'faulty', status: 'failed' }]);
  expect(one.text).not.toContain('there_is_no_such_table');
  const reasons = service.logged.flatMap(({ fields }) =>
    fields.err instanceof Error ? [fields.err.message] : [],
  );
  expect(reasons.join()).toContain('there_is_no_such_table');
  expect((await service.get('/databases')).body[0]).toMatchObject({
    status: 'older',
    version: latest,
    pending: [{ version: latest + 1, name: 'faulty' }],
  });
});

test('a schema that another program changed is noticed by what fails', async () => {
  const { url } = await freshSqlite();
  const agents = [agent({ id: 'quick', model: scriptedModel(['hi', 'hi']) })];
  const service = await startService({ agents, database: url, autoMigrate: true });
  const other = await openDatabase({ id: 'other', url, migrations, log: silentLog });
  onTestFinished(() => other.close());
  await migrate(other, { to: 9 });
  await until('it knows why', async () => {
    const { status, body } = await service.run('quick', { message: 'hi' });
    // what fails before the schema was looked at is answered as an outage
    expect([status, body.error_code]).toBeOneOf([
      [503, 'database_unavailable'],
      [503, 'schema_outdated'],
    ]);
    return body.error_code === 'schema_outdated';
  });
  expect((await service.get('/schedules')).body.error_code).toBe('schema_outdated');
  await migrate(other);
  expect((await service.run('quick', { message: 'hi' })).body.content).toBe('hi');
});

test('a request during a migration is refused at once with the reason', async () => {
  const place = await freshPostgres();
  const agents = [agent({ id: 'quick', model: scriptedModel(['hi']) })];
  const service = await startService({ agents, database: place.url, autoMigrate: true });
  const other = await place.open();
  const [locked, held] = [gate(), gate()];
  onTestFinished(() => held.open());
  // what another process that migrates holds
  const holding = other.transaction(async (run) => {
    await run(`SELECT pg_advisory_xact_lock(hashtextextended('runyard_migrations:' || current_schema(), 0))`);
    locked.open();
    await held.opened;
  });
  await locked.opened;
  const down = post(service, '/databases/default/migrate', { target_version: latest - 1, force: true });
  await until('it says so', async () => {
    const { status, body } = await service.get('/agents/quick/runs/none');
    return status === 503 && body.error_code === 'migration_in_progress';
  });
  held.open();
  await holding;
  expect((await down).status).toBe(200);
  // also what could be read is refused: the schema is an older one
  expect((await service.get('/agents/quick/runs/none')).body.error_code).toBe('schema_outdated');
  expect((await post(service, '/databases/default/migrate')).status).toBe(200);
  expect((await service.run('quick', { message: 'hi' })).body.content).toBe('hi');
});

/** The databases that the service has opened. */
async function databasesOf({ app }: TestService) {
  // its own, which no test reaches otherwise
  const { databases } = app as unknown as { databases: Promise<object[]> };
  return databases;
}

forEachDatabase((dialect, freshPlace) => {
  test('shows what a downgrade does, refuses to delete data, and takes up the runs again', async () => {
    const held = gate();
    let calls = 0;
    const model = scriptedModel(async () => {
      calls += 1;
      await held.opened;
      return 'done';
    });
    const { url } = await freshPlace();
    const agents = [
      agent({ id: 'held', model }),
      agent({ id: 'quick', model: scriptedModel(['hi', 'hi', 'hi']) }),
    ];
    const service = await startService({ agents, database: url, autoMigrate: true });
    const to = `target_version=${latest - 2}`;
    const plan = await post(service, `/databases/default/migrate?${to}&dry_run=true`);
    expect(plan.body).toMatchObject({ message: 'Dry run: nothing was executed', to_version: latest - 2 });
    expect(plan.body.steps).toEqual(
      migrations
        .slice(-2)
        .reverse()
        .map(({ version, name, down }) => ({
          ...{ version, name, direction: 'down', status: 'planned', ms: 0, sql: [...down(dialect)] },
        })),
    );
    expect((await service.get('/databases')).body[0]).toMatchObject({ db_id: 'default', status: 'current' });

    expect((await service.run('quick', { message: 'hi' })).status).toBe(200);
    const refused = await post(service, '/databases/default/migrate', { target_version: 9 });
    expect([refused.status, refused.body.error_code]).toEqual([409, 'downgrade_loses_data']);
    expect(refused.body.detail).toMatch(
      /^Migrating database 'default' to version 9 deletes data: .*runs\.session_seq \(1 row\)/,
    );
    expect(refused.body.detail).toContain(dialect === 'sqlite' ? 'VACUUM INTO' : 'pg_dump');
    const { body: lossy } = await post(service, '/databases/default/migrate?target_version=9&dry_run=true');
    expect(lossy.losses).toContainEqual({ table: 'runs', column: 'session_seq', rows: 1, more: false });

    const schedule = await post(service, '/schedules', {
      ...{
        name: 'Later',
        cron_expr: '0 0 1 1 *',
        endpoint: '/agents/quick/runs',
        payload: { message: 'hi' },
      },
    });
    const started = await service.run('held', { message: 'hi', background: true });
    await until('it is executed', () => calls === 1);
    const down = await post(service, '/databases/default/migrate', { target_version: 21, force: true });
    expect([down.status, down.body.from_version, down.body.to_version]).toEqual([200, latest, 21]);
    const away = await service.get(`/agents/held/runs/${started.body.run_id}`);
    expect([away.status, away.body.error_code]).toEqual([503, 'schema_outdated']);
    expect((await service.get('/databases')).body[0]).toMatchObject({ status: 'older', version: 21 });

    const up = await post(service, '/databases/default/migrate');
    expect([up.status, up.body.to_version]).toEqual([200, latest]);
    await until('it is executed again', () => calls === 2);
    held.open();
    await until('it ends', async () => {
      const { body } = await service.get(`/agents/held/runs/${started.body.run_id}`);
      return body.status === 'completed';
    });
    expect((await service.run('quick', { message: 'hi' })).body.content).toBe('hi');
    const triggered = await post(service, `/schedules/${schedule.body.id}/trigger`);
    expect([triggered.status, triggered.body.status]).toEqual([200, 'success']);
    expect(calls).toBe(2);
  });
});
