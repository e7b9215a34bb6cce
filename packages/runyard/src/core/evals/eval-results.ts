import type { EvalCase } from './eval-case.js';
import type { EvaluatedRun } from './evaluated-run.js';
import type { Score } from './scorer.js';

/** One execution of one case, with its scores. */
export interface CaseResult {
  readonly case: EvalCase;
  /** From 1. */
  readonly iteration: number;
  /** Undefined when the run could not be started: `failure` says why. */
  readonly run?: EvaluatedRun;
  /** By the name of the scorer. Empty for a run that did not complete. */
  readonly scores: Readonly<Record<string, Score>>;
  /** Why there is no score, or not from every scorer. */
  readonly failure?: string;
  /** What the run took. Undefined when it could not be started. */
  readonly measured?: RunMeasures;
}

export interface RunMeasures {
  /** From the request to the stored end of the run. */
  readonly runTimeMs: number;
  /** How much the heap of the process grew: never negative, null where it was not measured. */
  readonly heapBytes: number | null;
}

/** What is kept of a result in the journal of the eval: enough for the statistics. */
export interface CaseOutcome {
  readonly caseId: string;
  readonly iteration: number;
  readonly runId: string;
  /** `not_started`: there is no run. */
  readonly status: EvaluatedRun['status'] | 'not_started';
  readonly scores: Readonly<Record<string, Pick<Score, 'score' | 'passed'>>>;
  readonly failure?: string;
  readonly measured?: RunMeasures;
}

/** What an eval found out, without texts: those are in the `CaseResult`s. */
export interface EvalOutcome {
  /** In the order of the cases, and of the iterations of each. */
  readonly outcomes: readonly CaseOutcome[];
  /** In the order of the scorers. */
  readonly scorers: readonly ScorerSummary[];
  /** How many executions have no score from one scorer or from all of them. */
  readonly failures: number;
}

/** What one scorer says about all executions that it could score. */
export interface ScorerSummary {
  readonly name: string;
  readonly scores: Statistics;
  readonly passed: number;
  readonly failed: number;
  /** The share of the executions that passed, 0 to 1. Null where the scorer has no threshold, or scored nothing. */
  readonly passRate: number | null;
}

/** Statistics over some numbers; null where there are no numbers. Standard deviations are those of a sample. */
export interface Statistics {
  readonly count: number;
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly stdDev: number | null;
  readonly median: number | null;
  readonly p95: number | null;
}

/** How the mean changed: after minus before. */
export interface MeanDifference {
  readonly mean: number;
  /** The bounds of the confidence interval; null where the values do not say how precise the mean is. */
  readonly low: number | null;
  readonly high: number | null;
}

/**
 * `unscored`: one of the evals has no score for the case, although its run completed. A case whose runs all failed in
 * one eval only is better or worse.
 */
export type CaseChange = 'better' | 'worse' | 'same' | 'added' | 'removed' | 'unscored';

/** One case of two evals, by one scorer. */
export interface CaseComparison {
  readonly caseId: string;
  readonly scorer: string;
  readonly before: Statistics;
  readonly after: Statistics;
  readonly change: CaseChange;
  /** Null where one of the evals has no score. */
  readonly difference: MeanDifference | null;
  /** Of the iterations of this case alone. Null with fewer than two in one of the evals. */
  readonly pValue: number | null;
  /** Whether the difference is more than chance at the level, with regard to how many cases were tested. */
  readonly significant: boolean;
}

/** All cases of two evals, by one scorer. Scorers without a number count a pass as 1 and a failure as 0. */
export interface ScorerComparison {
  readonly name: string;
  readonly lowerIsBetter: boolean;
  /** Over the values of all iterations. */
  readonly before: Statistics;
  readonly after: Statistics;
  /** How many cases changed in which way. */
  readonly changes: Readonly<Record<CaseChange, number>>;
  /** Of the mean difference over the cases that both evals scored. Null with less than two of them. */
  readonly difference: MeanDifference | null;
  /** The probability of a difference at least this large if nothing had changed. Null with less than two cases. */
  readonly pValue: number | null;
  readonly significant: boolean;
}

/** Two evals of the same dataset. */
export interface EvalComparison {
  /** The probability of calling chance a difference that was accepted. */
  readonly level: number;
  /** How many runs did not complete. */
  readonly failedRuns: { readonly before: number; readonly after: number };
  readonly scorers: readonly ScorerComparison[];
  /** For each scorer in turn: the cases in the order of the first eval, then those that were added. */
  readonly cases: readonly CaseComparison[];
}
