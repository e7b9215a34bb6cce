import { amount, objectOf } from '../../options/kinds.js';
import type { EvalOutcome, ScorerSummary } from '../eval-results.js';

/** What the runs of an eval have to reach together, by one scorer. */
export interface Threshold {
  /** The least mean score. */
  readonly mean?: number;
  /** The least share of runs that pass, 0 to 1. */
  readonly passRate?: number;
}

const share = amount('a number from 0 to 1', (value) => value >= 0 && value <= 1);

export const passRateKind = share;
export const thresholdKind = objectOf<Threshold>({ mean: amount('a number', () => true), passRate: share });

/**
 * Why an eval did not pass, a line for each reason. Executions that have no score are one; by each scorer, all runs have
 * to pass, unless it has a threshold.
 */
export function faultsOf(
  { outcomes, scorers, failures }: EvalOutcome,
  thresholds: Readonly<Record<string, Threshold>>,
): string[] {
  const failed = failures === 0 ? [] : [`${failures} of ${outcomes.length} executions failed.`];
  return [
    ...failed,
    ...scorers.flatMap((scorer) =>
      faultsOfScorer(scorer, Object.hasOwn(thresholds, scorer.name) ? thresholds[scorer.name] : undefined),
    ),
  ];
}

function faultsOfScorer(
  { name, scores, passed, failed, passRate }: ScorerSummary,
  threshold: Threshold | undefined,
): string[] {
  const faults: string[] = [];
  if (threshold === undefined) {
    if (failed > 0) faults.push(`${name}: ${failed} of ${passed + failed} runs did not pass.`);
    return faults;
  }
  const { mean: leastMean, passRate: leastRate } = threshold;
  if (leastMean !== undefined && (scores.mean === null || scores.mean < leastMean))
    faults.push(`${name}: the mean score is ${shown(scores.mean)}, below ${leastMean}.`);
  if (leastRate !== undefined && (passRate === null || passRate < leastRate))
    faults.push(`${name}: the pass rate is ${shown(passRate)}, below ${leastRate}.`);
  return faults;
}

export function shown(value: number | null): string {
  return value === null ? 'not known' : String(Math.round(value * 1_000) / 1_000);
}
