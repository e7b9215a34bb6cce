import type { Embedder } from '../../core/embedders/embedder.js';
import { resolveEmbedder } from '../../core/embedders/resolve.js';
import { errors } from '../../core/errors/errors.js';
import type { Chunker } from '../../core/knowledge/chunkers/chunker.js';
import type { Knowledge } from '../../core/knowledge/knowledge.js';
import type { KnowledgeSettings } from '../../core/knowledge/knowledge-settings.js';
import { chooseReader } from '../../core/knowledge/readers/choose-reader.js';
import type { ReadableContent, Reader } from '../../core/knowledge/readers/reader.js';
import type { ContentSource } from '../../core/knowledge/sources/source.js';
import type { VectorStore } from '../../core/knowledge/vector-store.js';
import type { Log } from '../../core/log.js';
import type { Model } from '../../core/models/model.js';
import { resolveModel } from '../../core/models/resolve.js';
import type { Reranker } from '../../core/rerankers/reranker.js';
import { resolveReranker } from '../../core/rerankers/resolve.js';
import type { Job } from '../../core/runs/jobs/job.js';
import type { Jobs } from '../../core/runs/jobs/jobs.js';
import type { Documents } from '../../platform/documents/documents.js';
import {
  type ContentOutcome,
  type ContentScope,
  everyContent,
  type StoredContent,
} from './contents/content.js';
import { knowledgeIdOf } from './contents/content-id.js';
import { canonicalJson } from './contents/metadata-values.js';
import type { ContentStore } from './contents/store.js';
import { type ChunkerChoice, chunkersOf, type Splitting, splittingOf } from './ingestion/chosen-chunker.js';
import type { EmbeddingStore } from './ingestion/embeddings-store.js';
import type { IngestionInput, IngestionResult } from './ingestion/ingestion-records.js';
import type { UploadStore } from './uploads/upload-store.js';

/** The table that the wire names. */
export const contentsTable = 'knowledge_contents';

/** What the knowledge bases of one database share. */
export interface KnowledgeParts {
  readonly databaseId: string;
  readonly contents: ContentStore;
  readonly uploads: UploadStore;
  readonly embeddings: EmbeddingStore;
  readonly vectorStore: VectorStore;
  readonly documents: Documents;
  readonly jobs: Jobs;
  readonly job: Job<IngestionInput, IngestionResult>;
  /** How addresses are fetched. */
  readonly web: { readonly allowedHosts: readonly string[]; readonly maxBytes?: number };
  readonly log: Log;
}

/** What a knowledge base consists of in its database: what indexing, searching and removing work with. */
export class BaseInDatabase {
  readonly id: string;
  readonly name: string;
  readonly settings: KnowledgeSettings;
  readonly embedder: Embedder;
  readonly reranker: Reranker | undefined;
  /** Those of the application come first. */
  readonly readers: readonly Reader[];
  readonly chunkers: readonly Chunker[];
  readonly vectorStore: VectorStore;
  #model: Model | undefined;

  constructor(
    { settings, name }: Knowledge,
    readonly parts: KnowledgeParts,
  ) {
    this.settings = settings;
    this.name = name;
    this.id = knowledgeIdOf(parts.databaseId, contentsTable, name);
    this.embedder = resolveEmbedder(settings.embedder ?? 'offline');
    this.reranker = settings.reranker === undefined ? undefined : resolveReranker(settings.reranker);
    this.vectorStore = settings.vectorStore ?? parts.vectorStore;
    const own = settings.readers ?? [];
    const ownIds = new Set(own.map(({ id }) => id));
    this.readers = [...own, ...parts.documents.readers.filter(({ id }) => !ownIds.has(id))];
    this.chunkers = chunkersOf(settings);
  }

  /** For the chunker that asks one. */
  get model(): Model | undefined {
    const { model } = this.settings;
    if (model !== undefined) this.#model ??= resolveModel(model);
    return this.#model;
  }

  source(id: string): ContentSource | undefined {
    return this.settings.sources?.find((source) => source.id === id);
  }

  async get(contentId: string, scope: ContentScope = everyContent): Promise<StoredContent | undefined> {
    const { contents } = this.parts;
    if (scope.kind !== 'all') return contents.lists.find(this.id, scope, contentId);
    // without the query builder: every start asks for the contents of the settings
    const content = await contents.findAny(this.id, contentId);
    return content?.deletedAt === null ? content : undefined;
  }

  /** What chunks do not say yet, because the metadata of their content changed while these were written to them. */
  async showChangedMetadata({ id, metadata }: StoredContent): Promise<void> {
    for (let shown = metadata ?? {}; ; ) {
      const content = await this.parts.contents.findAny(this.id, id);
      const now = content?.metadata ?? {};
      if (content === undefined || canonicalJson(now) === canonicalJson(shown)) return;
      const removed = Object.keys(shown).filter((key) => !Object.hasOwn(now, key));
      const changes = { ...now, ...Object.fromEntries(removed.map((key) => [key, undefined])) };
      await this.vectorStore.updateMetadata(this.id, id, changes);
      shown = now;
    }
  }

  /** Writes down how the indexing of a content ended. What a failed attempt staged is removed. */
  async settled(content: StoredContent, outcome: ContentOutcome): Promise<void> {
    const isOwn = await this.parts.contents.settle(content, outcome);
    if (isOwn && outcome.status === 'failed') await this.vectorStore.remove(this.id, content.id, 'staged');
  }

  /** The reader and the chunker of a content. */
  indexedWith(
    { name, mediaType }: Pick<ReadableContent, 'name' | 'mediaType'>,
    request: ChunkerChoice & { readonly reader?: string | undefined },
  ): Splitting & { readonly reader: Reader } {
    const reader = chooseReader(this.readers, { readerId: request.reader, name, mediaType });
    if (reader === undefined) throw errors.invalidReader(request.reader ?? '');
    return { reader, ...splittingOf(this.settings, this.chunkers, reader, request) };
  }

  async startJob({ id, jobId, request: { from } }: StoredContent, reembed = false): Promise<void> {
    const { jobs, job } = this.parts;
    const input = {
      knowledgeId: this.id,
      contentId: id,
      ...(from.kind === 'upload' && { uploadId: from.uploadId }),
      ...(reembed && { reembed }),
    };
    await jobs.start(job, input, { jobId });
  }

  /** Whether the job has ended. */
  cancel(jobId: string, reason: string): Promise<boolean> {
    const { jobs, job } = this.parts;
    return jobs.cancel(job, jobId, reason);
  }
}
