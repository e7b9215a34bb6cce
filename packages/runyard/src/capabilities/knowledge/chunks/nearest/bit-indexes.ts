import { errors } from '../../../../core/errors/errors.js';
import { bitCodec } from '../../../../core/knowledge/search/bit-vectors.js';
import type { Database } from '../../../../platform/storage/database.js';
import { rangeOf, versionOf } from '../row-ids.js';
import type { IndexRow, VersionRow, VersionStore } from '../version-store.js';
import { BitIndex } from './bit-index.js';
import { loadBits, type RowRange } from './bits-store.js';

/** Memory for the bits of all knowledge bases of one database: about 14 million chunks of 256 dimensions. */
const maximumBytes = 2 ** 30;
const changesPerPage = 2_000;
const rowsPerLoad = 8_192;

interface Held {
  index: BitIndex;
  /** The last change that is in it. */
  after: Pick<VersionRow, 'changed' | 'version_no'>;
  loading: Promise<void> | undefined;
}

/**
 * The bit indexes of a database. One is loaded by the first search, and each search brings it to the last change of the
 * database, whichever process made it. Those that were not used for the longest time make room for others.
 */
export class BitIndexes {
  /** In the order of their last use. */
  readonly #held = new Map<number, Held>();

  constructor(
    private readonly database: Database,
    private readonly versions: VersionStore,
  ) {}

  /** The index with at least what had been published when the row was read. */
  async current(row: IndexRow, dimensions: number): Promise<BitIndex> {
    let held = this.#held.get(row.knowledge_no);
    if (held === undefined || held.index.dimensions !== dimensions || lost(held, row))
      held = { index: new BitIndex(dimensions), after: { changed: 0, version_no: 0 }, loading: undefined };
    this.#held.delete(row.knowledge_no);
    this.#held.set(row.knowledge_no, held);
    while (held.after.changed < row.change) {
      // one at a time: a second search waits for the load of the first
      held.loading ??= this.#advance(row, held).finally(() => {
        held.loading = undefined;
      });
      try {
        await held.loading;
      } catch (error) {
        // it may hold a part of a version: the next search loads it anew
        if (this.#held.get(row.knowledge_no) === held) this.#held.delete(row.knowledge_no);
        throw error;
      }
    }
    this.#makeRoom(held);
    return held.index;
  }

  async #advance(row: IndexRow, held: Held): Promise<void> {
    const needed = BitIndex.bytesOf(row.chunks, held.index.dimensions);
    if (needed > maximumBytes) throw errors.knowledgeTooLarge(row.knowledge_id, row.chunks, maximumBytes);
    if (held.after.changed === 0) held.index.reserve(row.chunks);
    for (;;) {
      const changes = await this.versions.changes(row.knowledge_no, held.after, changesPerPage);
      const loads: Load[] = [];
      for (const { version_no, state, chunks, dimensions } of changes) {
        if (state !== 'published') held.index.remove(version_no);
        else if (!held.index.has(version_no) && dimensions === held.index.dimensions)
          loads.push(...loadsOf(version_no, chunks));
      }
      for (const batch of batches(loads)) await this.#load(held.index, batch);
      const last = changes.at(-1);
      if (last !== undefined) held.after = { changed: last.changed, version_no: last.version_no };
      if (changes.length < changesPerPage) break;
    }
    // changes that left no version behind
    if (held.after.changed < row.change) held.after = { changed: row.change, version_no: 0 };
  }

  async #load(index: BitIndex, ranges: readonly RowRange[]): Promise<void> {
    const { rowIds, bits } = await loadBits(this.database, bitCodec(index.dimensions).bytes, ranges);
    const bytes = rowIds.length === 0 ? 0 : bits.length / rowIds.length;
    for (let from = 0; from < rowIds.length; ) {
      // both indices are within the list
      const versionNo = versionOf(rowIds[from]!);
      let to = from;
      // as above
      while (to < rowIds.length && versionOf(rowIds[to]!) === versionNo) to += 1;
      index.add(versionNo, rowIds.slice(from, to), bits.subarray(from * bytes, to * bytes));
      from = to;
    }
  }

  #makeRoom(inUse: Held): void {
    let bytes = 0;
    for (const { index } of this.#held.values()) bytes += index.bytes;
    for (const [knowledgeNo, held] of this.#held) {
      if (bytes <= maximumBytes) return;
      if (held === inUse || held.loading !== undefined) continue;
      this.#held.delete(knowledgeNo);
      bytes -= held.index.bytes;
    }
  }
}

/** Whether versions that it holds may have been removed without a trace. */
function lost({ after, loading }: Held, row: IndexRow): boolean {
  return loading === undefined && after.changed > 0 && after.changed < row.pruned_change;
}

interface Load {
  readonly range: RowRange;
  /** How many rows are expected in it. */
  readonly rows: number;
}

function loadsOf(versionNo: number, chunks: number): Load[] {
  const [start, end] = rangeOf(versionNo);
  const loads: Load[] = [];
  // positions may have gaps: the last range is open
  for (let from = 0; ; from += rowsPerLoad) {
    const isLast = from + rowsPerLoad >= chunks;
    loads.push({
      range: [start + from, isLast ? end : start + from + rowsPerLoad],
      rows: Math.min(rowsPerLoad, chunks - from),
    });
    if (isLast) return loads;
  }
}

/** In the order of the rows, so that those of a version stay together. */
function* batches(loads: readonly Load[]): Generator<readonly RowRange[]> {
  let batch: RowRange[] = [];
  let rows = 0;
  for (const load of [...loads].sort((one, other) => one.range[0] - other.range[0])) {
    batch.push(load.range);
    rows += load.rows;
    if (rows < rowsPerLoad) continue;
    yield batch;
    batch = [];
    rows = 0;
  }
  if (batch.length > 0) yield batch;
}
