/** `runyard/evals`: grades what agents, teams and workflows do. */

export type { CompareOptions } from './core/evals/comparison/compare-evals.js';
export { type Dataset, type DatasetOptions, dataset } from './core/evals/datasets/dataset.js';
export type { GivenCase } from './core/evals/datasets/given-case.js';
export { compareResults } from './core/evals/definition/compare-results.js';
export type { ComponentToEvaluate } from './core/evals/definition/component-subject.js';
export {
  Eval,
  type EvalKind,
  type EvalProgress,
  type EvalRunOptions,
  type EvalRunResult,
} from './core/evals/definition/eval.js';
export type {
  AccuracyEvalOptions,
  EvalOptions,
  EvaluateOptions,
  JudgeEvalOptions,
  PerformanceEvalOptions,
  PerformanceThresholds,
  ReliabilityEvalOptions,
  SingleCase,
} from './core/evals/definition/eval-options.js';
export type { Threshold } from './core/evals/definition/threshold.js';
export type { EvalCase, ExpectedToolCall } from './core/evals/eval-case.js';
export type {
  CaseChange,
  CaseComparison,
  CaseResult,
  EvalComparison,
  MeanDifference,
  RunMeasures,
  ScorerComparison,
  ScorerSummary,
  Statistics,
} from './core/evals/eval-results.js';
export type { EvaluatedRun, EvaluatedToolCall, RunUsageTotals } from './core/evals/evaluated-run.js';
export { type AccuracyOptions, accuracyScorer } from './core/evals/kinds/accuracy.js';
export { type JudgeOptions, judgeScorer } from './core/evals/kinds/agent-as-judge.js';
export type { PerformanceSummary } from './core/evals/kinds/performance.js';
export {
  type ReliabilityDetails,
  type ReliabilityOptions,
  reliabilityScorer,
} from './core/evals/kinds/reliability.js';
export { LiveEval, type LiveEvalOptions, liveEval } from './core/evals/live-eval.js';
export type { Evidence, Score, Scorer, ScoringContext } from './core/evals/scorer.js';
export {
  type MaxCostOptions,
  type MaxLatencyOptions,
  type MaxTokensOptions,
  maxCost,
  maxLatency,
  maxTokens,
} from './core/evals/scorers/bounds.js';
export { type JsonSchemaScorerOptions, jsonSchema } from './core/evals/scorers/json-schema.js';
export { type OwnScorerOptions, type ScorerFunction, scorer } from './core/evals/scorers/own-scorer.js';
export { type SimilarityOptions, similarity } from './core/evals/scorers/similarity.js';
export {
  type ContainsOptions,
  contains,
  type ExactOptions,
  exact,
  type RegexOptions,
  regex,
} from './core/evals/scorers/text-scorers.js';
export { accuracy, evaluate, judge, performance, reliability } from './library/library-evals.js';
export { type DatasetFileOptions, datasetFile } from './platform/datasets/dataset-file.js';
