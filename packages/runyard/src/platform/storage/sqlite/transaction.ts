import type { SqlValue } from '../database.js';
import { decodeRows, encodeForSqlite } from '../text.js';
import type { OpenTransaction } from '../transaction.js';
import type { QueryOutcome, SqliteWriter, WriterTurn } from './writer.js';

/** A transaction on the writing connection: it is the writer's turn, so that no other write runs until it ends. */
export class SqliteTransaction implements OpenTransaction {
  private constructor(private readonly turn: WriterTurn) {}

  /** Takes the write lock at once: a transaction that reads first and then writes would fail when it is beaten. */
  static async begin(writer: SqliteWriter): Promise<SqliteTransaction> {
    const turn = await writer.takeTurn();
    try {
      await turn.query('BEGIN IMMEDIATE', []);
      return new SqliteTransaction(turn);
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  async query(sql: string, parameters: readonly SqlValue[]): Promise<unknown[]> {
    return (await this.execute(sql, parameters)).rows;
  }

  /** As `query`, and returns how many rows the statement changed. */
  async execute(sql: string, parameters: readonly SqlValue[]): Promise<QueryOutcome> {
    const outcome = await this.turn.query(sql, parameters.map(encodeForSqlite));
    return { rows: decodeRows(outcome.rows), changes: outcome.changes };
  }

  async commit(): Promise<void> {
    await this.turn.commit();
    this.turn.end();
  }

  async rollback(): Promise<void> {
    // It fails when SQLite has rolled back by itself.
    await this.turn.query('ROLLBACK', []).catch(() => {});
    this.turn.end();
  }
}
