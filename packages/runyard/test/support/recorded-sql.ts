import pg from 'pg';
import { vi } from 'vitest';
import type { Database } from '../../src/platform/storage/database.js';
import { SqliteReader } from '../../src/platform/storage/sqlite/reader.js';
import { encodeForSqlite } from '../../src/platform/storage/text.js';

/** A statement as it was sent to the database. */
export interface SentStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Notes the reading statements that this process sends to databases of one kind, and lets them through. */
export function recordSql({ dialect }: Pick<Database, 'dialect'>): () => SentStatement[] {
  const sent: SentStatement[] = [];
  if (dialect === 'sqlite') {
    const { query, read } = SqliteReader.prototype;
    vi.spyOn(SqliteReader.prototype, 'query').mockImplementation(function (this: SqliteReader, sql, parameters) {
      sent.push({ sql, parameters });
      return query.call(this, sql, parameters);
    });
    vi.spyOn(SqliteReader.prototype, 'read').mockImplementation(function (
      this: SqliteReader,
      statement,
      parameters,
    ) {
      sent.push({ sql: statement.sqlite, parameters: parameters.map(encodeForSqlite) });
      return read.call(this, statement, parameters) as never[];
    });
  } else {
    const query = pg.Client.prototype.query as (...words: unknown[]) => unknown;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...words: unknown[]) {
      const [first, second] = words as [string | { text: string; values?: unknown[] }, unknown];
      const [sql, values] = typeof first === 'string' ? [first, second] : [first.text, first.values ?? second];
      sent.push({ sql, parameters: Array.isArray(values) ? values : [] });
      return query.apply(this, words);
    } as typeof pg.Client.prototype.query);
  }
  return () => sent.splice(0);
}

/** How the database finds what a statement asks for, a line for each part. */
export async function planOf(place: { readonly url: string }, { sql, parameters }: SentStatement): Promise<string[]> {
  if (place.url.startsWith('sqlite:')) return sqlitePlan(place.url.slice('sqlite://'.length), sql, parameters);
  const client = new pg.Client({ connectionString: place.url });
  await client.connect();
  try {
    // a table with few rows is read as a whole, whatever indexes it has
    await client.query('SET enable_seqscan = off; SET enable_bitmapscan = on');
    const { rows } = await client.query(`EXPLAIN ${sql}`, [...parameters]);
    return rows.map((row: Record<string, string>) => row['QUERY PLAN']!.trim());
  } finally {
    await client.end();
  }
}

async function sqlitePlan(path: string, sql: string, parameters: readonly unknown[]): Promise<string[]> {
  const { loadSqliteLibrary } = await import('../../src/platform/storage/sqlite/library.js');
  const database = new (loadSqliteLibrary().DatabaseSync)(path);
  try {
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters as string[])) as {
      detail: string;
    }[];
    return rows.map(({ detail }) => detail);
  } finally {
    database.close();
  }
}
