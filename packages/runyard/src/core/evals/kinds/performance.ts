import type { CaseOutcome, Statistics } from '../eval-results.js';
import { statisticsOf } from '../statistics.js';

/** How long the runs took, and how much the heap of the process grew with each. Runs that did not complete are left out. */
export interface PerformanceSummary {
  readonly runTimesMs: readonly number[];
  readonly heapBytes: readonly number[];
  readonly runTime: Statistics;
  readonly memory: Statistics;
}

export function performanceSummary(
  outcomes: readonly Pick<CaseOutcome, 'status' | 'measured'>[],
): PerformanceSummary {
  const measured = outcomes.flatMap(({ status, measured: of }) => (status === 'completed' ? (of ?? []) : []));
  const runTimesMs = measured.map(({ runTimeMs }) => runTimeMs);
  const heapBytes = measured.flatMap((of) => of.heapBytes ?? []);
  return { runTimesMs, heapBytes, runTime: statisticsOf(runTimesMs), memory: statisticsOf(heapBytes) };
}
