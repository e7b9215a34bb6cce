import type { RunKind } from '../../core/runs/run.js';
import {
  type Dialect,
  type RunStatement,
  type Statement,
  statement,
} from '../../platform/storage/database.js';
import type { EvalMetrics } from './daily-metrics.js';

interface EvalKey {
  readonly eval: string;
  readonly kind: RunKind;
  readonly component_id: string;
}

interface OutcomeCount extends EvalKey {
  readonly outcome: 'graded' | 'incomplete' | 'pending' | 'failed' | 'skipped';
  readonly count: number;
}

interface ScoreSum extends EvalKey {
  readonly scorer: string;
  readonly count: number;
  readonly mean_score: number | null;
  readonly verdicts: number;
  readonly passed: number | null;
}

const countOutcomes = statement(
  'eval_outcomes_of_day',
  `SELECT eval, kind, component_id, outcome, count(*) AS count FROM run_evals
   WHERE day = ? GROUP BY eval, kind, component_id, outcome ORDER BY eval, kind, component_id`,
);

const sumScores = statement(
  'eval_scores_of_day',
  `SELECT run_evals.eval, kind, component_id, scorer, count(*) AS count, avg(score) AS mean_score,
     count(passed) AS verdicts, CAST(sum(passed) AS bigint) AS passed
   FROM run_evals JOIN run_scores ON run_scores.run_id = run_evals.run_id AND run_scores.eval = run_evals.eval
   WHERE day = ? GROUP BY run_evals.eval, kind, component_id, scorer ORDER BY scorer`,
);

const changedEvalsOf = (day: string) => `
  SELECT day, count(*) AS changes, CAST(sum(updated_at - ?) AS bigint) AS moved FROM run_evals
  WHERE updated_at > ? GROUP BY ${day} ORDER BY ${day}`;

/** The days of runs that were graded after a time. */
export const changedEvals: Statement = {
  ...statement('changed_evals', changedEvalsOf('day')),
  // it would go through the evals of all days in their order otherwise
  sqlite: changedEvalsOf('+day'),
};

/** What live evals found out about the runs of a day. */
export async function evalMetricsOf(
  run: RunStatement,
  dialect: Dialect,
  day: number,
): Promise<EvalMetrics[]> {
  const outcomes = await run<OutcomeCount>(countOutcomes[dialect], [day]);
  if (outcomes.length === 0) return [];
  const scores = await run<ScoreSum>(sumScores[dialect], [day]);
  const evals = new Map<string, EvalMetrics>();
  for (const { outcome, count, ...key } of outcomes) {
    const before = evals.get(keyOf(key)) ?? nothingOf(key, scores);
    evals.set(keyOf(key), { ...before, [outcome]: count });
  }
  return [...evals.values()];
}

function nothingOf(key: EvalKey, scores: readonly ScoreSum[]): EvalMetrics {
  return {
    eval: key.eval,
    type: key.kind,
    component_id: key.component_id,
    graded: 0,
    incomplete: 0,
    pending: 0,
    failed: 0,
    skipped: 0,
    scorers: scores
      .filter((sum) => keyOf(sum) === keyOf(key))
      .map(({ scorer, count, mean_score, verdicts, passed }) => ({
        scorer,
        count,
        mean_score,
        pass_rate: verdicts === 0 ? null : (100 * (passed ?? 0)) / verdicts,
      })),
  };
}

function keyOf({ eval: name, kind, component_id: id }: EvalKey): string {
  return JSON.stringify([name, kind, id]);
}
