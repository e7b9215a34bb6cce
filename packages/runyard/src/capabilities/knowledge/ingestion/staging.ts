import { createHash } from 'node:crypto';
import { reasonOf } from '../../../core/errors/reason.js';
import type { JsonObject } from '../../../core/json.js';
import type { Chunk } from '../../../core/knowledge/document.js';
import type { ContentVersion, EmbeddedChunk, VectorStore } from '../../../core/knowledge/vector-store.js';
import { ModelError } from '../../../core/models/model-error.js';
import type { JobContext } from '../../../core/runs/jobs/job.js';
import { outputRecord } from '../../../core/runs/journal/codec.js';
import { number, object, text } from '../../../core/runs/journal/shapes.js';
import { isTransientStorageError } from '../../../platform/storage/transient.js';
import type { EmbeddedWith } from '../contents/content.js';
import { type EmbeddedTexts, embedderName } from './cached-embedding.js';

/** So many chunks are embedded and stored at once: one step of the job. */
const chunksAtOnce = 128;
const maxRetries = 5;

/** A chunk that waits to be embedded. */
export interface WaitingChunk extends Chunk {
  readonly name: string | null;
}

/** How far the staging of a version is. */
export interface Staged {
  readonly chunks: number;
  readonly batches: number;
  /** The length of the vectors. */
  readonly dimensions: number;
}

/**
 * A chunker that asks a model may split the same text otherwise after a restart: then nothing staged fits. Or what was
 * staged is gone, because a removal of the content ended after it was added again.
 */
export class ChunksDiffer extends Error {
  constructor() {
    super('The chunks that were stored do not fit the content');
  }
}

/** What the embedder or the vector store failed with. */
export class ChunksNotStored extends Error {
  constructor(cause: unknown) {
    super(`Could not insert embedding: ${reasonOf(cause)}`, { cause });
    this.name = 'ChunksNotStored';
  }
}

const batchRecord = outputRecord(
  'staged_chunks',
  1,
  object({ hash: text, chunks: number, dimensions: number, inputTokens: number }),
);

export interface StagingOptions {
  readonly context: JobContext;
  /** Begins the keys of its steps. */
  readonly key: string;
  readonly version: ContentVersion;
  readonly store: VectorStore;
  readonly embedder: { readonly provider: string; readonly id: string };
  embed(texts: readonly string[], signal: AbortSignal): Promise<EmbeddedTexts>;
  /** What every chunk says, over what its document says. */
  readonly metadata: JsonObject;
}

/**
 * Embeds the chunks of a version and stores them where searches do not see them yet, a batch at a time. Each batch is a
 * step: after a restart, those that are stored are neither embedded nor stored again.
 */
export class Staging {
  private waiting: WaitingChunk[] = [];
  private batches = 0;
  private staged = 0;
  private dimensions = 0;

  constructor(private readonly options: StagingOptions) {}

  get chunks(): number {
    return this.staged + this.waiting.length;
  }

  /** Without the chunks that wait. */
  get progress(): Staged {
    return { chunks: this.staged, batches: this.batches, dimensions: this.dimensions };
  }

  /** Continues after what an earlier execution of the job has staged. */
  continueAfter({ chunks, batches, dimensions }: Staged): void {
    this.staged = chunks;
    this.batches = batches;
    this.dimensions = dimensions;
  }

  async add(chunk: WaitingChunk): Promise<void> {
    this.waiting.push(chunk);
    if (this.waiting.length >= chunksAtOnce) await this.store();
  }

  /** Stores the chunks that wait. */
  async flush(): Promise<void> {
    if (this.waiting.length > 0) await this.store();
  }

  /** Stores the last chunks. What the version was embedded with. */
  async end(): Promise<EmbeddedWith> {
    await this.flush();
    return { embedder: embedderName(this.options.embedder), dimensions: this.dimensions };
  }

  private async store(): Promise<void> {
    const { context, key, version, store, embedder, metadata, embed } = this.options;
    const chunks = this.waiting;
    const first = this.staged;
    const hash = hashOf(chunks);
    this.waiting = [];
    const work = {
      name: 'embed and store chunks',
      record: batchRecord,
      retry: { maxRetries, when: mayPass },
    };
    const record = await storing(
      context.signal,
      context.step(`${key}batch:${this.batches}`, work, async ({ signal }) => {
        const { vectors, inputTokens } = await embed(
          chunks.map(({ content }) => content),
          signal,
        );
        signal.throwIfAborted();
        const embedded = chunks.map(
          (chunk, position): EmbeddedChunk => ({
            content: chunk.content,
            name: chunk.name,
            metadata: { ...chunk.metadata, ...metadata },
            position: first + position,
            // one for each text
            vector: vectors[position]!,
          }),
        );
        await store.stage(version, embedded, embedderName(embedder));
        return { hash, chunks: chunks.length, dimensions: vectors[0]?.length ?? 0, inputTokens };
      }),
    );
    if (record.hash !== hash) throw new ChunksDiffer();
    this.batches += 1;
    this.staged += chunks.length;
    this.dimensions = record.dimensions;
  }
}

/** Marks a failure as a failure to store. An abort is not a failure. */
export async function storing<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    signal.throwIfAborted();
    throw new ChunksNotStored(error);
  }
}

/** Whether the same call may well succeed later. */
function mayPass(error: Error): boolean {
  return error instanceof ModelError ? error.retryable : isTransientStorageError(error);
}

function hashOf(chunks: readonly WaitingChunk[]): string {
  const hash = createHash('sha256');
  for (const { content, metadata } of chunks) hash.update(JSON.stringify([content, metadata]));
  return hash.digest('hex');
}
