import type { Availability } from '../availability.js';
import type { SqlValue, Statement } from '../database.js';
import { decodeRows, encodeForSqlite } from '../text.js';
import { troubleOf } from '../transient.js';
import type { StoredValue } from './batch-runner.js';
import type { SqliteConnection, SqliteStatement } from './library.js';

const maximumQueries = 200;

/** The time that a read waits for another process: bounded, because the main thread waits with it. */
const waiting = 'PRAGMA busy_timeout = 1000';
const notWaiting = 'PRAGMA busy_timeout = 0';

/**
 * The reading connection, on the main thread: a read takes microseconds, less than handing it to another thread.
 * It sees what is committed, without waiting for a writer.
 */
export class SqliteReader {
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #queries = new Map<string, SqliteStatement>();

  // The connection itself is kept: statements alone do not keep it from being collected.
  constructor(
    private readonly connection: SqliteConnection,
    private readonly availability: Availability,
  ) {}

  read<Row>(statement: Statement, parameters: readonly SqlValue[]): Row[] {
    const values = parameters.map(encodeForSqlite);
    return decodeRows<Row>(this.#attempt(() => this.#prepared(statement).all(...values)));
  }

  #prepared(statement: Statement): SqliteStatement {
    let prepared = this.#statements.get(statement.name);
    if (prepared === undefined) {
      prepared = this.connection.prepare(statement.sqlite);
      this.#statements.set(statement.name, prepared);
    }
    return prepared;
  }

  query(sql: string, parameters: readonly StoredValue[]): unknown[] {
    return this.#attempt(() => this.#preparedQuery(sql).all(...parameters));
  }

  #preparedQuery(sql: string): SqliteStatement {
    let prepared = this.#queries.get(sql);
    if (prepared === undefined) {
      // Lists are built from many filters; only the texts in use are worth keeping.
      if (this.#queries.size >= maximumQueries) this.#queries.clear();
      prepared = this.connection.prepare(sql);
      this.#queries.set(sql, prepared);
    }
    return prepared;
  }

  #attempt<T>(read: () => T): T {
    try {
      return this.#waitingIfBusy(read);
    } catch (error) {
      throw this.availability.failure(error);
    }
  }

  /** Only a read that finds the file busy waits: writes on the main thread never do, and to set this each time is slow. */
  #waitingIfBusy<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (troubleOf(error) !== 'busy') throw error;
      this.connection.exec(waiting);
      try {
        return read();
      } finally {
        this.connection.exec(notWaiting);
      }
    }
  }

  close(): void {
    this.#statements.clear();
    this.#queries.clear();
    this.connection.close();
  }
}
