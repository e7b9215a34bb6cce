import type { Usage } from '../models/message.js';

export interface RerankOptions {
  /** How many of the best documents are wanted. Default: all. */
  readonly topN?: number;
  readonly signal?: AbortSignal;
}

export interface RankedDocument {
  /** Its position in the list that was given. */
  readonly index: number;
  /** How well it fits the query, more being better. Most models answer with values from 0 to 1. */
  readonly score: number;
}

export interface Ranking {
  /** The best first. */
  readonly results: readonly RankedDocument[];
  readonly usage: Usage;
}

/** Puts documents into the order in which they fit a query. */
export interface Reranker {
  readonly id: string;
  readonly provider: string;
  rerank(query: string, documents: readonly string[], options?: RerankOptions): Promise<Ranking>;
}
