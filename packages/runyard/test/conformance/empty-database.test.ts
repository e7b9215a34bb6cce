import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { migrations } from '../../src/capabilities/capabilities.js';
import type { Database } from '../../src/platform/storage/database.js';
import { migrate, schemaStatus } from '../../src/platform/storage/migrations/migrate.js';
import { sqlitePath } from '../../src/platform/storage/open.js';
import { loadSqliteLibrary } from '../../src/platform/storage/sqlite/library.js';
import { emptySqlite, forEachDatabase } from '../support/databases.js';
import { until } from '../support/until.js';

const latest = migrations.length;

/** Everything that makes up a schema, in an order that does not depend on how it was made. */
const descriptions = {
  sqlite: ['SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name'],
  postgres: [
    `SELECT table_name, column_name, ordinal_position, data_type, is_nullable, column_default
       FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 3`,
    `SELECT tablename, indexname, replace(indexdef, current_schema() || '.', '') AS indexdef
       FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1, 2`,
    `SELECT conrelid::regclass::text AS name, conname, replace(pg_get_constraintdef(oid), current_schema() || '.', '') AS def
       FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2`,
  ],
};

async function described(database: Database): Promise<unknown> {
  return database.transaction(async (run) => {
    const found = [await run('SELECT version, name FROM runyard_migrations ORDER BY version')];
    for (const sql of descriptions[database.dialect]) found.push(await run(sql));
    return found;
  });
}

forEachDatabase((_dialect, _freshPlace, emptyPlace) => {
  it('has the same schema and the same notes as after one migration at a time', async () => {
    const [whole, stepwise] = [
      await (await emptyPlace()).openUnprepared(),
      await (await emptyPlace()).openUnprepared(),
    ];
    await migrate(whole);
    for (const { version } of migrations) await migrate(stepwise, { to: version });
    expect(await described(whole)).toEqual(await described(stepwise));
  });

  it('is filled up to the version that is asked for, and no further', async () => {
    const database = await (await emptyPlace()).openUnprepared();
    await migrate(database, { to: 9 });
    expect((await schemaStatus(database)).current).toBe(9);
    expect(await migrate(database)).toHaveLength(latest - 9);
  });
});

it('is filled without the thread that writes, or with one message to it while another process writes', async () => {
  const send = vi.spyOn(Worker.prototype, 'postMessage');
  onTestFinished(() => send.mockRestore());
  const sent = () => send.mock.calls.map(([message]) => message.kind);
  await migrate(await (await emptySqlite()).openUnprepared());
  expect(sent()).toEqual([]);

  const { url, openUnprepared } = await emptySqlite();
  const database = await openUnprepared();
  const { DatabaseSync } = loadSqliteLibrary();
  const other = new DatabaseSync(url.replace('sqlite://', ''));
  other.exec('BEGIN IMMEDIATE');
  const filled = migrate(database);
  await until('the thread has the message', () => sent().length === 2);
  other.exec('COMMIT');
  other.close();
  expect(await filled).toHaveLength(latest);
  expect(sent()).toEqual(['open', 'script']);
});

it('is still empty when the process is killed while it fills it, and the next start fills it', async () => {
  const place = await emptySqlite();
  const program = fileURLToPath(new URL('./filling-process.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, place.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    await once(child.stdout, 'data');
    await untilFilling(sqlitePath(place.url));
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
  const database = await place.openUnprepared();
  expect((await schemaStatus(database)).current).toBe(0);
  expect((await migrate(database)).map(({ status }) => status)).toEqual(migrations.map(() => 'done'));
  expect((await schemaStatus(database)).pending).toEqual([]);
});

/** No other connection gets the write lock for a whole second: between two transactions there is time to get it. */
async function untilFilling(path: string): Promise<void> {
  const { DatabaseSync } = loadSqliteLibrary();
  const connection = new DatabaseSync(path);
  connection.exec('PRAGMA busy_timeout = 1000');
  try {
    await until('the database is being filled', () => {
      try {
        connection.exec('BEGIN IMMEDIATE; ROLLBACK');
        return false;
      } catch (error) {
        return String(error).includes('database is locked');
      }
    });
  } finally {
    connection.close();
  }
}
