import { mapConcurrently } from '../async/concurrency.js';
import { idFrom } from '../ids.js';
import { withPaceOfJob } from '../models/pace/paced-model.js';
import { RunReleased } from '../runs/executable.js';
import type { JobContext } from '../runs/jobs/job.js';
import { outputRecord } from '../runs/journal/codec.js';
import { flag, nullable, number, object, optional, record, text, word } from '../runs/journal/shapes.js';
import { failureOf } from '../runs/run-failure.js';
import type { EvalCase } from './eval-case.js';
import { checkPlan, type EvalPlan } from './eval-plan.js';
import type { CaseOutcome, CaseResult, EvalOutcome, RunMeasures } from './eval-results.js';
import { outcomeOf } from './eval-summary.js';
import type { EvalSubject, EvaluatedRun } from './evaluated-run.js';
import { scoreRun } from './score-run.js';

const score = object({ score: nullable(number), passed: nullable(flag) });

const caseOutcome = outputRecord(
  'outcome of a case',
  1,
  object({
    caseId: text,
    iteration: number,
    runId: text,
    status: word('completed', 'paused', 'error', 'cancelled', 'not_started'),
    scores: record(score),
    failure: optional(text),
    measured: optional(object({ runTimeMs: number, heapBytes: nullable(number) })),
  }),
);

const warmupRecord = outputRecord('warm-up', 1, object({ completed: flag }));

/** One execution of a case. */
interface Execution {
  readonly case: EvalCase;
  readonly iteration: number;
  /** Identifies it among the executions of the eval: the same whenever the eval is executed again. */
  readonly number: number;
}

/**
 * Executes the cases of an eval and scores their runs. Each execution of a case is one step of the job, and the id of
 * its run follows from the eval, the case and the iteration: after a crash, at most the cases in progress are repeated,
 * and no run is started twice. `onResult` is called before the step ends, so it may be repeated once for a case.
 */
export async function executeEval(
  context: JobContext,
  subject: EvalSubject,
  plan: EvalPlan,
  onResult: (result: CaseResult) => Promise<void>,
): Promise<EvalOutcome> {
  checkPlan(plan);
  const evaluation = new Evaluation(context, subject, plan, onResult);
  if (plan.warmups > 0) await evaluation.warmUp();
  return evaluation.run();
}

class Evaluation {
  private done = 0;
  private failures = 0;

  constructor(
    private readonly context: JobContext,
    private readonly subject: EvalSubject,
    private readonly plan: EvalPlan,
    private readonly onResult: (result: CaseResult) => Promise<void>,
  ) {}

  /** A warm-up that fails is logged: the case itself says whether the component works. */
  async warmUp(): Promise<void> {
    const { plan, context } = this;
    await mapConcurrently(plan.concurrency, this.executions(plan.warmups), (execution) =>
      context.step(
        `warmup:${execution.number}`,
        { name: 'warm-up', record: warmupRecord },
        async ({ signal }) => {
          const { run, failure } = await this.runOf(execution, 'warmup_', signal);
          if (run?.status === 'completed') return { completed: true };
          context.log.warn(
            { eval: plan.evalId, case: execution.case.id, failure },
            'a warm-up of an eval failed',
          );
          return { completed: false };
        },
      ),
    );
  }

  async run(): Promise<EvalOutcome> {
    const { plan, context } = this;
    this.report();
    const outcomes = await mapConcurrently(
      plan.concurrency,
      this.executions(plan.iterations),
      async (execution) => {
        const outcome = await context.step(
          `case:${execution.number}`,
          { name: 'case', record: caseOutcome },
          ({ signal }) => this.execute(execution, signal),
        );
        this.done += 1;
        if (outcome.failure !== undefined) this.failures += 1;
        this.report();
        return outcome;
      },
    );
    return outcomeOf(
      plan.scorers.map(({ name }) => name),
      outcomes,
    );
  }

  private async execute(execution: Execution, signal: AbortSignal): Promise<CaseOutcome> {
    const { case: of, iteration } = execution;
    const { runId, run, measured, failure } = await this.runOf(execution, '', signal);
    const scored = run === undefined ? { scores: {} } : await this.scored(of, run, signal);
    const failed = failure === undefined ? scored : { ...scored, failure };
    const result = {
      case: of,
      iteration,
      ...failed,
      ...(run !== undefined && { run }),
      ...(measured !== undefined && { measured }),
    };
    await this.onResult(result);
    return {
      caseId: of.id,
      iteration,
      runId,
      status: run?.status ?? 'not_started',
      ...failed,
      scores: Object.fromEntries(
        Object.entries(failed.scores).map(([name, { score, passed }]) => [name, { score, passed }]),
      ),
      ...(measured !== undefined && { measured }),
    };
  }

  private scored(of: EvalCase, run: EvaluatedRun, signal: AbortSignal) {
    const { timers, callApplication } = this.context;
    const { scorers, judge } = this.plan;
    const paced = judge && withPaceOfJob(this.context, 'eval', judge);
    return scoreRun(scorers, { case: of, run }, { signal, judge: paced, timers, callApplication });
  }

  /** Runs the component. What keeps the run from starting is a failure of the case, unless the eval itself ends. */
  private async runOf(
    { case: of, iteration, number }: Execution,
    mark: string,
    signal: AbortSignal,
  ): Promise<{ runId: string; run?: EvaluatedRun; measured?: RunMeasures; failure?: string }> {
    const { plan, subject, context } = this;
    const { evalId, heapUsed } = plan;
    const { input, sessionState, dependencies } = of;
    const runId = idFrom(`${evalId} ${mark}${of.id} ${iteration}`);
    const begun = context.timers.elapsed();
    const heap = heapUsed?.();
    try {
      const run = await subject.run({
        caseId: of.id,
        runId,
        sessionId: `eval_${evalId}_${mark}${number}`,
        input,
        ...(sessionState !== undefined && { sessionState }),
        ...(dependencies !== undefined && { dependencies }),
        signal,
      });
      const grown = heap === undefined || heapUsed === undefined ? null : Math.max(heapUsed() - heap, 0);
      // of a run that had begun before a crash, only the run knows how long it took
      const runTimeMs = Math.max(context.timers.elapsed() - begun, context.attempt > 1 ? run.durationMs : 0);
      return { runId, run, measured: { runTimeMs, heapBytes: grown } };
    } catch (error) {
      signal.throwIfAborted();
      // the process stops: another one, or the next start, continues this eval
      if (error instanceof RunReleased) throw error;
      context.log.warn({ err: error, eval: evalId, case: of.id }, 'the run of a case could not be executed');
      return { runId, failure: failureOf(error).message };
    }
  }

  private *executions(each: number): Generator<Execution> {
    let number = 0;
    for (const of of this.plan.cases)
      for (let iteration = 1; iteration <= each; iteration += 1) {
        number += 1;
        yield { case: of, iteration, number };
      }
  }

  private report(): void {
    const { done, failures, plan } = this;
    this.context.progress({
      done,
      total: plan.cases.length * plan.iterations,
      message: 'Cases executed',
      data: { failures },
    });
  }
}
