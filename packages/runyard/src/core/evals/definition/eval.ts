import { inProcessJobs } from '../../components/component-space.js';
import { errors } from '../../errors/errors.js';
import { newId } from '../../ids.js';
import type { Model } from '../../models/model.js';
import { checkOptions } from '../../options/check-options.js';
import { callable, count, objectOf, signal as signalKind } from '../../options/kinds.js';
import { defineJob } from '../../runs/jobs/job.js';
import { anyRecord } from '../../runs/journal/records.js';
import type { RunKind } from '../../runs/run.js';
import type { Timers } from '../../timers.js';
import type { Dataset } from '../datasets/dataset.js';
import { checkPlan, type EvalPlan, evalBounds } from '../eval-plan.js';
import type { CaseOutcome, CaseResult, EvalOutcome, ScorerSummary } from '../eval-results.js';
import { executeEval } from '../execute-eval.js';
import type { Scorer } from '../scorer.js';
import { type AnyComponent, subjectOf } from './component-subject.js';

/** `scorers`: an eval of several cases by scorers of one's choice. */
export type EvalKind = 'accuracy' | 'agent_as_judge' | 'performance' | 'reliability' | 'scorers';

/** What an eval is, after its options are checked. */
export interface EvalDefinition<Summary> {
  readonly name: string;
  readonly kind: EvalKind;
  readonly component: AnyComponent;
  readonly dataset: Dataset;
  readonly iterations: number;
  readonly warmups: number;
  readonly concurrency: number;
  readonly scorers: readonly Scorer[];
  readonly judge: Model | undefined;
  readonly summaryOf: (outcome: EvalOutcome) => Summary;
  /** Why it did not pass; empty when it did. */
  readonly faultsOf: (outcome: EvalOutcome) => string[];
}

/** What the process gives to evals in code. */
export interface EvalSite {
  readonly timers: Timers;
  readonly heapUsed: () => number;
}

export interface EvalRunOptions {
  /** Instead of those of the eval. */
  readonly iterations?: number;
  /** Instead of that of the eval. Performance is measured with one run at a time, whatever this says. */
  readonly concurrency?: number;
  /** Aborting it cancels the eval and its runs. `run()` then rejects with the reason. */
  readonly signal?: AbortSignal;
  /** Called after each execution of a case. */
  readonly onProgress?: (progress: EvalProgress) => void;
}

export interface EvalProgress {
  readonly done: number;
  readonly total: number;
  /** How many of those that are done have no score from one scorer or from all of them. */
  readonly failures: number;
  readonly latest: CaseResult;
}

/** What an eval found out. */
export interface EvalRunResult<Summary = unknown> {
  readonly evalId: string;
  readonly name: string;
  readonly kind: EvalKind;
  readonly component: { readonly kind: RunKind; readonly id: string; readonly name: string | null };
  readonly dataset: string;
  readonly passed: boolean;
  /** Why it did not pass. */
  readonly faults: readonly string[];
  readonly summary: Summary;
  readonly scorers: readonly ScorerSummary[];
  /** In the order of the cases, and of the iterations of each. */
  readonly results: readonly CaseResult[];
  /** How many executions have no score from one scorer or from all of them. */
  readonly failures: number;
}

const runOptions = objectOf<EvalRunOptions>({
  iterations: count(1, evalBounds.iterations),
  concurrency: count(1, evalBounds.concurrency),
  signal: signalKind,
  onProgress: callable,
});

/** How a command recognizes an eval among what a module exports. */
const evalBrand = Symbol.for('runyard.eval');

/** An eval in code: made with `accuracy()`, `judge()`, `performance()`, `reliability()` or `evaluate()`. */
export class Eval<Summary = unknown> {
  readonly [evalBrand] = true;
  readonly name: string;
  readonly kind: EvalKind;
  readonly component: EvalRunResult['component'];
  /** The name of its dataset: two evals of one dataset can be compared. */
  readonly dataset: string;
  readonly #definition: EvalDefinition<Summary>;
  readonly #site: EvalSite;

  constructor(definition: EvalDefinition<Summary>, site: EvalSite) {
    const { component, dataset } = definition;
    this.name = definition.name;
    this.kind = definition.kind;
    this.component = { kind: component.kind, id: component.id, name: component.name };
    this.dataset = dataset.name;
    this.#definition = definition;
    this.#site = site;
  }

  /** Executes the cases as a job of this process, and waits for its end. */
  async run(options: EvalRunOptions = {}): Promise<EvalRunResult<Summary>> {
    checkOptions('eval.run()', options, runOptions);
    const { name, kind, component, dataset } = this;
    const { signal, onProgress } = options;
    signal?.throwIfAborted();
    const plan = await this.#plan(options);
    const results = new Map<string, CaseResult>();
    let failures = 0;
    const outcome = await this.#execute(plan, signal, (latest, call) => {
      results.set(keyOf(latest.case.id, latest.iteration), latest);
      if (latest.failure !== undefined) failures += 1;
      const total = plan.cases.length * plan.iterations;
      if (onProgress !== undefined)
        call('onProgress', () => onProgress({ done: results.size, total, failures, latest }));
    });
    const faults = this.#definition.faultsOf(outcome);
    return {
      evalId: plan.evalId,
      name,
      kind,
      component,
      dataset,
      passed: faults.length === 0,
      faults,
      summary: this.#definition.summaryOf(outcome),
      scorers: outcome.scorers,
      results: outcome.outcomes.flatMap(
        (of: CaseOutcome) => results.get(keyOf(of.caseId, of.iteration)) ?? [],
      ),
      failures: outcome.failures,
    };
  }

  async #plan(given: EvalRunOptions): Promise<EvalPlan> {
    const { dataset, warmups, scorers, judge, kind, ...own } = this.#definition;
    const { iterations = own.iterations } = given;
    const { concurrency = own.concurrency } = kind === 'performance' ? own : given;
    const plan: EvalPlan = {
      evalId: newId(),
      cases: await dataset.cases(),
      iterations,
      warmups,
      concurrency,
      scorers,
      ...(judge !== undefined && { judge }),
      ...(kind === 'performance' && { heapUsed: this.#site.heapUsed }),
    };
    checkPlan(plan);
    return plan;
  }

  async #execute(
    plan: EvalPlan,
    signal: AbortSignal | undefined,
    onResult: (result: CaseResult, call: (what: string, work: () => void) => void) => void,
  ): Promise<EvalOutcome> {
    let outcome: EvalOutcome | undefined;
    let thrown: unknown;
    const subject = subjectOf(this.#definition.component);
    const job = defineJob({
      kind: 'eval',
      input: anyRecord,
      result: anyRecord,
      async execute(context) {
        try {
          outcome = await executeEval(context, subject, plan, async (result) =>
            onResult(result, context.callApplication),
          );
        } catch (error) {
          thrown = error;
          throw error;
        }
        return null;
      },
    });
    const jobs = inProcessJobs([job], this.#site.timers);
    const { jobId } = await jobs.start(job, null, { jobId: plan.evalId });
    const cancel = () => void jobs.cancel(job, jobId, 'The caller aborted the eval');
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      if (signal?.aborted) cancel();
      const { error } = await jobs.ended(job, jobId);
      signal?.throwIfAborted();
      if (outcome !== undefined) return outcome;
      throw thrown ?? errors.invalidConfig(error?.message ?? 'The eval was cancelled.');
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }
}

function keyOf(caseId: string, iteration: number): string {
  return `${iteration} ${caseId}`;
}
