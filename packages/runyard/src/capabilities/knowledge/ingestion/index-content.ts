import type { JsonObject } from '../../../core/json.js';
import type { Chunk } from '../../../core/knowledge/document.js';
import { ContentUnreadable } from '../../../core/knowledge/readers/reader.js';
import type { JobContext } from '../../../core/runs/jobs/job.js';
import type { BaseInDatabase } from '../base-in-database.js';
import type { ContentOutcome, StoredContent } from '../contents/content.js';
import { embedOnce } from './cached-embedding.js';
import { type ContentPart, type FailedPart, type FoundPart, isFailed } from './parts.js';
import { ChunksDiffer, Staging, storing } from './staging.js';

/** How often a content is split anew when its chunker does not split it the same way twice. */
const mostPasses = 3;
/** So many missing pages are named. */
const mostNamed = 5;

/** How far the indexing of a content is. */
export interface IndexingProgress {
  readonly pages: number;
  readonly totalPages: number | undefined;
  readonly chunks: number;
}

export interface IndexingOptions {
  readonly context: JobContext;
  readonly base: BaseInDatabase;
  readonly content: StoredContent;
  /** Begins the keys of its steps. */
  readonly key: string;
  /** Stages the chunks of the content, from the start, each time it is called. */
  stage(into: StagingPlace): Promise<void>;
  onProgress(progress: IndexingProgress): void;
}

/** Where the chunks of a content are staged. */
export interface StagingPlace {
  /** Begins the keys of steps. */
  readonly key: string;
  readonly read: ReadProgress;
  readonly staging: Staging;
  add(chunks: AsyncIterable<Chunk>): Promise<void>;
}

/** What has been read. */
export class ReadProgress {
  /** Pages of the parts that are read. */
  pages = 0;
  totalPages: number | undefined;
  readonly failed: FailedPart[] = [];

  /** Of the content as a whole: empty when nothing is missing. */
  get message(): string {
    const { failed } = this;
    if (failed.length === 0) return '';
    const named = failed.slice(0, mostNamed).map(({ name, reason }) => `${name} (${reason})`);
    const more = failed.length > mostNamed ? ` and ${failed.length - mostNamed} more` : '';
    return `${failed.length} of ${failed.length + this.pages} pages could not be read: ${named.join(', ')}${more}`;
  }
}

/**
 * Reads a content, splits it, embeds the chunks and shows them to searches in one step, in place of the version before.
 * Undefined: the content was deleted or added anew in the meantime, and nothing was published.
 */
export async function indexContent(options: IndexingOptions): Promise<ContentOutcome | undefined> {
  for (let pass = 0; ; pass += 1) {
    try {
      return await indexOnce(options, pass);
    } catch (error) {
      if (!(error instanceof ChunksDiffer) || pass + 1 >= mostPasses) throw error;
    }
  }
}

async function indexOnce(options: IndexingOptions, pass: number): Promise<ContentOutcome | undefined> {
  const { context, base, content, onProgress } = options;
  const { jobId, signal } = context;
  const { contents, embeddings } = base.parts;
  const { embedder, vectorStore: store } = base;
  const generation = pass === 0 ? jobId : `${jobId}.${pass}`;
  const version = { knowledgeId: base.id, contentId: content.id, generation };
  const key = pass === 0 ? options.key : `${options.key}${pass}:`;
  const metadata = chunkMetadata(base, content);
  const embed = (texts: readonly string[], abort: AbortSignal) =>
    embedOnce(embedder, embeddings, texts, abort);
  const staging = new Staging({ context, key, version, store, embedder, embed, metadata });
  const read = new ReadProgress();
  const add = async (chunks: AsyncIterable<Chunk>) => {
    for await (const chunk of chunks) {
      signal.throwIfAborted();
      await staging.add({ ...chunk, name: content.name });
      onProgress({ pages: read.pages, totalPages: read.totalPages, chunks: staging.chunks });
    }
  };
  await options.stage({ key, read, staging, add });
  if (staging.chunks === 0) throw new ContentUnreadable(read.failed[0]?.reason);
  const embedded = await staging.end();
  const isCurrent = () => contents.isCurrent(base.id, content.id, jobId);
  if (!(await isCurrent())) return undefined;
  if (!(await storing(signal, store.publish(version)))) {
    if (await isCurrent()) throw new ChunksDiffer();
    return undefined;
  }
  await base.showChangedMetadata(content);
  onProgress({ pages: read.pages, totalPages: read.pages, chunks: staging.chunks });
  return { status: 'completed', message: read.message, embedded };
}

/** What every chunk of a content says: what its owner says of it, and which knowledge base it is in. */
function chunkMetadata(base: BaseInDatabase, { metadata, provenance }: StoredContent): JsonObject {
  return {
    ...metadata,
    ...(provenance?.source_type === 'url' && { _agno: provenance }),
    linked_to: base.name,
  };
}

/** Reads parts one after the other and splits what they say. */
export async function* chunksOfParts(
  base: BaseInDatabase,
  content: StoredContent,
  parts: AsyncIterable<FoundPart> | Iterable<FoundPart>,
  read: ReadProgress,
  signal: AbortSignal,
): AsyncIterable<Chunk> {
  for await (const part of parts) {
    if (isFailed(part)) {
      read.failed.push(part);
      continue;
    }
    const before = read.pages;
    try {
      yield* chunksOfPart(base, content, part, signal, (done, total) => {
        read.pages = before + done;
        if (total !== undefined) read.totalPages = before + total;
      });
      read.pages = Math.max(read.pages, before + 1);
    } catch (error) {
      // one page of many: the others are indexed, and the content says which one is missing
      if (!(error instanceof ContentUnreadable) || typeof part.metadata?.url !== 'string') throw error;
      read.failed.push({ name: part.metadata.url, reason: error.message });
    }
  }
}

async function* chunksOfPart(
  base: BaseInDatabase,
  { request }: StoredContent,
  part: ContentPart,
  signal: AbortSignal,
  onProgress: (done: number, total: number | undefined) => void,
): AsyncIterable<Chunk> {
  const { reader, options, chunkerFor } = base.indexedWith(part.content, {
    ...request,
    reader: part.reader ?? request.reader,
  });
  const tools = { signal, embedder: base.embedder, model: base.model };
  const documents = base.parts.documents.read(reader, part.content, { signal, onProgress });
  for await (const document of documents) {
    const chunker = chunkerFor(document);
    const metadata = { ...document.metadata, ...part.metadata };
    if (chunker === undefined) yield { content: document.content, metadata };
    else
      for await (const chunk of base.parts.documents.split(
        chunker,
        { ...document, metadata },
        options,
        tools,
      ))
        if (chunk.content.trim() !== '') yield chunk;
  }
}
