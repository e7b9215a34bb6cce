import type { EvalRunResult } from '../../core/evals/definition/eval.js';
import type { CaseResult } from '../../core/evals/eval-results.js';
import { statisticsOf } from '../../core/evals/statistics.js';
import { describeFailure } from '../failure.js';
import type { CaseEntry, EvalEntry, EvalStatus, ScorerEntry } from './eval-report.js';
import type { LoadedEval } from './load-evals.js';
import type { Progress } from './progress.js';

export interface EvalSettings {
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly iterations?: number;
  readonly concurrency?: number;
}

/** What the runs of a performance eval are compared by: it has no scorers. */
const runTime = 'run_time_ms';

/** Executes one eval. Whatever happens is an entry: with the cases that were executed before an interruption too. */
export async function entryOf({ file, name, value }: LoadedEval, settings: EvalSettings): Promise<EvalEntry> {
  const { signal, progress, iterations, concurrency } = settings;
  const begun = performance.now();
  const results: CaseResult[] = [];
  progress.began(name);
  let ended: EvalRunResult | undefined;
  let reasons: readonly string[];
  let status: EvalStatus;
  try {
    ended = await value.run({
      signal,
      ...(iterations !== undefined && { iterations }),
      ...(concurrency !== undefined && { concurrency }),
      onProgress: ({ total, latest }) => {
        results.push(latest);
        progress.executed(caseOf(value.kind, latest).passed, total);
      },
    });
    status = ended.passed ? 'passed' : 'failed';
    reasons = ended.faults;
  } catch (error) {
    status = signal.aborted ? 'cancelled' : 'error';
    reasons = signal.aborted ? ['It was interrupted.'] : [describeFailure(error)];
  }
  const cases = (ended?.results ?? results).map((result) => caseOf(value.kind, result));
  const { kind, id } = value.component;
  return {
    file,
    name,
    component: { kind, id },
    status,
    reasons,
    durationMs: Math.round(performance.now() - begun),
    cost: costOf(cases),
    scorers: scorersOf(value.kind, cases),
    cases,
  };
}

function caseOf(
  kind: EvalRunResult['kind'],
  { case: of, iteration, run, scores, failure, measured }: CaseResult,
): CaseEntry {
  const passed = failure === undefined && Object.values(scores).every((score) => score.passed !== false);
  const measuredScore =
    kind === 'performance' && passed && measured !== undefined
      ? { [runTime]: { score: measured.runTimeMs, passed: null } }
      : {};
  const given = Object.entries(scores).map(([scorer, { score, passed: verdict, reason }]) => [
    scorer,
    { score, passed: verdict, ...(reason !== undefined && { reason }) },
  ]);
  return {
    caseId: of.id,
    iteration,
    status: run?.status ?? 'not_started',
    passed,
    input: of.input,
    ...(of.expectedOutput !== undefined && { expected: of.expectedOutput }),
    ...(run !== undefined && { output: run.output }),
    scores: { ...Object.fromEntries(given), ...measuredScore },
    ...(failure !== undefined && { failure }),
    durationMs: run?.durationMs ?? null,
    cost: run?.usage.cost ?? null,
  };
}

function costOf(cases: readonly CaseEntry[]): number | null {
  // a part of the costs would pass for all of them
  return cases.reduce<number | null>(
    (sum, { cost, status }) =>
      status === 'not_started' ? sum : sum === null || cost === null ? null : sum + cost,
    0,
  );
}

function scorersOf(kind: EvalRunResult['kind'], cases: readonly CaseEntry[]): ScorerEntry[] {
  const names = new Set(cases.flatMap(({ scores }) => Object.keys(scores)));
  return Array.from(names, (name) => {
    const given = cases.flatMap(({ scores }) => (Object.hasOwn(scores, name) ? (scores[name] ?? []) : []));
    const { mean, stdDev } = statisticsOf(given.flatMap(({ score }) => score ?? []));
    return {
      name,
      lowerIsBetter: kind === 'performance' && name === runTime,
      mean,
      stdDev,
      passed: given.filter(({ passed }) => passed === true).length,
      failed: given.filter(({ passed }) => passed === false).length,
    };
  });
}
