import type { JsonObject } from '../../json.js';
import type { KnowledgeFilter } from '../../knowledge/filter.js';
import type { RunValues } from '../context/run-values.js';

/** A document that a retriever found. */
export interface RetrievedDocument {
  readonly name?: string | null;
  readonly content: string;
  readonly metadata?: JsonObject;
}

/** What a retriever learns about the search. */
export interface Retrieval extends RunValues {
  /** What the agent, the caller, the model and the claims of the token ask for, together. */
  readonly filter: KnowledgeFilter | undefined;
  /** How many documents are wanted at most. */
  readonly limit: number;
}

/** A function of the application that searches in place of the knowledge bases. */
export type KnowledgeRetriever = (
  query: string,
  run: Retrieval,
) => readonly RetrievedDocument[] | Promise<readonly RetrievedDocument[]>;
