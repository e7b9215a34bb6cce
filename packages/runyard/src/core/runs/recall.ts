import type { RunKind } from './run.js';

/** Whose exchanges are searched: those of a person with one component, or those of one session with it. */
export interface RecallOwner {
  readonly userId: string | null;
  readonly kind: RunKind;
  readonly componentId: string;
  /** Left out: all sessions of the user, who has to be known then. */
  readonly sessionId?: string;
}

export interface RecallQuery {
  readonly vector: Float32Array;
  /** What made it. Vectors of another embedder are not compared. */
  readonly embedder: string;
  /** How many exchanges are wanted. */
  readonly limit: number;
  /** Leaves out what is not more similar than this, from 0 to 1. */
  readonly threshold: number;
  /** How many completed runs of the same session come with each. */
  readonly before: number;
  readonly after: number;
  /** Runs that are not wanted: the model is shown them anyway. */
  readonly except: readonly string[];
}

/** An exchange that was found, with those around it. */
export interface RecalledExchange {
  readonly runId: string;
  readonly similarity: number;
  /** All of them in the order of the session. */
  readonly runIds: readonly string[];
}

/** How many of the newest exchanges a search compares. */
export const searchedExchanges = 2_000;

/** Earlier exchanges by their meaning: a vector for each completed run. What is deleted with a run goes with it. */
export interface Recall {
  /** Stores the vector of a run in place of an earlier one. A run that is gone gets none. */
  put(runId: string, vector: Float32Array, embedder: string): Promise<void>;
  /** The most similar first. */
  nearest(owner: RecallOwner, query: RecallQuery): Promise<readonly RecalledExchange[]>;
}

/** The best of what was compared. */
export function bestExchanges<Compared extends { readonly runId: string; readonly similarity: number }>(
  compared: readonly Compared[],
  { limit, threshold, except }: RecallQuery,
): readonly Compared[] {
  const unwanted = new Set(except);
  return compared
    .filter(({ runId, similarity }) => similarity > threshold && !unwanted.has(runId))
    .sort((left, right) => right.similarity - left.similarity)
    .slice(0, limit);
}
