import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytesPerScan, distancesOf } from '../../../../core/knowledge/search/bit-scan.js';
import { type BitQuery, bitCodec } from '../../../../core/knowledge/search/bit-vectors.js';
import { Least } from '../../../../core/knowledge/search/least.js';
import { Nearest } from '../../../../core/knowledge/search/nearest.js';

/** Scans before other work gets its turn: about 2 ms. */
const scansPerTurn = 16;
/** So many times the rows that are wanted are found by their signs, and then ordered by their details. */
const oversampling = 4;

export interface Estimate {
  readonly rowId: number;
  /** The estimated similarity. */
  readonly score: number;
}

/** The codes of the published chunks of one knowledge base, with vectors of one length, in memory. */
export class BitIndex {
  #rowIds = new Float64Array(256);
  #signs: Uint8Array;
  #details: Uint8Array;
  #isRemoved = new Uint8Array(256);
  #count = 0;
  #removed = 0;
  /** Where the rows of a version are: the first place, and how many. */
  readonly #versions = new Map<number, { readonly start: number; readonly count: number }>();
  readonly #codec;

  constructor(readonly dimensions: number) {
    this.#codec = bitCodec(dimensions);
    this.#signs = new Uint8Array(256 * this.#codec.stride);
    this.#details = new Uint8Array(256 * this.#codec.stride);
  }

  get size(): number {
    return this.#count - this.#removed;
  }

  /** Memory. */
  get bytes(): number {
    const { byteLength } = this.#signs;
    return this.#rowIds.byteLength + 2 * byteLength + this.#isRemoved.byteLength;
  }

  /** The memory that so many rows need. */
  static bytesOf(rows: number, dimensions: number): number {
    return rows * (9 + 2 * bitCodec(dimensions).stride);
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
    this.#signs = grown(this.#signs, new Uint8Array(room * this.#codec.stride));
    this.#details = grown(this.#details, new Uint8Array(room * this.#codec.stride));
    this.#isRemoved = grown(this.#isRemoved, new Uint8Array(room));
  }

  /** Adds rows of one version, which are neighbours: those of the version that were added before are kept. */
  add(versionNo: number, rowIds: readonly number[], bits: Uint8Array): void {
    const { bytes, stride } = this.#codec;
    if (bits.length !== rowIds.length * 2 * bytes)
      throw new Error(`The bits of version ${versionNo} do not fit ${this.dimensions} dimensions.`);
    this.reserve(rowIds.length);
    const known = this.#versions.get(versionNo);
    this.#versions.set(versionNo, {
      start: known?.start ?? this.#count,
      count: (known?.count ?? 0) + rowIds.length,
    });
    this.#rowIds.set(rowIds, this.#count);
    for (let at = 0; at < rowIds.length; at++) {
      const [from, place] = [2 * at * bytes, (this.#count + at) * stride];
      this.#signs.set(bits.subarray(from, from + bytes), place);
      this.#details.set(bits.subarray(from + bytes, from + 2 * bytes), place);
    }
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
    const asked = this.#codec.queryOf(query);
    const { stride } = this.#codec;
    const near = new Least(oversampling * wanted, asked.largest);
    const rowsPerScan = Math.floor(bytesPerScan / stride);
    // the arrays of this moment: what is added or moved meanwhile is in others, or beyond the end
    const [signs, details, rowIds] = [this.#signs, this.#details, this.#rowIds];
    const [isRemoved, count] = [this.#isRemoved, this.#count];
    for (let from = 0, scans = 0; from < count; from += rowsPerScan, scans++) {
      if (scans > 0 && scans % scansPerTurn === 0) await nextTurn();
      signal?.throwIfAborted();
      const to = Math.min(count, from + rowsPerScan);
      const distances = distancesOf(asked.bits, signs.subarray(from * stride, to * stride), stride);
      for (let at = 0; at < distances.length; at++) {
        const distance = distances[at]!;
        if (distance > near.limit || isRemoved[from + at] !== 0) continue;
        if (allowed === undefined || allowed.has(rowIds[from + at]!)) near.add(distance, from + at);
      }
    }
    const best = this.#refined(asked, near, details, wanted);
    return best.sorted().map(({ place, score }) => ({ rowId: rowIds[place]!, score }));
  }

  /** Chooses among those whose signs are near by their details. */
  #refined({ bits, similarity }: BitQuery, near: Least, details: Uint8Array, wanted: number): Nearest {
    const { places, distances: signs } = near.kept();
    const best = new Nearest(Math.max(1, Math.min(wanted, places.length)));
    const { stride } = this.#codec;
    const rowsPerScan = Math.floor(bytesPerScan / stride);
    // copied by words: a view of each row would cost more than all else here
    const words = stride / Uint32Array.BYTES_PER_ELEMENT;
    const all = new Uint32Array(details.buffer);
    const chosen = new Uint32Array(Math.min(rowsPerScan, places.length) * words);
    for (let from = 0; from < places.length; from += rowsPerScan) {
      const count = Math.min(rowsPerScan, places.length - from);
      for (let at = 0; at < count; at++) {
        const start = places[from + at]! * words;
        for (let word = 0; word < words; word++) chosen[at * words + word] = all[start + word]!;
      }
      const distances = distancesOf(bits, new Uint8Array(chosen.buffer, 0, count * stride), stride);
      for (let at = 0; at < count; at++) {
        const score = similarity(signs[from + at]!, distances[at]!);
        if (score > best.threshold) best.add(score, places[from + at]!);
      }
    }
    return best;
  }

  #compact(): void {
    const { stride } = this.#codec;
    const kept = [...this.#versions].sort(([, one], [, other]) => one.start - other.start);
    const size = this.size;
    // new arrays: a search that is under way keeps reading the old ones
    const rowIds = new Float64Array(size);
    const signs = new Uint8Array(size * stride);
    const details = new Uint8Array(size * stride);
    let end = 0;
    for (const [versionNo, { start, count }] of kept) {
      rowIds.set(this.#rowIds.subarray(start, start + count), end);
      const [from, to] = [start * stride, (start + count) * stride];
      signs.set(this.#signs.subarray(from, to), end * stride);
      details.set(this.#details.subarray(from, to), end * stride);
      this.#versions.set(versionNo, { start: end, count });
      end += count;
    }
    this.#rowIds = rowIds;
    this.#signs = signs;
    this.#details = details;
    this.#isRemoved = new Uint8Array(size);
    this.#count = size;
    this.#removed = 0;
  }
}

function grown<Values extends Float64Array | Uint8Array>(values: Values, room: Values): Values {
  room.set(values);
  return room;
}
