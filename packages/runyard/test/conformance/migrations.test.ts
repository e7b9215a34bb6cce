import { expect, it } from 'vitest';
import { migrations } from '../../src/capabilities/capabilities.js';
import { RunStore } from '../../src/capabilities/runs/storage/store.js';
import { errors } from '../../src/core/errors/errors.js';
import type { Migration } from '../../src/platform/storage/database.js';
import { plannedChange } from '../../src/platform/storage/migrations/change-schema.js';
import { migrate, route, schemaStatus } from '../../src/platform/storage/migrations/migrate.js';
import { lossesIn, lostData, tableVersions } from '../../src/platform/storage/migrations/statements.js';
import { SchemaGate } from '../../src/platform/storage/schema-gate.js';
import { forEachDatabase } from '../support/databases.js';
import { anApproval, aRun, aStep, creation, sessionOf } from './builders.js';

const latest = migrations.at(-1)!.version;
const done = (direction: 'up' | 'down') => (migration: Migration) => ({
  version: migration.version,
  name: migration.name,
  direction,
  status: 'done',
  ms: expect.any(Number),
});

/** A migration that leaves a table behind before it fails. */
const faulty: Migration = {
  version: latest + 1,
  name: 'faulty',
  up: () => ['CREATE TABLE half_made (id integer)', 'SELECT * FROM there_is_no_such_table'],
  down: () => [],
};
const unreached: Migration = { ...faulty, version: latest + 2, name: 'unreached' };

it('numbers the migrations from one, without a gap', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
});

it('knows what each statement of each downgrade deletes', () => {
  for (const dialect of ['sqlite', 'postgres'] as const)
    for (const { down } of migrations) expect(() => lossesIn(down(dialect))).not.toThrow();
  expect(() => lossesIn(['TRUNCATE runs'])).toThrow('TRUNCATE runs');
  // values that become rows of another table are kept
  const move = 'INSERT INTO steps (run_id, input) SELECT runs.run_id, runs.packed FROM runs';
  const drops = ['packed', 'other'].map((column) => `ALTER TABLE runs DROP COLUMN ${column}`);
  expect(lossesIn([move, ...drops])).toEqual([{ table: 'runs', column: 'other' }]);
});

