import type { Pool } from 'pg';
import { decodeRows, encodeParameter } from '../text.js';
import type { OpenTransaction } from '../transaction.js';

/** Begins a transaction on a connection of its own, which goes back to the pool when it ends. */
export async function beginPostgresTransaction(pool: Pool): Promise<OpenTransaction> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
  } catch (error) {
    client.release(true);
    throw error;
  }
  return {
    async query(sql, parameters) {
      const { rows } = await client.query(sql, parameters.map(encodeParameter));
      return decodeRows(rows as unknown[]);
    },
    async commit() {
      await client.query('COMMIT');
      client.release();
    },
    async rollback() {
      const undone = await client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
      // Still inside the transaction: it must not go back to the pool.
      client.release(!undone);
    },
  };
}
