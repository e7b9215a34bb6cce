import type { EvalCase } from '../../core/evals/eval-case.js';
import type { EvalType } from '../../core/evals/eval-types.js';
import type { RunUsageTotals } from '../../core/evals/evaluated-run.js';
import type { Score } from '../../core/evals/scorer.js';
import type { JsonObject } from '../../core/json.js';
import type { RunKind, RunOptions } from '../../core/runs/run.js';
import type { StoredCaller } from './stored-caller.js';

export type EvalStatus = 'pending' | 'running' | 'completed' | 'error' | 'cancelled';

/** What an eval is about. */
export interface EvaluatedComponent {
  readonly kind: RunKind;
  readonly id: string;
  readonly name: string | null;
}

/** An eval as its row shows it. */
export interface StoredEval {
  readonly id: string;
  readonly userId: string | null;
  readonly evalType: EvalType;
  readonly name: string | null;
  /** Null for stored runs of several components. */
  readonly component: EvaluatedComponent | null;
  readonly model: { readonly id: string; readonly provider: string } | null;
  readonly datasetId: string | null;
  readonly status: EvalStatus;
  readonly error: string | null;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly evalInput: JsonObject;
  readonly evalData: JsonObject | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What an eval is asked to do. It is stored with the eval, so that any process can do it. */
export interface StoredPlan {
  readonly caller: StoredCaller;
  /** Null for stored runs of several components. */
  readonly component: EvaluatedComponent | null;
  /** The model that a copy of the component runs on, as `provider:id`. Left out: its own. */
  readonly model?: string;
  /** The states of stored components that all of its runs have. Left out: code defines the component. */
  readonly configs?: RunOptions['configs'];
  readonly evaluation: Evaluation;
  /** What is executed. */
  readonly cases?: readonly EvalCase[];
  /** Runs that are graded instead. */
  readonly runs?: readonly StoredRunReference[];
  readonly iterations: number;
  readonly warmups: number;
  /** What each run is given; cases may add to it. */
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
  /** For an agent that is built for each run. */
  readonly factoryInput?: JsonObject;
  readonly concurrency: number;
}

export interface StoredRunReference {
  readonly runId: string;
  readonly kind: RunKind;
  readonly componentId: string;
}

/** How the runs are judged. */
export interface Evaluation {
  readonly evalType: EvalType;
  readonly expectedOutput?: string;
  readonly guidelines?: string;
  readonly context?: string;
  readonly criteria?: string;
  readonly strategy: 'numeric' | 'binary';
  readonly threshold: number;
  readonly expectedToolCalls?: readonly string[];
  readonly allowAdditionalToolCalls: boolean;
  readonly expectedArguments?: Readonly<Record<string, JsonObject | readonly JsonObject[]>>;
  /** Names and options of scorers, as the request has them. */
  readonly scorers?: readonly ChosenScorer[];
}

/** A ready scorer or one of the application's, by its name. */
export interface ChosenScorer {
  readonly name: string;
  readonly options?: JsonObject;
}

/** One execution of one case, as it is stored. */
export interface StoredResult {
  readonly position: number;
  readonly caseId: string;
  readonly iteration: number;
  readonly input: string;
  readonly expectedOutput: string | null;
  readonly output: string | null;
  readonly status: 'completed' | 'paused' | 'error' | 'cancelled' | 'failed';
  readonly scores: Readonly<Record<string, Score>>;
  readonly error: string | null;
  readonly runId: string | null;
  readonly sessionId: string | null;
  readonly durationMs: number | null;
  readonly runTimeMs: number | null;
  readonly memoryBytes: number | null;
  readonly usage: RunUsageTotals | null;
  readonly createdAt: number;
}
