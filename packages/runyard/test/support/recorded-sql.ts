import pg from 'pg';
import { vi } from 'vitest';
import type { Database } from '../../src/platform/storage/database.js';
import { loadSqliteLibrary } from '../../src/platform/storage/sqlite/library.js';
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
    vi.spyOn(SqliteReader.prototype, 'query').mockImplementation(function (
      this: SqliteReader,
      sql,
      parameters,
    ) {
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
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...words: unknown[]
    ) {
      const [first, second] = words as [string | { text: string; values?: unknown[] }, unknown];
      const [sql, values] =
        typeof first === 'string' ? [first, second] : [first.text, first.values ?? second];
      sent.push({ sql, parameters: Array.isArray(values) ? values : [] });
      return query.apply(this, words);
    } as typeof pg.Client.prototype.query);
  }
  return () => sent.splice(0);
}

/** The query plan of a statement, a line for each part. */
export interface Explainer {
  planOf(statement: SentStatement): Promise<string[]>;
  close(): Promise<void>;
}

export async function openExplainer({ url }: { readonly url: string }): Promise<Explainer> {
  return url.startsWith('sqlite:') ? sqliteExplainer(url.slice('sqlite://'.length)) : postgresExplainer(url);
}

function sqliteExplainer(path: string): Explainer {
  const database = new (loadSqliteLibrary().DatabaseSync)(path);
  return {
    async planOf({ sql, parameters }) {
      const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters as string[]));
      return (rows as { detail: string }[]).map(({ detail }) => detail);
    },
    close: async () => database.close(),
  };
}

async function postgresExplainer(url: string): Promise<Explainer> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // a table with few rows is read as a whole otherwise, whatever indexes it has
  await client.query('SET enable_seqscan = off');
  return {
    async planOf({ sql, parameters }) {
      const { rows } = await client.query(`EXPLAIN ${sql}`, [...parameters]);
      return rows.map((row: Record<string, string>) => row['QUERY PLAN']!.trim());
    },
    close: () => client.end(),
  };
}
