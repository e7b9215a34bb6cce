import type { Log } from '../../../../core/log.js';
import type { PostgresDatabase } from '../../../../platform/storage/database.js';
import { reasonOf } from '../../../../platform/storage/reasons.js';
import { filterSql } from '../filter-store.js';
import type { SearchStore } from '../search-store.js';
import type { IndexRow, VersionRow, VersionStore } from '../version-store.js';
import type { BitSearch } from './bit-search.js';
import {
  exactRows,
  mostFiltered,
  type NearestRequest,
  type NearestRows,
  type NearRow,
} from './nearest-rows.js';
import { findPgvector, maximumDimensions, PgvectorStore } from './pgvector-store.js';

/** So few missing vectors are copied by the search that misses them; more are copied beside it. */
const mostCopiedInSearch = 2_000;
/** More candidates than are wanted: their order is that of 32-bit distances, and is decided again by comparing. */
const oversampling = 4;
/** How long a database without pgvector is not asked again whether it has it. */
const lookAgainMs = 600_000;

/**
 * Searches large knowledge bases with pgvector where the database has it, and all others as SQLite does. Its index finds
 * less than half of the nearest chunks where vectors form no groups, as those of the offline embedder, and takes longer:
 * the bits are better as long as there is memory for them.
 */
export class PgvectorSearch implements NearestRows {
  #found: PgvectorStore | undefined;
  #looking: Promise<PgvectorStore | undefined> | undefined;
  #lookedAt: number | undefined;
  /** By the number of the knowledge base. */
  readonly #copying = new Map<number, { readonly ended: Promise<void>; readonly isLong: boolean }>();

  constructor(
    private readonly database: PostgresDatabase,
    private readonly store: SearchStore,
    private readonly versions: VersionStore,
    private readonly bits: BitSearch,
    private readonly log: Log,
    /** Knowledge bases with so many chunks are searched with pgvector. */
    private readonly fromChunks: number,
  ) {}

  get description(): string {
    const where = this.#found === undefined ? ', where the database has it' : '';
    return `${this.bits.description}; pgvector from ${this.fromChunks.toLocaleString('en')} chunks on${where}`;
  }

  async nearest(index: IndexRow, request: NearestRequest): Promise<readonly NearRow[]> {
    const { vector, wanted, filter, signal } = request;
    const pgvector = await this.#current(index, vector.length);
    if (pgvector === undefined) return this.bits.nearest(index, request);
    const { knowledge_no } = index;
    if (filter === undefined && index.chunks <= exactRows)
      return this.bits.compare(await pgvector.allRows(knowledge_no, vector.length), vector);
    const allowed = filter && (await this.store.filtered(knowledge_no, filter, mostFiltered));
    signal?.throwIfAborted();
    if (allowed !== undefined && allowed.size <= exactRows) return this.bits.compare([...allowed], vector);
    const most = oversampling * wanted;
    const rows =
      allowed === undefined
        ? await pgvector.nearest(knowledge_no, vector, filter && filterSql('postgres', filter), most)
        : await pgvector.nearestAmong(knowledge_no, vector, allowed, most);
    signal?.throwIfAborted();
    return this.bits.compare(rows, vector);
  }

  /** Copies vectors while a version is staged, so that publishing it leaves nothing to copy. */
  async staged(version: VersionRow): Promise<void> {
    await this.#attempt(version, async (pgvector) => {
      await pgvector.create(version.knowledge_no, version.dimensions);
      await pgvector.copy(version.knowledge_no, version, version.dimensions);
    });
  }

  async purged(version: VersionRow): Promise<void> {
    await this.#attempt(version, (pgvector) =>
      pgvector.purge(version.knowledge_no, version.dimensions, version.version_no),
    );
  }

  /** What fails here costs time, not results: a search finds out what is missing. */
  async #attempt(
    { knowledge_no, dimensions }: VersionRow,
    work: (pgvector: PgvectorStore) => Promise<void>,
  ): Promise<void> {
    try {
      if (dimensions > maximumDimensions) return;
      if ((await this.versions.chunksOf(knowledge_no)) < this.fromChunks) return;
      const pgvector = await this.#pgvector();
      if (pgvector !== undefined) await work(pgvector);
    } catch (error) {
      this.log.warn(
        { database: this.database.id, err: error },
        'pgvector could not be brought up to date yet',
      );
    }
  }

  /** Undefined when it cannot be used for this search. */
  async #current(index: IndexRow, dimensions: number): Promise<PgvectorStore | undefined> {
    if (index.chunks < this.fromChunks || dimensions > maximumDimensions) return undefined;
    const pgvector = await this.#pgvector();
    if (pgvector === undefined) return undefined;
    try {
      const copying = this.#copying.get(index.knowledge_no);
      if (copying?.isLong) return undefined;
      if (copying !== undefined) await copying.ended;
      const missing = await pgvector.missing(index, dimensions);
      const isLong = missing > mostCopiedInSearch;
      const ended = this.#copy(pgvector, index, dimensions, { missing, isLong });
      if (isLong) return undefined;
      await ended;
      return pgvector;
    } catch (error) {
      const reason = reasonOf(error);
      this.log.warn({ database: this.database.id, reason }, 'pgvector cannot be used: searching without it');
      this.#found = undefined;
      this.#lookedAt = performance.now();
      return undefined;
    }
  }

  #copy(
    pgvector: PgvectorStore,
    index: IndexRow,
    dimensions: number,
    { missing, isLong }: { missing: number; isLong: boolean },
  ): Promise<void> {
    const fields = { database: this.database.id, knowledge: index.knowledge_id, vectors: missing };
    if (isLong) this.log.info(fields, 'copying vectors to pgvector: until then searches work without it');
    const ended = pgvector.catchUp(index, dimensions).finally(() => this.#copying.delete(index.knowledge_no));
    this.#copying.set(index.knowledge_no, { ended, isLong });
    if (isLong)
      ended.catch((error: unknown) => this.log.warn({ ...fields, err: error }, 'copying to pgvector failed'));
    return ended;
  }

  async #pgvector(): Promise<PgvectorStore | undefined> {
    if (this.#found !== undefined) return this.#found;
    if (this.#lookedAt !== undefined && performance.now() - this.#lookedAt < lookAgainMs) return undefined;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<PgvectorStore | undefined> {
    const fields = { database: this.database.id };
    let reason = 'it is not installed on the server';
    try {
      const version = await findPgvector(this.database);
      if (version !== undefined) {
        this.#found = new PgvectorStore(this.database, this.versions, version);
        this.log.info({ ...fields, version }, 'large knowledge bases are searched with pgvector');
        return this.#found;
      }
    } catch (error) {
      if (this.database.outage !== undefined) throw error;
      reason = `${reasonOf(error)}; a superuser can run CREATE EXTENSION vector`;
    }
    this.#lookedAt = performance.now();
    this.log.info({ ...fields, reason }, 'large knowledge bases are searched without pgvector');
    return undefined;
  }
}
