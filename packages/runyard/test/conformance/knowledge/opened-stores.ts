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
import type { Database, RunStatement, Statement } from '../../../src/platform/storage/database.js';
import { migrate } from '../../../src/platform/storage/migrations/migrate.js';
import { openDatabase } from '../../../src/platform/storage/open.js';
import { decodeRows, encodeParameter } from '../../../src/platform/storage/text.js';

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

/** PostgreSQL in this process, with pgvector: no server of the tests has it. */
export async function onPgvector(): Promise<OpenedStore> {
  const [{ PGlite }, { vector }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite-pgvector'),
  ]);
  const pglite = await PGlite.create({ extensions: { vector } });
  for (const statement of knowledgeSearch.up('postgres')) await pglite.exec(statement);
  type Parameters = readonly unknown[] | undefined;
  const run = (on: Pick<typeof pglite, 'query'>) => async (sql: string, values: Parameters) =>
    decodeRows((await on.query(sql, values?.map(encodeParameter))).rows);
  const database = {
    id: 'pgvector',
    dialect: 'postgres',
    outage: undefined,
    query: {
      executeQuery: async ({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) => ({
        rows: await run(pglite)(sql, parameters),
      }),
    },
    read: (statement: Statement, parameters: Parameters) => run(pglite)(statement.postgres, parameters),
    transaction: <T>(work: (run: RunStatement) => Promise<T>) =>
      // rows are as the statement says, as with the real driver
      pglite.transaction((transaction) => work(run(transaction) as RunStatement)),
    // the store uses nothing else of a database
  } as unknown as Database;
  return {
    store: builtInVectorStore(database, silentLog, 0),
    another: builtInVectorStore(database, silentLog, 0),
    database,
    close: () => pglite.close(),
  };
}
