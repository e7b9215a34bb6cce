import type { SqlValue } from '../database.js';
import { encodeText } from '../text.js';
import type { ColumnType, Rows } from '../write-plan.js';

/** Rows, and the types of their columns: each column becomes an array. */
export interface ColumnLists {
  readonly types: readonly ColumnType[];
  readonly rows: Rows;
}

/** The OIDs of the types. */
const typeOids: Readonly<Record<ColumnType, number>> = {
  text: 25,
  integer: 23,
  bigint: 20,
  'double precision': 701,
};
/** The bytes of a value of fixed length. */
const sizes: Readonly<Record<ColumnType, number>> = {
  text: 0,
  integer: 4,
  bigint: 8,
  'double precision': 8,
};

/** Five 32-bit fields: dimensions, the null flag, the OID of the elements, their count, the index of the first. */
const headBytes = 20;
const lengthBytes = 4;
const lengthOfNull = -1;
const wordValues = 2 ** 32;

/**
 * A parameter for each column: an array in PostgreSQL's binary format. In the text format, each quote of the JSON in it
 * would have to be escaped here and unescaped there.
 */
export function binaryLists(columns: readonly ColumnLists[]): Buffer[] {
  const values: (string | number | null)[] = [];
  let size = 0;
  for (const { types, rows } of columns) {
    for (const [column, type] of types.entries()) {
      size += headBytes;
      for (const row of rows) {
        const value = encoded(type, row[column]);
        size += lengthBytes + (typeof value === 'string' ? Buffer.byteLength(value) : sizes[type]);
        values.push(value);
      }
    }
  }
  const writer = new ListWriter(size, values);
  const lists: Buffer[] = [];
  for (const { types, rows } of columns) for (const type of types) lists.push(writer.list(type, rows.length));
  return lists;
}

function encoded(type: ColumnType, value: SqlValue | undefined): string | number | null {
  if (value === null || value === undefined) return null;
  if (type === 'text') return encodeText(String(value));
  const number = Number(value);
  // PostgreSQL would refuse its text; in binary, it would become another number
  if (String(number) !== String(value) || (type !== 'double precision' && !Number.isInteger(number)))
    throw new TypeError(`${value} is stored as ${type}, which it is not.`);
  return number;
}

/** Writes the lists one after the other into the same bytes. */
class ListWriter {
  readonly #bytes: Buffer;
  #at = 0;
  #next = 0;

  constructor(
    size: number,
    private readonly values: readonly (string | number | null)[],
  ) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** Takes the next values. */
  list(type: ColumnType, count: number): Buffer {
    const bytes = this.#bytes;
    const start = this.#at;
    bytes.writeInt32BE(1, start);
    bytes.writeInt32BE(1, start + 4);
    bytes.writeInt32BE(typeOids[type], start + 8);
    bytes.writeInt32BE(count, start + 12);
    bytes.writeInt32BE(1, start + 16);
    let at = start + headBytes;
    const end = this.#next + count;
    for (; this.#next < end; this.#next += 1) {
      const value = this.values[this.#next] ?? null;
      const from = at + lengthBytes;
      let length = sizes[type];
      if (value === null) length = lengthOfNull;
      else if (typeof value === 'string') length = bytes.write(value, from);
      else if (type === 'integer') bytes.writeInt32BE(value, from);
      else if (type === 'bigint') this.#writeBig(value, from);
      else bytes.writeDoubleBE(value, from);
      bytes.writeInt32BE(length, at);
      at = from + Math.max(length, 0);
    }
    this.#at = at;
    return bytes.subarray(start, at);
  }

  #writeBig(value: number, at: number): void {
    const high = Math.floor(value / wordValues);
    this.#bytes.writeInt32BE(high, at);
    this.#bytes.writeUInt32BE(value - high * wordValues, at + 4);
  }
}
