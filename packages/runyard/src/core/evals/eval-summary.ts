import type { CaseOutcome, EvalOutcome, ScorerSummary } from './eval-results.js';
import { statisticsOf } from './statistics.js';

/** Sums up what scorers said. Executions without a score count as failures, not in the statistics. */
export function outcomeOf(scorers: readonly string[], outcomes: readonly CaseOutcome[]): EvalOutcome {
  return {
    outcomes,
    scorers: scorers.map((name) => scorerSummary(name, outcomes)),
    failures: outcomes.filter(({ failure }) => failure !== undefined).length,
  };
}

export function scorerSummary(name: string, outcomes: readonly Pick<CaseOutcome, 'scores'>[]): ScorerSummary {
  const scored = outcomes.flatMap(({ scores }) => (Object.hasOwn(scores, name) ? (scores[name] ?? []) : []));
  const passed = scored.filter((score) => score.passed === true).length;
  const failed = scored.filter((score) => score.passed === false).length;
  return {
    name,
    scores: statisticsOf(scored.flatMap(({ score }) => score ?? [])),
    passed,
    failed,
    passRate: passed + failed === 0 ? null : passed / (passed + failed),
  };
}
