import type { Database } from '../../../../platform/storage/database.js';
import { numbersIn, readRows } from '../sql-store.js';

/** Rows from the first number to before the second. */
export type RowRange = readonly [number, number];

export interface LoadedBits {
  readonly rowIds: readonly number[];
  /** Of all rows, one after the other. */
  readonly bits: Uint8Array;
}

/**
 * The bits of some rows, in the order of the rows. They come as one value: a value for each row costs ten times more.
 * Rows of earlier builds have the signs alone, without details: the signs stand for both.
 */
export async function loadBits(
  database: Database,
  bytes: number,
  ranges: readonly RowRange[],
): Promise<LoadedBits> {
  const both = (bits: string) => `CASE WHEN length(b.bits) = ? THEN ${bits} || ${bits} ELSE ${bits} END`;
  if (database.dialect === 'sqlite') {
    const [row] = await readRows<{ ids: string | null; bits: string | null }>(
      database,
      `SELECT group_concat(row_id, ',') AS ids, group_concat(bits, '') AS bits FROM (
        SELECT b.row_id, ${both('hex(b.bits)')} AS bits FROM json_each(?) AS r CROSS JOIN knowledge_bits AS b
        WHERE b.row_id >= json_extract(r.value, '$[0]') AND b.row_id < json_extract(r.value, '$[1]')
        ORDER BY b.row_id)`,
      [bytes, JSON.stringify(ranges)],
    );
    return { rowIds: numbersIn(row?.ids), bits: Buffer.from(row?.bits ?? '', 'hex') };
  }
  const [row] = await readRows<{ ids: string | null; bits: Uint8Array | null }>(
    database,
    `SELECT string_agg(CAST(b.row_id AS text), ',' ORDER BY b.row_id) AS ids,
        string_agg(${both('b.bits')}, CAST('' AS bytea) ORDER BY b.row_id) AS bits
      FROM unnest(CAST(? AS bigint[]), CAST(? AS bigint[])) AS r (low, high)
      JOIN knowledge_bits AS b ON b.row_id >= r.low AND b.row_id < r.high`,
    [bytes, ranges.map(([low]) => String(low)), ranges.map(([, high]) => String(high))],
  );
  return { rowIds: numbersIn(row?.ids), bits: row?.bits ?? new Uint8Array() };
}
