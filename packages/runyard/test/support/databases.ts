import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, onTestFinished } from 'vitest';
import { migrations } from '../../src/capabilities/capabilities.js';
import { silentLog } from '../../src/core/log.js';
import type { Database, Dialect } from '../../src/platform/storage/database.js';
import { migrate } from '../../src/platform/storage/migrations/migrate.js';
import { openDatabase } from '../../src/platform/storage/open.js';

/** A place for one test's data that no other test uses, removed when the test has ended. */
export interface DatabasePlace {
  readonly url: string;
  /** A connection with the newest schema. Another one sees the same data, as another process would. */
  open(): Promise<Database>;
  /** A connection to whatever is there: nothing, at first. */
  openUnprepared(): Promise<Database>;
}

/** Defines the same tests for every kind of database. */
export function forEachDatabase(
  define: (dialect: Dialect, freshPlace: () => Promise<DatabasePlace>) => void,
): void {
  describe('on sqlite', () => define('sqlite', freshSqlite));
  describe('on postgres', () => define('postgres', freshPostgres));
}

export async function freshSqlite(): Promise<DatabasePlace> {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-sqlite-'));
  return place(`sqlite://${folder}/runyard.db`, async () => rmSync(folder, { recursive: true, force: true }));
}

export async function freshPostgres(): Promise<DatabasePlace> {
  const server = process.env.RUNYARD_TEST_POSTGRES_URL;
  if (!server)
    throw new Error('No PostgreSQL to test on: run through npm test, or set RUNYARD_TEST_POSTGRES_URL');
  const schema = `test_${randomBytes(8).toString('hex')}`;
  await execute(server, `CREATE SCHEMA ${schema}`);
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return place(url.href, () => execute(server, `DROP SCHEMA ${schema} CASCADE`));
}

function place(url: string, remove: () => Promise<void>): DatabasePlace {
  const opened: Database[] = [];
  onTestFinished(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await remove();
  });
  const openUnprepared = async () => {
    const database = await openDatabase({ id: 'test', url, migrations, log: silentLog });
    opened.push(database);
    return database;
  };
  return {
    url,
    openUnprepared,
    async open() {
      const database = await openUnprepared();
      const failed = (await migrate(database)).find(({ status }) => status === 'failed');
      if (failed) throw failed.error;
      return database;
    },
  };
}

/** Hundreds of tests make and drop their schemas in one process: they share its connections. */
const pools = new Map<string, pg.Pool>();

async function execute(url: string, sql: string): Promise<void> {
  const pool = pools.get(url) ?? new pg.Pool({ connectionString: url, allowExitOnIdle: true });
  // an idle connection that breaks is replaced by the next query
  if (!pools.has(url)) pool.on('error', () => {});
  pools.set(url, pool);
  await pool.query(sql);
}
