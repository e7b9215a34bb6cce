import { setImmediate as nextTurn } from 'node:timers/promises';
import { bitCodec } from '../../../../core/knowledge/search/bit-vectors.js';
import { Nearest } from '../../../../core/knowledge/search/nearest.js';

/** Bytes that are compared before other work gets its turn: about 3 ms. */
const bytesPerTurn = 2 ** 21;

export interface Estimate {
  readonly rowId: number;
  /** The estimated similarity. */
  readonly score: number;
}

/** The bits of the published chunks of one knowledge base, with vectors of one length, in memory. */
export class BitIndex {
  #rowIds = new Float64Array(256);
  #bits: Uint8Array;
  #isRemoved = new Uint8Array(256);
  #count = 0;
  #removed = 0;
  /** Where the rows of a version are: the first place, and how many. */
  readonly #versions = new Map<number, { readonly start: number; readonly count: number }>();
  readonly #codec;

  constructor(readonly dimensions: number) {
    this.#codec = bitCodec(dimensions);
    this.#bits = new Uint8Array(256 * this.#codec.bytes);
  }

  get size(): number {
    return this.#count - this.#removed;
  }

  /** Memory. */
  get bytes(): number {
    return this.#rowIds.byteLength + this.#bits.byteLength + this.#isRemoved.byteLength;
  }

  /** The memory that so many rows need. */
  static bytesOf(rows: number, dimensions: number): number {
    return rows * (9 + Math.ceil(dimensions / 8));
  }

  has(versionNo: number): boolean {
    return this.#versions.has(versionNo);
  }

  /** Makes room for rows that are about to be added, so that the memory is copied once. */
  reserve(rows: number): void {
    const needed = this.#count + rows;
    if (needed <= this.#rowIds.length) return;
    const room = Math.max(needed, Math.ceil(this.#rowIds.length * 1.5));
    this.#rowIds = grown(this.#rowIds, new Float64Array(room));
    this.#bits = grown(this.#bits, new Uint8Array(room * this.#codec.bytes));
    this.#isRemoved = grown(this.#isRemoved, new Uint8Array(room));
  }

  /** Adds rows of one version, which are neighbours: those of the version that were added before are kept. */
  add(versionNo: number, rowIds: readonly number[], bits: Uint8Array): void {
    if (bits.length !== rowIds.length * this.#codec.bytes)
      throw new Error(`The bits of version ${versionNo} do not fit ${this.dimensions} dimensions.`);
    this.reserve(rowIds.length);
    const known = this.#versions.get(versionNo);
    this.#versions.set(versionNo, {
      start: known?.start ?? this.#count,
      count: (known?.count ?? 0) + rowIds.length,
    });
    this.#rowIds.set(rowIds, this.#count);
    this.#bits.set(bits, this.#count * this.#codec.bytes);
    this.#count += rowIds.length;
  }

  remove(versionNo: number): void {
    const known = this.#versions.get(versionNo);
    if (known === undefined) return;
    this.#versions.delete(versionNo);
    this.#isRemoved.fill(1, known.start, known.start + known.count);
    this.#removed += known.count;
    if (this.#removed > 1_000 && this.#removed > this.#count / 4) this.#compact();
  }

  allRowIds(): number[] {
    const rowIds: number[] = [];
    for (let at = 0; at < this.#count; at++) if (this.#isRemoved[at] === 0) rowIds.push(this.#rowIds[at]!);
    return rowIds;
  }

  /** The rows with the highest estimates, in order. `allowed` leaves out all others. */
  async nearest(
    query: Float32Array,
    wanted: number,
    allowed: ReadonlySet<number> | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly Estimate[]> {
    const table = this.#codec.tableOf(query);
    const nearest = new Nearest(Math.max(1, Math.min(wanted, this.#count)));
    const bytes = this.#codec.bytes;
    const rowsPerTurn = Math.max(1, Math.floor(bytesPerTurn / bytes));
    // the arrays of this moment: what is added or moved meanwhile is in others, or beyond the end
    const [bits, rowIds, isRemoved, count] = [this.#bits, this.#rowIds, this.#isRemoved, this.#count];
    for (let from = 0; from < count; from += rowsPerTurn) {
      if (from > 0) await nextTurn();
      signal?.throwIfAborted();
      const to = Math.min(count, from + rowsPerTurn);
      if (allowed === undefined) scan(table, bits, bytes, isRemoved, from, to, nearest);
      else
        for (let at = from; at < to; at++)
          if (isRemoved[at] === 0 && allowed.has(rowIds[at]!))
            scan(table, bits, bytes, isRemoved, at, at + 1, nearest);
    }
    return nearest.sorted().map(({ place, score }) => ({ rowId: rowIds[place]!, score }));
  }

  #compact(): void {
    const bytes = this.#codec.bytes;
    const kept = [...this.#versions].sort(([, one], [, other]) => one.start - other.start);
    const size = this.size;
    // new arrays: a search that is under way keeps reading the old ones
    const rowIds = new Float64Array(size);
    const bits = new Uint8Array(size * bytes);
    let end = 0;
    for (const [versionNo, { start, count }] of kept) {
      rowIds.set(this.#rowIds.subarray(start, start + count), end);
      bits.set(this.#bits.subarray(start * bytes, (start + count) * bytes), end * bytes);
      this.#versions.set(versionNo, { start: end, count });
      end += count;
    }
    this.#rowIds = rowIds;
    this.#bits = bits;
    this.#isRemoved = new Uint8Array(size);
    this.#count = size;
    this.#removed = 0;
  }
}

/** The innermost loop: four sums, because each addition would wait for the one before. */
function scan(
  table: Float32Array,
  bits: Uint8Array,
  bytes: number,
  isRemoved: Uint8Array,
  from: number,
  to: number,
  nearest: Nearest,
): void {
  const whole = bytes - (bytes % 4);
  for (let row = from; row < to; row++) {
    const offset = row * bytes;
    let [one, two, three, four] = [0, 0, 0, 0];
    for (let at = 0; at < whole; at += 4) {
      const place = offset + at;
      const entry = at << 8;
      one += table[entry + bits[place]!]!;
      two += table[entry + 256 + bits[place + 1]!]!;
      three += table[entry + 512 + bits[place + 2]!]!;
      four += table[entry + 768 + bits[place + 3]!]!;
    }
    for (let at = whole; at < bytes; at++) one += table[(at << 8) + bits[offset + at]!]!;
    const score = one + two + three + four;
    if (score > nearest.threshold && isRemoved[row] === 0) nearest.add(score, row);
  }
}

function grown<Values extends Float64Array | Uint8Array>(values: Values, room: Values): Values {
  room.set(values);
  return room;
}
