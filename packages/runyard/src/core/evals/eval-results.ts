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

/** One case of two evals. */
export interface CaseComparison {
  readonly caseId: string;
  readonly scorer: string;
  readonly before: Statistics;
  readonly after: Statistics;
  readonly change: 'better' | 'worse' | 'same' | 'added' | 'removed';
  /** Whether the difference is more than chance at the asked level, as far as the iterations can say. */
  readonly significant: boolean;
}

/** Two evals of the same dataset. */
export interface EvalComparison {
  readonly scorers: readonly {
    readonly name: string;
    readonly before: Statistics;
    readonly after: Statistics;
    /** Of the mean difference over the cases: after minus before. Null with less than two cases. */
    readonly difference: { readonly mean: number; readonly low: number; readonly high: number } | null;
    /** The probability of a difference at least this large if nothing had changed. Null with too few values. */
    readonly pValue: number | null;
    readonly significant: boolean;
  }[];
  readonly cases: readonly CaseComparison[];
}
