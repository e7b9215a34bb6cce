import type { Json } from '../json.js';
import type { Model } from '../models/model.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { Timers } from '../timers.js';
import type { EvalCase } from './eval-case.js';
import type { EvaluatedRun } from './evaluated-run.js';

/** What a scorer decides on. Failed, paused and cancelled runs are failed cases: no scorer sees them. */
export interface Evidence {
  readonly case: EvalCase;
  readonly run: EvaluatedRun;
}

/** What a scorer says about one run. */
export interface Score {
  /** Null for a scorer that only says whether the case passed. */
  readonly score: number | null;
  /** Null for a scorer without a threshold. */
  readonly passed: boolean | null;
  readonly reason?: string;
  /** What else there is to show, such as the tool calls that were missing. */
  readonly details?: Json;
}

/** What a scorer works with. */
export interface ScoringContext {
  readonly signal: AbortSignal;
  /** The judge of this eval; undefined when no model is configured for it. */
  readonly judge: Model | undefined;
  readonly timers: Timers;
  /** Calls a function of the application on behalf of what executes the eval. */
  readonly callApplication: CallApplication;
}

/** Grades finished runs. The four kinds of evals, the ready scorers and those of the application are scorers. */
export interface Scorer {
  /** Identifies it among the scorers of an eval, and in the results. */
  readonly name: string;
  /** An eval without a model that judges cannot have it. */
  readonly needsJudge?: true;
  score(evidence: Evidence, context: ScoringContext): Score | Promise<Score>;
}
