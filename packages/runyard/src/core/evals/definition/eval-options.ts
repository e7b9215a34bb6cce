import type { Json, JsonObject } from '../../json.js';
import { model } from '../../models/model-kind.js';
import type { ModelLike } from '../../models/resolve.js';
import type { Shape } from '../../options/kind.js';
import {
  amount,
  anyOf,
  anything,
  callable,
  count,
  having,
  json,
  listOf,
  name,
  objectOf,
  recordOf,
  required,
} from '../../options/kinds.js';
import type { Dataset } from '../datasets/dataset.js';
import type { GivenCase } from '../datasets/given-case.js';
import { evalBounds } from '../eval-plan.js';
import { type AccuracyOptions, accuracyShape } from '../kinds/accuracy.js';
import { type JudgeOptions, judgeShape } from '../kinds/agent-as-judge.js';
import { type ReliabilityOptions, reliabilityShape } from '../kinds/reliability.js';
import type { Scorer } from '../scorer.js';
import { type ScorerFunction, scorerKind } from '../scorers/own-scorer.js';
import { type ComponentToEvaluate, componentShape } from './component-subject.js';
import { passRateKind, type Threshold, thresholdKind } from './threshold.js';

/** What every eval has. */
export interface EvalOptions extends ComponentToEvaluate {
  /** How often each case is executed, 1 to 100. Default 1. */
  readonly iterations?: number;
}

interface ConcurrentOptions {
  /** How many runs are executed at once, 1 to 50. Default 4. */
  readonly concurrency?: number;
}

interface JudgedOptions {
  /** The model that judges. Default: the model of the agent, or of the leader of the team. */
  readonly judge?: ModelLike;
}

/** The one case of an eval of one of the four kinds. */
export interface SingleCase {
  /** Default: the kind of the eval and the name of the component. */
  readonly name?: string;
  /** The message for the component; an object where it has an input schema. */
  readonly input: string | JsonObject;
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
}

export interface AccuracyEvalOptions
  extends EvalOptions,
    ConcurrentOptions,
    JudgedOptions,
    SingleCase,
    Omit<AccuracyOptions, 'name'> {
  /** What a good answer says; of a component with an output schema, the value. */
  readonly expectedOutput: Json;
}

export interface JudgeEvalOptions
  extends EvalOptions,
    ConcurrentOptions,
    JudgedOptions,
    SingleCase,
    Omit<JudgeOptions, 'name'> {
  readonly expectedOutput?: Json;
  /** The least share of runs that pass, 0 to 1. Default 1. */
  readonly passRate?: number;
}

export interface ReliabilityEvalOptions
  extends EvalOptions,
    ConcurrentOptions,
    SingleCase,
    Omit<ReliabilityOptions, 'name' | 'expectedToolCalls'> {
  /** Names of tools, each of which has to be executed without an error. An empty list: no tool may be called. */
  readonly expectedToolCalls: readonly string[];
  /** The least share of runs that pass, 0 to 1. Default 1. */
  readonly passRate?: number;
}

/** The most that runs may take; what is left out has no bound. */
export interface PerformanceThresholds {
  readonly meanMs?: number;
  readonly p95Ms?: number;
  readonly maxMs?: number;
  readonly meanHeapBytes?: number;
}

/** Runs are executed one after the other: side by side, they would measure each other. */
export interface PerformanceEvalOptions extends EvalOptions, SingleCase {
  /** Runs before those that are measured, 0 to 10. Default 0. */
  readonly warmups?: number;
  readonly thresholds?: PerformanceThresholds;
}

/** An eval of many cases by scorers of one's choice. */
export interface EvaluateOptions extends EvalOptions, ConcurrentOptions, JudgedOptions {
  readonly name: string;
  /** The cases, or `dataset`. */
  readonly cases?: readonly GivenCase[];
  /** A dataset, made with `dataset()` or `datasetFile()`. */
  readonly dataset?: Dataset;
  readonly scorers: readonly (Scorer | ScorerFunction)[];
  /** By the name of the scorer: what its scores have to reach together. Without one, all runs have to pass. */
  readonly thresholds?: Readonly<Record<string, Threshold>>;
}

const shared: Shape<EvalOptions> = { ...componentShape, iterations: count(1, evalBounds.iterations) };
const concurrent: Shape<ConcurrentOptions> = { concurrency: count(1, evalBounds.concurrency) };
const judged: Shape<JudgedOptions> = { judge: model };
const singleCase: Shape<SingleCase> = {
  name,
  input: required({ ...anyOf(name, json), allowed: 'a text that is not empty, or an object' }),
  sessionState: json,
  dependencies: json,
};

export const accuracyEvalOptions = objectOf<AccuracyEvalOptions>({
  ...accuracyShape,
  ...shared,
  ...concurrent,
  ...judged,
  ...singleCase,
  expectedOutput: required(anything),
});

export const judgeEvalOptions = objectOf<JudgeEvalOptions>({
  ...judgeShape,
  ...shared,
  ...concurrent,
  ...judged,
  ...singleCase,
  expectedOutput: anything,
  passRate: passRateKind,
});

export const reliabilityEvalOptions = objectOf<ReliabilityEvalOptions>({
  ...reliabilityShape,
  ...shared,
  ...concurrent,
  ...singleCase,
  expectedToolCalls: required(listOf(name)),
  passRate: passRateKind,
});

const most = amount('a number, 0 or more', (value) => value >= 0);

export const performanceEvalOptions = objectOf<PerformanceEvalOptions>({
  ...shared,
  ...singleCase,
  warmups: count(0, evalBounds.warmups),
  thresholds: objectOf<PerformanceThresholds>({
    meanMs: most,
    p95Ms: most,
    maxMs: most,
    meanHeapBytes: most,
  }),
});

export const evaluateOptions = objectOf<EvaluateOptions>({
  ...shared,
  ...concurrent,
  ...judged,
  name: required(name),
  // what they hold is checked by dataset()
  cases: listOf(json, 1),
  dataset: having<Dataset>('a dataset, made with dataset() or datasetFile()', {
    name: required(name),
    cases: required(callable),
  }),
  scorers: required(listOf(scorerKind, 1)),
  thresholds: recordOf(thresholdKind),
});
