import { errors } from '../../errors/errors.js';
import type { Model } from '../../models/model.js';
import { type ModelLike, resolveModel } from '../../models/resolve.js';
import { checkOptions, ownerOf } from '../../options/check-options.js';
import type { ObjectKind } from '../../options/kind.js';
import { type Dataset, dataset } from '../datasets/dataset.js';
import type { GivenCase } from '../datasets/given-case.js';
import type { EvalOutcome, ScorerSummary } from '../eval-results.js';
import { scorerSummary } from '../eval-summary.js';
import { accuracyScorer } from '../kinds/accuracy.js';
import { assertNumericThreshold, judgeScorer } from '../kinds/agent-as-judge.js';
import { type PerformanceSummary, performanceSummary } from '../kinds/performance.js';
import { reliabilityScorer } from '../kinds/reliability.js';
import type { Scorer } from '../scorer.js';
import { scorerOf } from '../scorers/own-scorer.js';
import { type AnyComponent, componentIn, ownModel } from './component-subject.js';
import type { EvalDefinition, EvalKind } from './eval.js';
import {
  type AccuracyEvalOptions,
  accuracyEvalOptions,
  type EvaluateOptions,
  evaluateOptions,
  type JudgeEvalOptions,
  judgeEvalOptions,
  type PerformanceEvalOptions,
  type PerformanceThresholds,
  performanceEvalOptions,
  type ReliabilityEvalOptions,
  reliabilityEvalOptions,
  type SingleCase,
} from './eval-options.js';
import { faultsOf, shown } from './threshold.js';

const defaultConcurrency = 4;
/** One run says little about times. */
const measuredRuns = 10;

export function accuracyEval(options: AccuracyEvalOptions): EvalDefinition<ScorerSummary> {
  const { owner, component } = checked('Accuracy eval', options, accuracyEvalOptions);
  const { guidelines, context, threshold, expectedOutput } = options;
  const scorer = accuracyScorer(given({ guidelines, context, threshold }));
  const thresholds = threshold === undefined ? {} : { [scorer.name]: { mean: threshold } };
  return {
    ...single('accuracy', component, options, given({ expectedOutput })),
    ...scoredBy(scorer),
    judge: judgeOf(owner, component, options.judge, [scorer]),
    faultsOf: (outcome) => faultsOf(outcome, thresholds),
  };
}

export function judgeEval(options: JudgeEvalOptions): EvalDefinition<ScorerSummary> {
  const { owner, component } = checked('Judge eval', options, judgeEvalOptions);
  const { criteria, scoring, threshold, guidelines, expectedOutput, passRate = 1 } = options;
  assertNumericThreshold(owner, options);
  const scorer = judgeScorer({ criteria, ...given({ scoring, threshold, guidelines }) });
  return {
    ...single('agent_as_judge', component, options, given({ expectedOutput })),
    ...scoredBy(scorer),
    judge: judgeOf(owner, component, options.judge, [scorer]),
    faultsOf: (outcome) => faultsOf(outcome, { [scorer.name]: { passRate } }),
  };
}

export function reliabilityEval(options: ReliabilityEvalOptions): EvalDefinition<ScorerSummary> {
  const { component } = checked('Reliability eval', options, reliabilityEvalOptions);
  const { expectedToolCalls, allowAdditionalToolCalls, expectedArguments, passRate = 1 } = options;
  const scorer = reliabilityScorer({
    expectedToolCalls,
    ...given({ allowAdditionalToolCalls, expectedArguments }),
  });
  return {
    ...single('reliability', component, options, {}),
    ...scoredBy(scorer),
    judge: undefined,
    faultsOf: (outcome) => faultsOf(outcome, { [scorer.name]: { passRate } }),
  };
}

export function performanceEval(options: PerformanceEvalOptions): EvalDefinition<PerformanceSummary> {
  const { component } = checked('Performance eval', options, performanceEvalOptions);
  const { iterations = measuredRuns, warmups = 0, thresholds = {} } = options;
  const summaryOf = ({ outcomes }: EvalOutcome) => performanceSummary(outcomes);
  return {
    ...single('performance', component, { ...options, iterations, concurrency: 1 }, {}),
    warmups,
    scorers: [],
    judge: undefined,
    summaryOf,
    faultsOf: (outcome) => [...faultsOf(outcome, {}), ...slowness(summaryOf(outcome), thresholds)],
  };
}

