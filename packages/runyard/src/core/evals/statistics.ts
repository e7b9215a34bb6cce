import type { Statistics } from './eval-results.js';

/** Describes numbers: the standard deviation is that of a sample, the percentile interpolates within the sample. */
export function statisticsOf(values: readonly number[]): Statistics {
  const count = values.length;
  if (count === 0) return { count, mean: null, min: null, max: null, stdDev: null, median: null, p95: null };
  const sorted = [...values].sort((left, right) => left - right);
  const mean = sum(sorted) / count;
  return {
    count,
    mean,
    min: percentile(sorted, 0),
    max: percentile(sorted, 1),
    stdDev: count === 1 ? 0 : Math.sqrt(sum(sorted.map((value) => (value - mean) ** 2)) / (count - 1)),
    median: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Inclusive: 0 is the least value and 1 the greatest; between two values, the line between them. */
function percentile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}
