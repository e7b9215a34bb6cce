import { RunyardError } from '../../core/errors/errors.js';
import { reasonOf } from '../../core/errors/reason.js';
import type { EvalPlan } from '../../core/evals/eval-plan.js';
import type { CaseResult } from '../../core/evals/eval-results.js';
import type { EvalSubject } from '../../core/evals/evaluated-run.js';
import { RunCancelled, RunReleased } from '../../core/runs/executable.js';
import { defineJob, type Job, type JobContext } from '../../core/runs/jobs/job.js';
import { inputRecord, outputRecord } from '../../core/runs/journal/codec.js';
import { number, object, type Shaped, text } from '../../core/runs/journal/shapes.js';
import { EvalData } from './eval-data.js';
import type { EvalResultStore } from './results-store.js';
import type { EvalStore } from './store.js';
import type { Evaluation, StoredPlan, StoredResult } from './stored-eval.js';

const inputShape = object({ evalId: text });
const resultShape = object({ executions: number, failures: number });

/** Which eval: all else is in its row. */
export type EvalJobInput = Shaped<typeof inputShape>;
export type EvalJobResult = Shaped<typeof resultShape>;

/** How much of an output is stored with a result; the run has all of it. */
const longestOutput = 100_000;

export interface EvalJobParts {
  /** How many evals a process executes at once. */
  readonly slots: number;
  readonly store: EvalStore;
  readonly results: EvalResultStore;
  /** What the plan of an eval means in this process. Throws when a part of it is not registered here. */
  prepare(evalId: string, plan: StoredPlan): Promise<{ subject: EvalSubject; plan: EvalPlan }>;
}

/** Executes the cases of an eval, and stores what came out. */
export function evalJob(parts: EvalJobParts): Job<EvalJobInput, EvalJobResult> {
  const { store } = parts;
  return defineJob({
    kind: 'eval',
    // an eval waits for its runs: other jobs do not wait for it
    ownSlots: parts.slots,
    input: inputRecord<EvalJobInput>('eval', 1, inputShape),
    result: outputRecord<EvalJobResult>('evaluated', 1, resultShape),
    async execute(context, { evalId }) {
      const found = await store.withPlan(evalId);
      // deleted, or ended by a process that died before it could say so
      if (found === undefined || (found.stored.status !== 'pending' && found.stored.status !== 'running'))
        return { executions: 0, failures: 0 };
      const { evaluation } = found.plan;
      try {
        await store.begin(evalId, Date.now());
        const outcome = await executed(context, evalId, found.plan, parts);
        await settle(parts, evalId, evaluation, { status: 'completed' });
        return { executions: outcome.outcomes.length, failures: outcome.failures };
      } catch (error) {
        const { signal } = context;
        // another process, or the next start, continues it
        if (error instanceof RunReleased || (signal.aborted && signal.reason instanceof RunReleased))
          throw error;
        const isCancelled = signal.aborted && signal.reason instanceof RunCancelled;
        await settle(parts, evalId, evaluation, {
          ...(isCancelled ? { status: 'cancelled' } : { status: 'error', error: failureText(error) }),
        });
        throw error;
      }
    },
  });
}

/** Says how an eval ended, with what there is of its results. One that has ended stays as it is. */
export async function settle(
  { store, results }: Pick<EvalJobParts, 'store' | 'results'>,
  evalId: string,
  evaluation: Evaluation,
  end: { readonly status: 'completed' | 'error' | 'cancelled'; readonly error?: string },
): Promise<void> {
  const data = new EvalData(evalId, evaluation);
  for await (const result of results.read(evalId)) data.add(result);
  await store.settle(evalId, { ...end, evalData: data.value }, Date.now());
}

async function executed(context: JobContext, evalId: string, stored: StoredPlan, parts: EvalJobParts) {
  const { executeEval } = await import('../../core/evals/execute-eval.js');
  const { subject, plan } = await parts.prepare(evalId, stored);
  const places = new Map(plan.cases.map(({ id }, place) => [id, place]));
  return executeEval(context, subject, plan, async (result) => {
    const position = (places.get(result.case.id) ?? 0) * plan.iterations + result.iteration - 1;
    const isStored = await parts.results.add(evalId, storedResult(result, position, stored.evaluation));
    if (!isStored) throw new Error('The eval was deleted.');
  });
}

function storedResult(
  { case: of, iteration, run, scores, failure, measured }: CaseResult,
  position: number,
  { expectedOutput }: Evaluation,
): StoredResult {
  return {
    position,
    caseId: of.id,
    iteration,
    input: of.input,
    expectedOutput: of.expectedOutput ?? expectedOutput ?? null,
    output: run === undefined ? null : shortened(run.output),
    status: run?.status ?? 'failed',
    scores,
    error: failure ?? null,
    runId: run?.runId ?? null,
    sessionId: run?.sessionId ?? null,
    durationMs: run === undefined ? null : Math.round(run.durationMs),
    runTimeMs: measured?.runTimeMs ?? null,
    memoryBytes: measured?.heapBytes ?? null,
    usage: run?.usage ?? null,
    createdAt: Date.now(),
  };
}

function shortened(output: string): string {
  return output.length <= longestOutput ? output : `${output.slice(0, longestOutput)}…`;
}

function failureText(error: unknown): string {
  return error instanceof RunyardError ? error.message : reasonOf(error);
}
