import { type ComparedOutcome, type CompareOptions, compareEvals } from '../comparison/compare-evals.js';
import type { EvalComparison } from '../eval-results.js';
import type { EvalRunResult } from './eval.js';

/** Says case by case what got better and worse between two evals of the same cases, and what is more than chance. */
export function compareResults(
  before: Pick<EvalRunResult, 'results'>,
  after: Pick<EvalRunResult, 'results'>,
  options: CompareOptions = {},
): EvalComparison {
  return compareEvals(outcomesOf(before), outcomesOf(after), options);
}

function outcomesOf({ results }: Pick<EvalRunResult, 'results'>): ComparedOutcome[] {
  return results.map(({ case: of, run, scores }) => ({
    caseId: of.id,
    status: run?.status ?? 'not_started',
    scores,
  }));
}
