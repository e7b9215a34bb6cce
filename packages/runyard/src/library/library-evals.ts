import {
  accuracyEval,
  judgeEval,
  performanceEval,
  reliabilityEval,
  scorersEval,
} from '../core/evals/definition/define-evals.js';
import { Eval, type EvalSite } from '../core/evals/definition/eval.js';
import type {
  AccuracyEvalOptions,
  EvaluateOptions,
  JudgeEvalOptions,
  PerformanceEvalOptions,
  ReliabilityEvalOptions,
} from '../core/evals/definition/eval-options.js';
import type { ScorerSummary } from '../core/evals/eval-results.js';
import type { PerformanceSummary } from '../core/evals/kinds/performance.js';
import { systemTimers } from '../platform/engine/local/timers.js';

const site: EvalSite = { timers: systemTimers, heapUsed: () => process.memoryUsage().heapUsed };

/** Defines an eval in which a judge compares the answers to one message with the expected one: scores from 1 to 10. */
export function accuracy(options: AccuracyEvalOptions): Eval<ScorerSummary> {
  return new Eval(accuracyEval(options), site);
}

/** Defines an eval in which a judge decides whether, or how well, the answers to one message meet criteria. */
export function judge(options: JudgeEvalOptions): Eval<ScorerSummary> {
  return new Eval(judgeEval(options), site);
}

/** Defines an eval that measures how long runs take, and how much the heap of the process grows. */
export function performance(options: PerformanceEvalOptions): Eval<PerformanceSummary> {
  return new Eval(performanceEval(options), site);
}

/** Defines an eval that checks which tools are called for one message. */
export function reliability(options: ReliabilityEvalOptions): Eval<ScorerSummary> {
  return new Eval(reliabilityEval(options), site);
}

/** Defines an eval of many cases by scorers of one's choice. */
export function evaluate(options: EvaluateOptions): Eval<readonly ScorerSummary[]> {
  return new Eval(scorersEval(options), site);
}
