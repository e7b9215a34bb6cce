import type { SqliteConnection, SqliteStatement } from './library.js';

export type StoredValue = string | number | null | Uint8Array;

/** One row: the number of its statement, how it guards its unit, its parameters. */
export type NumberedRow = readonly [statement: number, guard: 0 | 1 | 2, parameters: readonly StoredValue[]];
export const guardNumbers = { none: 0, changed: 1, found: 2 } as const;

export interface BatchRunner {
  inTransaction<T>(work: () => T): T;
  /** Returns the position of the guard that refused the unit, or -1. What comes after that guard is not written. */
  runUnit(unit: readonly NumberedRow[]): number;
  /** Runs statements in a transaction, unless a query finds a row. Returns whether it ran them. */
  runScript(sql: string, unlessFound: string): boolean;
}

/**
 * Runs units of rows on a connection; `texts` holds the statements by their number. The thread that writes gets this
 * as source text, hence it uses nothing but its parameters and its types.
 */
export function batchRunner(connection: SqliteConnection, texts: readonly string[]): BatchRunner {
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  const rollback = connection.prepare('ROLLBACK');
  const statements: SqliteStatement[] = [];

  function inTransaction<T>(work: () => T): T {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      try {
        rollback.run();
      } catch {
        // SQLite has rolled back by itself (a full disk, for one): the first error is the one to report.
      }
      throw error;
    }
  }

  return {
    inTransaction,
    runScript(sql, unlessFound) {
      return inTransaction(() => {
        if (connection.prepare(unlessFound).get() !== undefined) return false;
        connection.exec(sql);
        return true;
      });
    },
    runUnit(unit) {
      for (let index = 0; index < unit.length; index++) {
        // without an iterator, on the path of every run: the index is within the list
        const [number, guard, parameters] = unit[index]!;
        // only now: one that cannot be prepared fails with its own unit; the text is known before its number is used
        statements[number] ??= connection.prepare(texts[number]!);
        const statement = statements[number];
        if (guard === 2) {
          if (statement.get(...parameters) === undefined) return index;
        } else if (Number(statement.run(...parameters).changes) === 0 && guard === 1) {
          return index;
        }
      }
      return -1;
    },
  };
}
