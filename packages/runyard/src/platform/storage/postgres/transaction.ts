import { decodeRows, encodeParameter } from '../text.js';
import type { OpenTransaction } from '../transaction.js';
import type { Connecting } from './connections.js';

/** Begins a transaction on a connection of its own, which goes back to the pool when it ends. */
export async function beginPostgresTransaction(connections: Connecting): Promise<OpenTransaction> {
  const client = await connections.connect();
  try {
    await client.query({ text: 'BEGIN' });
  } catch (error) {
    client.release(true);
    throw error;
  }
  return {
    async query(sql, parameters) {
      const results = await client.query({ text: sql, values: parameters.map(encodeParameter) });
      // several statements have several results: the rows are those of the last one
      const { rows = [] } = [results].flat().at(-1) ?? {};
      return decodeRows(rows);
    },
    async commit() {
      await client.query({ text: 'COMMIT' }, 'write');
      client.release();
    },
    async rollback() {
      const undone = await client.query({ text: 'ROLLBACK' }).then(
        () => true,
        () => false,
      );
      // Still inside the transaction: it must not go back to the pool.
      client.release(!undone);
    },
  };
}
