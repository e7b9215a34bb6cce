import type { EvalCase } from '../../core/evals/eval-case.js';
import type { JsonObject } from '../../core/json.js';

export interface StoredDataset {
  readonly id: string;
  readonly userId: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: JsonObject | null;
  /** Counts the changes of its cases: two evals with the same revision had the same cases. */
  readonly revision: number;
  readonly caseCount: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface StoredCase {
  readonly case: EvalCase;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a write did. */
export interface Written {
  readonly added: number;
  readonly updated: number;
  readonly removed: number;
  readonly revision: number;
}

/** What a request can change of a dataset itself. */
export interface DatasetChange {
  readonly name?: string;
  readonly description?: string | null;
  readonly metadata?: JsonObject | null;
}
