import { errors } from '../../../core/errors/errors.js';
import type { Json } from '../../../core/json.js';
import { matches } from '../../../core/knowledge/filter-matches.js';
import type {
  ContentVersion,
  EmbeddedChunk,
  FoundChunk,
  SearchRequest,
  SearchType,
  StoredChunk,
  VectorStore,
} from '../../../core/knowledge/vector-store.js';
import type { Log } from '../../../core/log.js';
import type { Database } from '../../../platform/storage/database.js';
import { storedJsonOrNull } from '../../../platform/storage/text.js';
import { ChunkStore } from './chunk-store.js';
import { KeywordStore } from './keyword-store.js';
import { BitIndexes } from './nearest/bit-indexes.js';
import { BitSearch } from './nearest/bit-search.js';
import type { NearestRows } from './nearest/nearest-rows.js';
import { PgvectorSearch } from './nearest/pgvector-search.js';
import { fusedRows, rankedRows, type ScoredRow } from './ranked-rows.js';
import { SearchStore } from './search-store.js';
import { type SearchedIndex, VersionStore } from './version-store.js';

/** How often a search begins again because a content was indexed anew meanwhile. */
const mostAttempts = 4;

/** How far down each list a hybrid search looks. */
const hybridDepth = 50;

/** With more chunks, the bits take 70 MB and more of the memory of each process, and to scan them 30 ms and more. */
const pgvectorFrom = 1_000_000;

/** The vector store in the database of a service. Knowledge bases with `fromChunks` chunks use pgvector, if it is there. */
export function builtInVectorStore(database: Database, log: Log, fromChunks = pgvectorFrom): VectorStore {
  return new BuiltInVectorStore(database, log, fromChunks);
}

class BuiltInVectorStore implements VectorStore {
  readonly id: string;
  readonly name: string;
  readonly searchTypes: readonly SearchType[] = ['vector', 'keyword', 'hybrid'];
  readonly #versions: VersionStore;
  readonly #chunks: ChunkStore;
  readonly #store: SearchStore;
  readonly #keywords: KeywordStore;
  readonly #nearest: NearestRows;

