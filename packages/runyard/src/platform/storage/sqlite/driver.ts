import type { CompiledQuery, DatabaseConnection, Dialect, Driver, Kysely, QueryResult } from 'kysely';
import type { SqlValue } from '../database.js';
import { queryBuilder } from '../query-builder.js';
import { decodeRows, encodeForSqlite } from '../text.js';
import type { SqliteReader } from './reader.js';
import { SqliteTransaction } from './transaction.js';
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
  #transaction: SqliteTransaction | undefined;

  constructor(
    private readonly reader: SqliteReader,
    private readonly writer: SqliteWriter,
  ) {}

  async begin(): Promise<void> {
    this.#transaction = await SqliteTransaction.begin(this.writer);
  }

  async commit(): Promise<void> {
    // When it fails the transaction is still open: Kysely asks for the rollback then.
    await this.#transaction?.commit();
    this.#transaction = undefined;
  }

  async rollback(): Promise<void> {
    await this.#transaction?.rollback();
    this.#transaction = undefined;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // stores give no other values, and rows have the columns that the query selects
    const parameters = query.parameters as readonly SqlValue[];
    if (this.#transaction !== undefined) {
      const { rows, changes } = await this.#transaction.execute(query.sql, parameters);
      // as above
      return { rows: rows as Row[], numAffectedRows: BigInt(changes) };
    }
    const encoded = parameters.map(encodeForSqlite);
    if (onlyReads(query)) return { rows: decodeRows<Row>(this.reader.query(query.sql, encoded)) };
    const { rows, changes } = await this.writer.query(query.sql, encoded);
    return { rows: decodeRows<Row>(rows), numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming a query is not supported on SQLite; read pages instead.');
  }
}

function onlyReads(query: CompiledQuery): boolean {
  if (query.query.kind === 'SelectQueryNode') return true;
  return query.query.kind === 'RawNode' && /^\s*select\b/i.test(query.sql);
}
