import type { Usage } from '../models/message.js';

/** What a text is embedded for: to search with it, or to be found. Many models distinguish the two. */
export type EmbeddingPurpose = 'query' | 'document';

export interface EmbedOptions {
  /** Default `document`. */
  readonly purpose?: EmbeddingPurpose;
  readonly signal?: AbortSignal;
}

export interface Embeddings {
  /** One for each text, in the order of the texts. */
  readonly vectors: readonly Float32Array[];
  /** Of all requests together. */
  readonly usage: Usage;
}

/** Makes vectors of texts: texts of similar meaning have vectors that are near each other. */
export interface Embedder {
  readonly id: string;
  readonly provider: string;
  /** The length of its vectors, if it is known before the first call. */
  readonly dimensions?: number;
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Embeddings>;
}
