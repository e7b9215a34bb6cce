import type { Json, JsonObject } from '../json.js';
import type { Chunk } from './document.js';
import type { KnowledgeFilter } from './filter.js';

export type SearchType = 'vector' | 'keyword' | 'hybrid';

/** A version of a content while it is indexed. `generation` is the id of the job that indexes it. */
export interface ContentVersion {
  readonly knowledgeId: string;
  readonly contentId: string;
  readonly generation: string;
}

export interface EmbeddedChunk extends Chunk {
  /** Its position in the content, from 0: with the version it identifies the chunk. */
  readonly position: number;
  /** The name of its content when it was added. */
  readonly name: string | null;
  readonly vector: Float32Array;
  /** What the embedder reported for it. */
  readonly usage?: JsonObject | undefined;
}

/** A chunk as it was staged, without its vector. */
export type StoredChunk = Omit<EmbeddedChunk, 'vector' | 'usage'>;

export interface SearchRequest {
  readonly type: SearchType;
  readonly text: string;
  /** Of the text; undefined for a keyword search. */
  readonly vector: Float32Array | undefined;
  /** What made the vector, as in `stage`. The store throws `embedder_changed` when its chunks have another one. */
  readonly embedder?: string | undefined;
  readonly limit: number;
  readonly filter: KnowledgeFilter | undefined;
  /** Leaves out what is less similar, from 0 to 1. */
  readonly similarityThreshold?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FoundChunk {
  readonly id: string;
  readonly contentId: string;
  readonly content: string;
  readonly name: string | null;
  readonly metadata: JsonObject;
  readonly usage: Json;
  /** From 0 to 1; undefined for a keyword search. */
  readonly similarity: number | undefined;
}

/**
 * Where chunks are stored and searched. One store holds many knowledge bases, fully apart: each call names one. A
 * search sees exactly one version of a content, the published one. `test/conformance/knowledge` is the suite that
 * every store has to pass.
 */
export interface VectorStore {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly searchTypes: readonly SearchType[];
  /**
   * Adds chunks to a version that searches do not see yet. A chunk at the same position is replaced. `embedder`
   * identifies what made the vectors (provider and model): a search with vectors of another one is refused. A version
   * that was published or removed does not change.
   */
  stage(version: ContentVersion, chunks: readonly EmbeddedChunk[], embedder: string): Promise<void>;
  /** How many chunks of a version are staged: a job that was interrupted continues there. */
  staged(version: ContentVersion): Promise<number>;
  /**
   * Shows this version to searches in place of every other version of the content, in one step. False, and nothing
   * changes, when the version has no chunks: its content was removed in the meantime.
   */
  publish(version: ContentVersion): Promise<boolean>;
  /** Chunks of the published version from a position on, in order: they are embedded anew from here. */
  published(
    knowledgeId: string,
    contentId: string,
    from: number,
    limit: number,
  ): Promise<readonly StoredChunk[]>;
  /** Removes all versions, or all but the published one. */
  remove(knowledgeId: string, contentId: string, what?: 'all' | 'staged'): Promise<void>;
  /** Merges keys into the metadata of the chunks of a content; `undefined` values remove keys. */
  updateMetadata(
    knowledgeId: string,
    contentId: string,
    changes: Readonly<Record<string, Json | undefined>>,
  ): Promise<void>;
  search(knowledgeId: string, request: SearchRequest): Promise<readonly FoundChunk[]>;
}
