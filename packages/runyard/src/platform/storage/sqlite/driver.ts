import type { CompiledQuery, DatabaseConnection, Dialect, Driver, Kysely, QueryResult } from 'kysely';
import type { SqlValue } from '../database.js';
import { queryBuilder } from '../query-builder.js';
import { decodeRows, encodeForSqlite } from '../text.js';
import type { SqliteReader } from './reader.js';
import type { SqliteWriter } from './writer.js';

/** Kysely over the reading connection of this thread and the writing one of the other. */
export function sqliteDialect(reader: SqliteReader, writer: SqliteWriter): Dialect {
  return {
    createAdapter: () => new (queryBuilder().SqliteAdapter)(),
    createDriver: () => new SqliteDriver(reader, writer),
    createIntrospector: (database: Kysely<unknown>) => new (queryBuilder().SqliteIntrospector)(database),
    createQueryCompiler: () => new (queryBuilder().SqliteQueryCompiler)(),
  };
}

class SqliteDriver implements Driver {
  constructor(
    private readonly reader: SqliteReader,
    private readonly writer: SqliteWriter,
  ) {}

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteDriverConnection> {
    return new SqliteDriverConnection(this.reader, this.writer);
  }

  beginTransaction(connection: SqliteDriverConnection): Promise<void> {
    return connection.begin();
  }

  commitTransaction(connection: SqliteDriverConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: SqliteDriverConnection): Promise<void> {
    return connection.rollback();
  }

  async releaseConnection(): Promise<void> {}

  // Both connections are the database's to close.
  async destroy(): Promise<void> {}
}

class SqliteDriverConnection implements DatabaseConnection {
  #endTurn: (() => void) | undefined;

  constructor(
    private readonly reader: SqliteReader,
    private readonly writer: SqliteWriter,
  ) {}

  /** Takes the write lock at once: a transaction that reads first and then writes would fail when it is beaten. */
  async begin(): Promise<void> {
    const endTurn = await this.writer.takeTurn();
    try {
      await this.writer.queryInTurn('BEGIN IMMEDIATE', []);
      this.#endTurn = endTurn;
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  async commit(): Promise<void> {
    // When it fails the transaction is still open: Kysely asks for the rollback then, which ends the turn.
    await this.writer.queryInTurn('COMMIT', []);
    this.#finishTurn();
  }

  async rollback(): Promise<void> {
    // It fails when SQLite has rolled back by itself; the error that led here is the one to tell.
    await this.writer.queryInTurn('ROLLBACK', []).catch(() => {});
    this.#finishTurn();
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const parameters = (query.parameters as readonly SqlValue[]).map(encodeForSqlite);
    if (this.#endTurn === undefined && onlyReads(query)) {
      return { rows: decodeRows(this.reader.query(query.sql, parameters) as Row[]) };
    }
    const outcome =
      this.#endTurn === undefined
        ? await this.writer.query(query.sql, parameters)
        : await this.writer.queryInTurn(query.sql, parameters);
    return { rows: decodeRows(outcome.rows as Row[]), numAffectedRows: BigInt(outcome.changes) };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming a query is not supported on SQLite; read pages instead.');
  }

  #finishTurn(): void {
    this.#endTurn?.();
    this.#endTurn = undefined;
  }
}

function onlyReads(query: CompiledQuery): boolean {
  if (query.query.kind === 'SelectQueryNode') return true;
  return query.query.kind === 'RawNode' && /^\s*select\b/i.test(query.sql);
}
