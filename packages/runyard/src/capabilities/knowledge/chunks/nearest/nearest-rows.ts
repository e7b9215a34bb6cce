import type { KnowledgeFilter } from '../../../../core/knowledge/filter.js';
import type { IndexRow, VersionRow } from '../version-store.js';

export interface NearRow {
  readonly rowId: number;
  readonly similarity: number;
}

export interface NearestRequest {
  readonly vector: Float32Array;
  readonly wanted: number;
  /** How many of the first have to be right; the others may be about right. */
  readonly certain: number;
  readonly filter: KnowledgeFilter | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Finds the chunks whose vectors are nearest to one: at least as many as are wanted, with all that are as near. */
export interface NearestRows {
  /** For people: how it searches. */
  readonly description: string;
  nearest(index: IndexRow, request: NearestRequest): Promise<readonly NearRow[]>;
  /** Chunks of a version have been staged. */
  staged?(version: VersionRow): Promise<void>;
  /** The rows of a version have been removed. */
  purged?(version: VersionRow): Promise<void>;
}

/** So few vectors are compared one by one. */
export const exactRows = 1_000;
/** A filter that lets more through is applied to what is near, and not before. */
export const mostFiltered = 5_000;
