import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytesPerScan, distancesOf } from '../../../../core/knowledge/search/bit-scan.js';
import { bitCodec } from '../../../../core/knowledge/search/bit-vectors.js';
import { Nearest } from '../../../../core/knowledge/search/nearest.js';

/** Scans before other work gets its turn: about 2 ms. */
const scansPerTurn = 16;

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
    this.#bits = new Uint8Array(256 * this.#codec.stride);
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
    return rows * (9 + bitCodec(dimensions).stride);
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
    this.#bits = grown(this.#bits, new Uint8Array(room * this.#codec.stride));
    this.#isRemoved = grown(this.#isRemoved, new Uint8Array(room));
  }

  /** Adds rows of one version, which are neighbours: those of the version that were added before are kept. */
  add(versionNo: number, rowIds: readonly number[], bits: Uint8Array): void {
    const { bytes, stride } = this.#codec;
    if (bits.length !== rowIds.length * bytes)
      throw new Error(`The bits of version ${versionNo} do not fit ${this.dimensions} dimensions.`);
    this.reserve(rowIds.length);
    const known = this.#versions.get(versionNo);
    this.#versions.set(versionNo, {
      start: known?.start ?? this.#count,
      count: (known?.count ?? 0) + rowIds.length,
    });
    this.#rowIds.set(rowIds, this.#count);
    if (bytes === stride) this.#bits.set(bits, this.#count * stride);
    else
      for (let at = 0; at < rowIds.length; at++)
        this.#bits.set(bits.subarray(at * bytes, (at + 1) * bytes), (this.#count + at) * stride);
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
    const { bits: asked, similarity } = this.#codec.queryOf(query);
    const { stride } = this.#codec;
    const nearest = new Nearest(Math.max(1, Math.min(wanted, this.#count)));
    const rowsPerScan = Math.floor(bytesPerScan / stride);
    // the arrays of this moment: what is added or moved meanwhile is in others, or beyond the end
    const [bits, rowIds, isRemoved, count] = [this.#bits, this.#rowIds, this.#isRemoved, this.#count];
    for (let from = 0, scans = 0; from < count; from += rowsPerScan, scans++) {
      if (scans > 0 && scans % scansPerTurn === 0) await nextTurn();
      signal?.throwIfAborted();
      const to = Math.min(count, from + rowsPerScan);
      const distances = distancesOf(asked, bits.subarray(from * stride, to * stride), stride);
      for (let at = 0; at < distances.length; at++) {
        const score = -distances[at]!;
        if (score <= nearest.threshold || isRemoved[from + at] !== 0) continue;
        if (allowed === undefined || allowed.has(rowIds[from + at]!)) nearest.add(score, from + at);
      }
    }
    return nearest.sorted().map(({ place, score }) => ({ rowId: rowIds[place]!, score: similarity(-score) }));
  }

  #compact(): void {
    const { stride } = this.#codec;
    const kept = [...this.#versions].sort(([, one], [, other]) => one.start - other.start);
    const size = this.size;
    // new arrays: a search that is under way keeps reading the old ones
    const rowIds = new Float64Array(size);
    const bits = new Uint8Array(size * stride);
    let end = 0;
    for (const [versionNo, { start, count }] of kept) {
      rowIds.set(this.#rowIds.subarray(start, start + count), end);
      bits.set(this.#bits.subarray(start * stride, (start + count) * stride), end * stride);
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

function grown<Values extends Float64Array | Uint8Array>(values: Values, room: Values): Values {
  room.set(values);
  return room;
}