const listTables = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'table'`,
  postgres: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
};

forEachDatabase((dialect, freshPlace, emptyPlace) => {
  it('goes up, down and up again, and the schema works', async () => {
    const database = await (await emptyPlace()).openUnprepared();
    expect(await schemaStatus(database)).toEqual({
      current: 0,
      latest,
      pending: migrations.map(({ version, name }) => ({ version, name })),
    });
    expect(await migrate(database)).toEqual(migrations.map(done('up')));
    expect(await schemaStatus(database)).toEqual({ current: latest, latest, pending: [] });
    const runs = new RunStore(database);
    const run = aRun();
    await runs.commit([creation(run, { steps: [aStep(run, 0)] })]);
    const tables = await database.transaction((query) => query<{ name: string }>(listTables[dialect]));
    const made = tableVersions(migrations, dialect, latest);
    // SQLite keeps a table for full-text search in several others
    const own = tables.filter(({ name }) => !/^(sqlite_|knowledge_terms_|runyard_migrations)/.test(name));
    expect(own.map(({ name }) => name).sort()).toEqual([...made.keys()].sort());
    expect(made.get('schedule_turns')).toBe(22);
    const lost = await lostData(database, route(migrations, latest, 9));
    expect(lost).toContainEqual({ table: 'runs', column: 'session_seq', rows: 1, more: false });
    const all = await lostData(database, route(migrations, latest, 0));
    expect(all.map(({ table, column, rows }) => [table, column, rows])).toEqual([
      ['traces', undefined, 1],
      ['steps', undefined, 1],
      ['runs', undefined, 1],
      ['sessions', undefined, 1],
    ]);
    expect(await migrate(database, { to: 0 })).toEqual([...migrations].reverse().map(done('down')));
    expect((await schemaStatus(database)).current).toBe(0);
    expect(await migrate(database)).toEqual(migrations.map(done('up')));
    expect(await runs.load(run.runId)).toBeUndefined();
    expect(await runs.commit([creation(run)])).toEqual([]);
    expect(await runs.load(run.runId)).toEqual({ run, steps: [] });
  });

  it('plans nothing for a schema that the code does not know', async () => {
    const database = await (await freshPlace()).open();
    const available = migrations.slice(0, -1);
    await expect(plannedChange(database, { available, dryRun: true })).rejects.toMatchObject({
      code: 'schema_newer',
    });
    expect(await plannedChange(database, { dryRun: true })).toMatchObject({ from: latest, parts: [] });
  });

  it('refuses every write while its schema is one that the code does not know', async () => {
    const gate = new SchemaGate(await (await emptyPlace()).open());
    const { database } = gate;
    const refusal = errors.schemaNewer('default', latest + 1, latest);
    const sessions = () => database.query.selectFrom('sessions').selectAll().execute();
    const empty = () => database.query.deleteFrom('sessions').execute();
    gate.close(refusal);
    await expect(empty()).rejects.toBe(refusal);
    await expect(new RunStore(database).commit([creation(aRun())])).rejects.toBe(refusal);
    await expect(database.transaction(async () => 1)).rejects.toBe(refusal);
    await expect(async () => database.assertWritable()).rejects.toBe(refusal);
    expect(await sessions()).toEqual([]);
    gate.open();
    await empty();
    expect(await database.transaction(async () => 1)).toBe(1);
  });

  it('keeps the data of the tables that a step down does not concern', async () => {
    const database = await (await emptyPlace()).open();
    const runs = new RunStore(database);
    const run = aRun();
    await runs.commit([creation(run)]);
    expect(await migrate(database, { to: 1 })).toEqual(migrations.slice(1).reverse().map(done('down')));
    expect((await schemaStatus(database)).pending.map(({ version }) => version)).toEqual(
      migrations.slice(1).map(({ version }) => version),
    );
    await migrate(database);
    expect((await runs.load(run.runId))?.run).toEqual(run);
  });

  it('goes down and up again with all that sessions and approvals hold', async () => {
    const database = await (await emptyPlace()).open();
    const runs = new RunStore(database);
    const [run, gone] = [aRun({ sessionId: 'kept' }), aRun({ sessionId: 'gone' })];
    const recorded = (of: typeof run) => ({
      approvals: [{ kind: 'record', approval: anApproval(of) } as const],
    });
    await runs.commit([creation(run, recorded(run)), creation(gone, recorded(gone))]);
    // not to be made shorter by compressing it
    const name = Array.from({ length: 5000 }, (_, at) =>
      String.fromCharCode(0x4e00 + ((at * 7919) % 20_000)),
    );
    await database.query
      .updateTable('sessions')
      .set({ name: name.join('') })
      .execute();
    const approvals = () => database.query.selectFrom('approvals').selectAll().execute();
    const kept = (await approvals()).filter(({ run_id }) => run_id === run.runId);
    await database.query.deleteFrom('sessions').where('session_id', '=', 'gone').execute();
    expect(await lostData(database, route(migrations, migrations.at(-1)!.version, 7))).toContainEqual({
      ...{ table: 'approvals', rows: 1, more: false },
    });
    const down = await migrate(database, { to: 4 });
    expect(down).toEqual(migrations.slice(4).reverse().map(done('down')));
    expect(await migrate(database)).toEqual(migrations.slice(4).map(done('up')));
    expect(await approvals()).toEqual(kept);
    expect((await runs.load(run.runId))?.run).toEqual(run);
    const sessions = await database.query.selectFrom('sessions').select(['name', 'search_name']).execute();
    expect(sessions).toEqual([{ name: name.join(''), search_name: name.slice(0, 255).join('') }]);
  });

  it('takes sessions along whose names no database holds as they are', async () => {
    const database = await (await emptyPlace()).open();
    const runs = new RunStore(database);
    const names: Record<string, string> = { odd: `a\0${'b'.repeat(254)}`, plain: 'A Plan' };
    const ofSession = (sessionId: string) => {
      const run = aRun({ sessionId });
      return creation(run, { session: sessionOf(run, { name: names[sessionId]! }) });
    };
    await runs.commit(Object.keys(names).map(ofSession));
    await migrate(database, { to: 7 });
    expect(await migrate(database)).toEqual(migrations.slice(7).map(done('up')));
    const sessions = await database.query.selectFrom('sessions').selectAll().orderBy('session_id').execute();
    expect(sessions.map(({ name }) => name)).toEqual([names.odd, names.plain]);
    expect(sessions[1]!.search_name).toBe('a plan');
  });

  it('has nothing to do the second time', async () => {
    const database = await (await emptyPlace()).open();
    expect(await migrate(database)).toEqual([]);
  });

  it('does the work once when several processes migrate at the same time', async () => {
    const place = await emptyPlace();
    const all = await Promise.all(Array.from({ length: 4 }, () => place.openUnprepared()));
    const results = await Promise.all(all.map((database) => migrate(database)));
    const byVersion = results.flat().sort((a, b) => a.version - b.version);
    expect(byVersion).toEqual(migrations.map(done('up')));
    for (const database of all) expect((await schemaStatus(database)).pending).toEqual([]);
  });

  it('reports a failure, undoes that migration alone and stops there', async () => {
    const database = await (await emptyPlace()).openUnprepared();
    const available = [...migrations, faulty, unreached];
    const results = await migrate(database, { available });
    expect(results.map(({ version, status }) => [version, status])).toEqual([
      ...migrations.map(({ version }) => [version, 'done']),
      [faulty.version, 'failed'],
      [unreached.version, 'not_run'],
    ]);
    expect(String(results.at(-2)!.error)).toContain('there_is_no_such_table');
    expect(await schemaStatus(database, available)).toMatchObject({ current: latest });
    await expect(database.transaction((run) => run('SELECT * FROM half_made'))).rejects.toThrow('half_made');
    expect(await new RunStore(database).commit([creation(aRun())])).toEqual([]);
  });

  it('refuses a version that does not exist', async () => {
    const database = await (await emptyPlace()).openUnprepared();
    await expect(migrate(database, { to: latest + 1 })).rejects.toThrow(
      `There is no schema version ${latest + 1}. The versions are 0 to ${latest}.`,
    );
    expect((await schemaStatus(database)).current).toBe(0);
  });

  it('refuses a schema that is newer than it knows', async () => {
    const database = await (await emptyPlace()).open();
    const older = migrations.slice(0, -1);
    await expect(migrate(database, { available: older })).rejects.toThrow(
      /this Runyard knows versions up to/,
    );
    expect((await schemaStatus(database)).current).toBe(latest);
  });
});
