import type { RunStatement, SqlValue } from './database.js';

/** A transaction that has begun. Commit or rollback ends it. */
export interface OpenTransaction {
  query(sql: string, parameters: readonly SqlValue[]): Promise<unknown[]>;
  /** When it fails the transaction is still open. */
  commit(): Promise<void>;
  /** Never fails: the error that led to it is the one to report. */
  rollback(): Promise<void>;
}

/**
 * Commits what the work has written, or undoes it and rejects with the first error. A failed statement is not to be
 * survived by catching its error: PostgreSQL would silently turn the commit into a rollback.
 */
export async function completeTransaction<T>(
  transaction: OpenTransaction,
  work: (run: RunStatement) => Promise<T>,
): Promise<T> {
  const failures: unknown[] = [];
  const run: RunStatement = async <Row>(sql: string, parameters: readonly SqlValue[] = []) => {
    try {
      // the rows have the columns that the statement selects
      return (await transaction.query(sql, parameters)) as Row[];
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
  try {
    const result = await work(run);
    if (failures.length > 0) throw failures[0];
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback();
    throw failures.length > 0 ? failures[0] : error;
  }
}
