import type {
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  Kysely,
  QueryResult,
  TransactionSettings,
} from 'kysely';
import { queryBuilder } from '../query-builder.js';
import { decodeRows, encodeParameter } from '../text.js';
import type { Connecting, HeldClient } from './connections.js';

/** No list takes this long: it waits for a lock of another program, or has to be asked for in smaller parts. */
const queryTimeoutMs = 60_000;

/** Kysely over the pool. Its own driver would do, but for the texts that PostgreSQL cannot hold. */
export function postgresDialect(connections: Connecting): Dialect {
  return {
    createAdapter: () => new (queryBuilder().PostgresAdapter)(),
    createDriver: () => new PostgresDriver(connections),
    createIntrospector: (database: Kysely<unknown>) => new (queryBuilder().PostgresIntrospector)(database),
    createQueryCompiler: () => new (queryBuilder().PostgresQueryCompiler)(),
  };
}

class PostgresDriver implements Driver {
  constructor(private readonly connections: Connecting) {}

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(await this.connections.connect());
  }

  async beginTransaction({ client }: PostgresConnection, settings: TransactionSettings): Promise<void> {
    const isolation = settings.isolationLevel ? ` ISOLATION LEVEL ${settings.isolationLevel}` : '';
    const access = settings.accessMode ? ` ${settings.accessMode}` : '';
    await client.query({ text: `BEGIN${isolation}${access}` });
  }

  async commitTransaction({ client }: PostgresConnection): Promise<void> {
    await client.query({ text: 'COMMIT' }, 'write');
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    // The error that led here is the one to report.
    await connection.client.query({ text: 'ROLLBACK' }).catch(() => {
      connection.unusable = true;
    });
  }

  async releaseConnection({ client, unusable }: PostgresConnection): Promise<void> {
    client.release(unusable);
  }

  // The pool is the database's to close.
  async destroy(): Promise<void> {}
}

class PostgresConnection implements DatabaseConnection {
  /** Still inside a transaction: must not go back to the pool. */
  unusable = false;

  constructor(readonly client: HeldClient) {}

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const query = { text: sql, values: parameters.map(encodeParameter), query_timeout: queryTimeoutMs };
    const result = await this.client.query(query);
    const rows = decodeRows<Row>(result.rows);
    return result.command === 'SELECT' ? { rows } : { rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming a query is not supported; read pages instead.');
  }
}
