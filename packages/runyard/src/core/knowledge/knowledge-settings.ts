import type { EmbedderLike } from '../embedders/resolve.js';
import type { ModelLike } from '../models/resolve.js';
import type { RerankerLike } from '../rerankers/resolve.js';
import type { Chunker, ChunkerOptions } from './chunkers/chunker.js';
import type { GivenContent } from './knowledge-space.js';
import type { Reader } from './readers/reader.js';
import type { ContentSource } from './sources/source.js';
import type { SearchType, VectorStore } from './vector-store.js';

export interface KnowledgeSettings {
  /** Unique within its database: contents belong to the knowledge base of this name. */
  readonly name: string;
  readonly description?: string;
  /** The id of a registered database. Default: the service's own. */
  readonly database?: string;
  /** Default `offline`, which needs no key and no network. */
  readonly embedder?: EmbedderLike;
  /** How it is searched unless a request says otherwise. Default `hybrid`. */
  readonly search?: SearchType;
  /** Leaves out what is less similar, from 0 to 1. Default 0. */
  readonly similarityThreshold?: number;
  /** How many chunks a search returns. Default 10. */
  readonly maxResults?: number;
  /** Readers of your own: they are chosen before the built-in ones. */
  readonly readers?: readonly Reader[];
  /** What contents are split with unless a request says otherwise. Default: what fits the reader. */
  readonly chunker?: string | Chunker | (ChunkerOptions & { readonly key: string });
  /** Buckets, repositories and document libraries that contents can be added from. */
  readonly sources?: readonly ContentSource[];
  /** What it holds from the start. Added at every start of the service; what has not changed is not indexed again. */
  readonly contents?: readonly GivenContent[];
  /** Puts the chunks that were found into a better order. */
  readonly reranker?: RerankerLike;
  /** For the chunker that asks a model. */
  readonly model?: ModelLike;
  /** Where the chunks are stored. Default: in the database. */
  readonly vectorStore?: VectorStore;
  /**
   * Metadata keys that a claim of the caller's token decides, with the name of the claim. Every search of a caller who
   * is isolated finds only chunks whose key has the value of the claim, whatever the caller or a model asks for; what
   * such a caller adds is given the value.
   */
  readonly claimFilters?: Readonly<Record<string, string>>;
}
