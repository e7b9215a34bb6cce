import { type ComparedOutcome, compareEvals } from '../../../core/evals/comparison/compare-evals.js';
import type { EvalComparison } from '../../../core/evals/eval-results.js';
import type { EvalOutcomeRow, EvalResultStore } from '../results-store.js';
import type { StoredEval } from '../stored-eval.js';

/** Two stored evals, case by case. */
export interface ComparedEvals {
  readonly before: StoredEval;
  readonly after: StoredEval;
  readonly comparison: EvalComparison;
  /** Why the difference may have another reason than the component, in words. */
  readonly warnings: readonly string[];
}

/** What a performance eval is compared by. */
const runTime = 'run_time';

/** Compares two evals that the caller was shown before. */
export async function compareStored(
  results: EvalResultStore,
  before: StoredEval,
  after: StoredEval,
  level: number,
): Promise<ComparedEvals> {
  const [old, now] = [await outcomesOf(results, before), await outcomesOf(results, after)];
  // a scorer of an application may have the same name: more of its score is better
  const isTime = [before, after].some(({ evalType }) => evalType === 'performance');
  const comparison = compareEvals(old, now, { level, lowerIsBetter: isTime ? [runTime] : [] });
  return { before, after, comparison, warnings: warningsAbout(before, after, comparison) };
}

async function outcomesOf(
  results: EvalResultStore,
  { id, evalType }: StoredEval,
): Promise<ComparedOutcome[]> {
  const outcomes: ComparedOutcome[] = [];
  for await (const row of results.outcomes(id))
    outcomes.push(evalType === 'performance' ? { ...row, scores: timesOf(row) } : row);
  return outcomes;
}

/** In seconds, as the eval reports them. */
function timesOf({ status, runTimeMs }: EvalOutcomeRow): ComparedOutcome['scores'] {
  if (status !== 'completed' || runTimeMs === null) return {};
  return { [runTime]: { score: runTimeMs / 1000, passed: null } };
}

function warningsAbout(before: StoredEval, after: StoredEval, { scorers }: EvalComparison): string[] {
  const revisions = [before, after].map(({ evalInput }) => evalInput.dataset_revision ?? null);
  const unfinished = [before, after].filter(({ status }) => status !== 'completed');
  const other = scorers.filter(
    ({ changes: { added, removed }, before: old, after: now }) =>
      (old.count === 0 && added > 0) || (now.count === 0 && removed > 0),
  );
  return [
    ...(before.datasetId === after.datasetId ? [] : ['The evals have different datasets.']),
    ...(before.datasetId === after.datasetId && revisions[0] !== revisions[1]
      ? ['The cases of the dataset changed between the evals.']
      : []),
    ...(before.evalType === after.evalType ? [] : ['The evals are of different kinds.']),
    ...unfinished.map(({ id, status }) => `Eval ${id} has the status ${status}: not all cases have results.`),
    ...other.map(({ name }) => `Only one of the evals has the scorer '${name}'.`),
  ];
}
