import type { RunKind } from '../../core/runs/run.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    run_evals: RunEvalsTable;
    run_scores: RunScoresTable;
  }
}

/**
 * `pending`: a job grades it; `graded`: it has a score of each scorer; `incomplete`: a scorer failed; `failed`: the run
 * itself did, and no scorer saw it; `skipped`: the eval had graded as many in this hour as it may.
 */
export type EvalOutcome = 'pending' | 'graded' | 'incomplete' | 'failed' | 'skipped';

/** A run that a live eval chose. */
export interface RunEvalsTable {
  run_id: string;
  eval: string;
  kind: RunKind;
  component_id: string;
  user_id: string | null;
  /** Of the run's creation: days since 1970, UTC. */
  day: number;
  outcome: EvalOutcome;
  created_at: number;
  updated_at: number;
}

export interface RunScoresTable {
  run_id: string;
  eval: string;
  scorer: string;
  score: number | null;
  /** 1, 0, or null for a scorer without a threshold. */
  passed: number | null;
  reason: string | null;
  judge_id: string | null;
  judge_provider: string | null;
}
