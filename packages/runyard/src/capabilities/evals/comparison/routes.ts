import type {
  CaseComparison,
  MeanDifference,
  ScorerComparison,
  Statistics,
} from '../../../core/evals/eval-results.js';
import type { Caller } from '../../../platform/auth/caller.js';
import type { DatabaseQuery } from '../../../platform/http/request/database-query.js';
import { offsetOf, pageOf } from '../../../platform/http/request/pagination.js';
import { defineRoute } from '../../../platform/http/route.js';
import { evalParams } from '../schema.js';
import type { ComparedEvals } from './compare-stored.js';
import { comparisonBody, comparisonQuery } from './schema.js';

/** What the route needs of the service of evals. */
export interface ComparisonServices {
  readonly evals: {
    compare(
      caller: Caller,
      query: DatabaseQuery,
      evalId: string,
      withId: string,
      level: number,
    ): Promise<ComparedEvals>;
  };
}

export const compareEvalRuns = defineRoute({
  method: 'GET',
  path: '/eval-runs/:eval_run_id/comparison',
  operationId: 'compare_eval_runs',
  scope: 'evals:read',
  tag: 'Evals',
  summary: 'Compare two evals',
  description:
    'Compares an eval with another one case by case: what got better and worse by each scorer, and whether the ' +
    'difference is more than chance. Cases are matched by their ids.',
  addition: true,
  params: evalParams,
  query: comparisonQuery,
  responses: { 200: comparisonBody },
  handler: async ({ evals }: ComparisonServices, { params, query, caller }) => {
    const compared = await evals.compare(caller, query, params.eval_run_id, query.with, query.level);
    const { comparison, before, after, warnings } = compared;
    const chosen = comparison.cases.filter(
      ({ change }) => query.change === undefined || change === query.change,
    );
    const offset = offsetOf(query);
    return {
      eval_run_id: after.id,
      with: before.id,
      level: comparison.level,
      warnings,
      failed_runs: comparison.failedRuns,
      scorers: comparison.scorers.map(scorerBody),
      ...pageOf(chosen.slice(offset, offset + query.limit).map(caseBody), query, chosen.length),
    };
  },
});

function scorerBody(scorer: ScorerComparison) {
  const { name, lowerIsBetter, changes } = scorer;
  return { name, lower_is_better: lowerIsBetter, changes, ...testedBody(scorer) };
}

function caseBody(one: CaseComparison) {
  return { case_id: one.caseId, scorer: one.scorer, change: one.change, ...testedBody(one) };
}

interface Tested {
  readonly before: Statistics;
  readonly after: Statistics;
  readonly difference: MeanDifference | null;
  readonly pValue: number | null;
  readonly significant: boolean;
}

function testedBody({ before, after, difference, pValue, significant }: Tested) {
  return {
    before: statisticsBody(before),
    after: statisticsBody(after),
    difference,
    p_value: pValue,
    significant,
  };
}

function statisticsBody({ stdDev, ...others }: Statistics) {
  return { ...others, std_dev: stdDev };
}