  constructor(
    private readonly database: Database,
    private readonly log: Log,
    fromChunks: number,
  ) {
    this.id = database.id;
    this.name = database.dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    this.#versions = new VersionStore(database);
    this.#chunks = new ChunkStore(database);
    this.#store = new SearchStore(database, this.#versions);
    this.#keywords = new KeywordStore(database);
    const bits = new BitSearch(this.#store, new BitIndexes(database, this.#versions));
    this.#nearest =
      database.dialect === 'sqlite'
        ? bits
        : new PgvectorSearch(database, this.#store, this.#versions, bits, log, fromChunks);
  }

  get description(): string {
    const words = this.database.dialect === 'sqlite' ? 'FTS5' : 'full-text search';
    return `${this.name}: ${this.#nearest.description}; words by ${words}`;
  }

  async stage(version: ContentVersion, chunks: readonly EmbeddedChunk[], embedder: string): Promise<void> {
    const dimensions = chunks[0]?.vector.length;
    if (dimensions === undefined) return;
    const row = await this.#versions.open(version, embedder, dimensions);
    const other = chunks.find(({ vector }) => vector.length !== row.dimensions);
    if (row.embedder !== embedder || other !== undefined)
      throw errors.embedderChanged(
        embedderText(row),
        embedderText({ embedder, dimensions: other?.vector.length ?? dimensions }),
      );
    await this.#chunks.stage(row, chunks);
    await this.#nearest.staged?.(row);
  }

  async staged(version: ContentVersion): Promise<number> {
    const row = await this.#versions.find(version);
    if (row === undefined || row.state === 'retired' || row.state === 'gone') return 0;
    return this.#versions.countChunks(row.version_no);
  }

  async publish(version: ContentVersion): Promise<boolean> {
    const isPublished = await this.#versions.publish(version);
    await this.#sweep(version.knowledgeId);
    return isPublished;
  }

  async published(
    knowledgeId: string,
    contentId: string,
    from: number,
    limit: number,
  ): Promise<readonly StoredChunk[]> {
    const row = await this.#versions.publishedOf(knowledgeId, contentId);
    return row === undefined ? [] : this.#chunks.page(row, from, limit);
  }

  async remove(knowledgeId: string, contentId: string, what: 'all' | 'staged' = 'all'): Promise<void> {
    await this.#versions.remove(knowledgeId, contentId, what);
    await this.#sweep(knowledgeId);
  }

  async updateMetadata(
    knowledgeId: string,
    contentId: string,
    changes: Readonly<Record<string, Json | undefined>>,
  ): Promise<void> {
    for (const row of await this.#versions.ofContent(knowledgeId, contentId))
      if (row.state === 'staged' || row.state === 'published')
        await this.#chunks.updateMetadata(row, changes);
  }

  async search(knowledgeId: string, request: SearchRequest): Promise<readonly FoundChunk[]> {
    for (let attempt = 1; ; attempt++) {
      const searched = await this.#versions.searched(knowledgeId);
      if (searched === undefined || searched.index.chunks === 0) return [];
      const { index } = searched;
      const found = await this.#find(searched, request);
      const { chunks, hasRetired } = await this.#store.chunks(
        index,
        found.map(({ rowId }) => rowId),
      );
      // what was replaced meanwhile may be missing in both versions
      if (hasRetired && attempt < mostAttempts) continue;
      const { filter } = request;
      return found.flatMap(({ rowId, id, similarity }) => {
        const chunk = chunks.get(rowId);
        if (chunk === undefined || (filter && !matches(filter, chunk.metadata))) return [];
        const { contentId, content, name, metadata, usage } = chunk;
        return {
          id,
          contentId,
          content,
          name,
          metadata,
          usage: storedJsonOrNull<Json>(usage),
          similarity,
        };
      });
    }
  }

  /** The rows that answer a search, in order. */
  async #find({ index, embedders }: SearchedIndex, request: SearchRequest): Promise<readonly ScoredRow[]> {
    const { type, text, vector, limit, filter, similarityThreshold = 0, signal } = request;
    const ranked = (scores: ReadonlyMap<number, number>, wanted: number) =>
      rankedRows(this.#store, index.knowledge_id, scores, wanted);
    const words = (wanted: number) => this.#keywords.search(index, { query: text, wanted, filter, signal });
    if (type === 'keyword' || vector === undefined) return ranked(await words(limit), limit);
    assertSameEmbedder(embedders, request, vector);
    const near = async (wanted: number) => {
      const rows = await this.#nearest.nearest(index, { vector, wanted, certain: limit, filter, signal });
      const similarities = new Map(rows.map(({ rowId, similarity }) => [rowId, similarity]));
      return (await ranked(similarities, wanted)).map((row) => ({ ...row, similarity: row.score }));
    };
    if (type === 'vector')
      return (await near(limit)).filter(({ similarity }) => similarity >= similarityThreshold);
    const wanted = Math.max(limit, hybridDepth);
    const byVector = await near(wanted);
    const byWords = await ranked(await words(wanted), wanted);
    const fused = await fusedRows(this.#store, vector, byVector, byWords);
    return fused.filter(({ similarity = 0 }) => similarity >= similarityThreshold).slice(0, limit);
  }

  /** Removes the rows of versions that nobody sees. What fails here is tried again with the next change. */
  async #sweep(knowledgeId: string): Promise<void> {
    try {
      for (const version of await this.#versions.retired(knowledgeId)) {
        await this.#chunks.purge(version.version_no);
        await this.#nearest.purged?.(version);
        await this.#versions.markGone(knowledgeId, version.version_no);
      }
    } catch (error) {
      this.log.warn({ knowledge: knowledgeId, err: error }, 'old chunks could not be removed yet');
    }
  }
}

function assertSameEmbedder(
  embedders: SearchedIndex['embedders'],
  { embedder }: SearchRequest,
  vector: Float32Array,
): void {
  for (const stored of embedders) {
    const isSame = embedder === undefined || embedder === stored.embedder;
    if (isSame && stored.dimensions === vector.length) continue;
    const given = { embedder: embedder ?? 'another embedder', dimensions: vector.length };
    throw errors.embedderChanged(embedderText(stored), embedderText(given));
  }
}

function embedderText({ embedder, dimensions }: { embedder: string; dimensions: number }): string {
  return `${embedder} (${dimensions} dimensions)`;
}
