import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrations } from '../../../src/capabilities/capabilities.js';
import { builtInVectorStore } from '../../../src/capabilities/knowledge/chunks/built-in-vector-store.js';
import { knowledgeSearch } from '../../../src/capabilities/knowledge/migrations/0017-knowledge-search.js';
import type { VectorStore } from '../../../src/core/knowledge/vector-store.js';
import { silentLog } from '../../../src/core/log.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { migrate } from '../../../src/platform/storage/migrations/migrate.js';
import { openDatabase } from '../../../src/platform/storage/open.js';

/** A store that a whole suite uses, and what another process would open over the same data. */
export interface OpenedStore {
  readonly store: VectorStore;
  readonly another?: VectorStore;
  readonly database?: Database;
  close(): Promise<void>;
}

const known = migrations.includes(knowledgeSearch) ? migrations : [...migrations, knowledgeSearch];

export async function onSqlite(): Promise<OpenedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-knowledge-'));
  return opened(`sqlite://${folder}/runyard.db`, async () =>
    rmSync(folder, { recursive: true, force: true }),
  );
}

export async function onPostgres(): Promise<OpenedStore> {
  const server = process.env.RUNYARD_TEST_POSTGRES_URL;
  if (!server)
    throw new Error('No PostgreSQL to test on: run through npm test, or set RUNYARD_TEST_POSTGRES_URL');
  const schema = `test_${randomBytes(8).toString('hex')}`;
  await execute(server, `CREATE SCHEMA ${schema}`);
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return opened(url.href, () => execute(server, `DROP SCHEMA ${schema} CASCADE`));
}

async function opened(url: string, remove: () => Promise<void>): Promise<OpenedStore> {
  const database = await openDatabase({ id: 'test', url, migrations: known, log: silentLog });
  const failed = (await migrate(database)).find(({ status }) => status === 'failed');
  if (failed) throw failed.error;
  return {
    store: builtInVectorStore(database, silentLog),
    another: builtInVectorStore(database, silentLog),
    database,
    async close() {
      await database.close();
      await remove();
    },
  };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
