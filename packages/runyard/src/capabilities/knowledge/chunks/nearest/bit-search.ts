import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KnowledgeFilter } from '../../../../core/knowledge/filter.js';
import { bitCodec, similarityOf } from '../../../../core/knowledge/search/bit-vectors.js';
import type { SearchStore } from '../search-store.js';
import type { IndexRow } from '../version-store.js';
import type { BitIndex, Estimate } from './bit-index.js';
import type { BitIndexes } from './bit-indexes.js';
import {
  exactRows,
  mostFiltered,
  type NearestRequest,
  type NearestRows,
  type NearRow,
} from './nearest-rows.js';

/** Vectors that are read and compared at a time. */
const rowsPerRound = 128;
/** The most vectors that one statement reads: about 4 ms on SQLite. */
const rowsPerRead = 256;
/** Rows that are compared with a filter at a time. */
const rowsPerFilter = 4_096;
/** An estimate is too low by more than this many deviations for about one chunk in forty. */
const doubt = 2;

/**
 * Estimates the similarity of all chunks by their bits, then compares the vectors of the best until no estimate can
 * hide a better one.
 */
export class BitSearch implements NearestRows {
  readonly description = 'bit vectors in memory, compared again with the vectors of the database';

  constructor(
    private readonly store: SearchStore,
    private readonly indexes: BitIndexes,
  ) {}

  async nearest(row: IndexRow, request: NearestRequest): Promise<readonly NearRow[]> {
    const { vector, wanted, filter, signal } = request;
    const bits = await this.indexes.current(row, vector.length);
    const most = Math.max(mostFiltered, Math.ceil(bits.size / 20));
    const allowed = filter && (await this.store.filtered(row.knowledge_no, filter, most));
    signal?.throwIfAborted();
    if (allowed !== undefined && allowed.size <= exactRows) return this.compare([...allowed], vector);
    if (filter === undefined && bits.size <= exactRows) return this.compare(bits.allRowIds(), vector);
    if (filter !== undefined && allowed === undefined) return this.#throughFilter(bits, request, filter);
    const near = await bits.nearest(vector, mostCompared(bits, wanted), allowed, signal);
    return this.#compareUntilCertain(near, request);
  }

  /** Applies a filter that many chunks pass to those that are near, and looks further away until enough have passed. */
  async #throughFilter(
    bits: BitIndex,
    request: NearestRequest,
    filter: KnowledgeFilter,
  ): Promise<readonly NearRow[]> {
    const { vector, wanted, signal } = request;
    const needed = Math.min(mostCompared(bits, wanted), bits.size);
    for (let most = 2 * needed; ; most *= 4) {
      const near = await bits.nearest(vector, most, undefined, signal);
      const passed: Estimate[] = [];
      for (let from = 0; from < near.length; from += rowsPerFilter) {
        const part = near.slice(from, from + rowsPerFilter);
        const matching = await this.store.matching(
          part.map(({ rowId }) => rowId),
          filter,
        );
        passed.push(...part.filter(({ rowId }) => matching.has(rowId)));
        signal?.throwIfAborted();
      }
      if (passed.length >= needed / 2 || near.length >= bits.size)
        return this.#compareUntilCertain(passed, request);
    }
  }

  async #compareUntilCertain(
    estimates: readonly Estimate[],
    { vector, wanted, certain }: NearestRequest,
  ): Promise<readonly NearRow[]> {
    const margin = doubt * bitCodec(vector.length).deviation;
    const compared: NearRow[] = [];
    for (let from = 0, to = Math.max(rowsPerRound, wanted); from < estimates.length; ) {
      const rows = estimates.slice(from, to).map(({ rowId }) => rowId);
      compared.push(...(await this.compare(rows, vector)));
      compared.sort((one, other) => other.similarity - one.similarity);
      const last = compared[certain - 1];
      from = to;
      // a query with many similar chunks needs more of them: all whose estimate leaves a doubt, in one round
      if (last === undefined) to *= 2;
      // the place is within the list
      else while (to < estimates.length && estimates[to]!.score + margin >= last.similarity) to += 1;
      if (to === from) break;
    }
    return compared;
  }

  /** The similarities of some rows. */
  async compare(rowIds: readonly number[], vector: Float32Array): Promise<NearRow[]> {
    const compared: NearRow[] = [];
    const perTurn = rowsPerRead * this.store.readsAtOnce;
    for (let from = 0; from < rowIds.length; from += perTurn) {
      // SQLite reads in this thread: other work gets its turn between two reads
      await nextTurn();
      const reads: Promise<ReadonlyMap<number, Float32Array>>[] = [];
      for (let start = from; start < Math.min(from + perTurn, rowIds.length); start += rowsPerRead)
        reads.push(this.store.vectors(rowIds.slice(start, start + rowsPerRead), vector.length));
      for (const vectors of await Promise.all(reads))
        for (const [rowId, stored] of vectors)
          compared.push({ rowId, similarity: similarityOf(vector, stored) });
    }
    return compared;
  }
}

/** More results, and more chunks to distinguish them from, need more comparisons. */
function mostCompared(bits: BitIndex, wanted: number): number {
  return Math.max(1_024, 4 * wanted, Math.ceil(Math.sqrt(bits.size)));
}