export function scorersEval(options: EvaluateOptions): EvalDefinition<readonly ScorerSummary[]> {
  const { owner, component } = checked('Eval', options, evaluateOptions);
  const { name, iterations = 1, concurrency = defaultConcurrency, thresholds = {} } = options;
  const scorers = options.scorers.map(scorerOf);
  const names = scorers.map((scorer) => scorer.name);
  const twice = names.find((one, position) => names.indexOf(one) !== position);
  if (twice !== undefined)
    throw errors.invalidConfig(
      `${owner}: two scorers have the name '${twice}'. Give one of them another name.`,
    );
  const unknown = Object.keys(thresholds).find((one) => !names.includes(one));
  if (unknown !== undefined)
    throw errors.invalidConfig(
      `${owner}: thresholds.${unknown} is the name of no scorer. Those of this eval are ${names.join(', ')}.`,
    );
  return {
    name,
    kind: 'scorers',
    component,
    dataset: casesOf(owner, options),
    iterations,
    warmups: 0,
    concurrency,
    scorers,
    judge: judgeOf(owner, component, options.judge, scorers),
    summaryOf: (outcome) => outcome.scorers,
    faultsOf: (outcome) => faultsOf(outcome, thresholds),
  };
}

function checked(
  label: string,
  options:
    | AccuracyEvalOptions
    | JudgeEvalOptions
    | ReliabilityEvalOptions
    | PerformanceEvalOptions
    | EvaluateOptions,
  kind: ObjectKind,
): { owner: string; component: AnyComponent } {
  const owner = ownerOf(label, options);
  checkOptions(owner, options, kind);
  return { owner, component: componentIn(owner, options) };
}

function casesOf(owner: string, { name, cases, dataset: named }: EvaluateOptions): Dataset {
  if ((cases === undefined) === (named === undefined))
    throw errors.invalidConfig(`${owner}: give either cases or a dataset.`);
  return named ?? dataset({ name, cases: cases ?? [] });
}

/** What the evals of one case share. */
function single(
  kind: EvalKind,
  component: AnyComponent,
  options: SingleCase & { readonly iterations?: number; readonly concurrency?: number },
  expected: Pick<GivenCase, 'expectedOutput'>,
) {
  const { name = `${titles[kind]} of ${component.name}`, input, sessionState, dependencies } = options;
  const { iterations = 1, concurrency = defaultConcurrency } = options;
  const one = { id: 'case', input, ...expected, ...given({ sessionState, dependencies }) };
  return {
    name,
    kind,
    component,
    dataset: dataset({ name, cases: [one] }),
    iterations,
    warmups: 0,
    concurrency,
  };
}

const titles: Readonly<Record<EvalKind, string>> = {
  accuracy: 'Accuracy',
  agent_as_judge: 'Judgement',
  performance: 'Performance',
  reliability: 'Reliability',
  scorers: 'Scores',
};

function scoredBy(scorer: Scorer) {
  const summaryOf = ({ outcomes }: EvalOutcome) => scorerSummary(scorer.name, outcomes);
  return { scorers: [scorer], summaryOf };
}

function judgeOf(
  owner: string,
  component: AnyComponent,
  judge: ModelLike | undefined,
  scorers: readonly Scorer[],
): Model | undefined {
  if (judge !== undefined) return resolveModel(judge);
  const model = ownModel(component);
  const needing = scorers.find(({ needsJudge }) => needsJudge === true);
  if (model === undefined && needing !== undefined)
    throw errors.invalidConfig(
      `${owner}: the scorer '${needing.name}' needs a model that judges, and a workflow has none. Give judge, such as 'openai:gpt-5-mini'.`,
    );
  return model;
}

function slowness({ runTime, memory }: PerformanceSummary, thresholds: PerformanceThresholds): string[] {
  const { meanMs, p95Ms, maxMs, meanHeapBytes } = thresholds;
  const bounds = [
    { what: 'mean run time', value: runTime.mean, most: meanMs, unit: 'ms' },
    { what: '95th percentile of the run times', value: runTime.p95, most: p95Ms, unit: 'ms' },
    { what: 'longest run time', value: runTime.max, most: maxMs, unit: 'ms' },
    { what: 'mean growth of the heap', value: memory.mean, most: meanHeapBytes, unit: 'bytes' },
  ];
  return bounds.flatMap(({ what, value, most, unit }) =>
    most === undefined || (value !== null && value <= most)
      ? []
      : [`The ${what} is ${shown(value)} ${unit}, above ${most} ${unit}.`],
  );
}

/** The options that were given: one that is left out is not there. */
function given<Options extends object>(
  options: Options,
): { [Name in keyof Options]?: Exclude<Options[Name], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  // the same names and values, without those that are undefined
  return Object.fromEntries(entries) as { [Name in keyof Options]?: Exclude<Options[Name], undefined> };
}
