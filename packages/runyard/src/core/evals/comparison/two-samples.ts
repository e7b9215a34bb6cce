import type { MeanDifference } from '../eval-results.js';
import { logGamma, normalQuantile, studentQuantile, studentTwoSided } from './student-t.js';

/** What two lists of values say about their means. */
export interface SamplesCompared {
  readonly difference: MeanDifference;
  /** Null with fewer than two values on one side. */
  readonly pValue: number | null;
}

/** Whether values are numbers, or passes (1) and failures (0). */
export type ValueKind = 'number' | 'pass';

/** Compares the values of two evals for one case. Both lists have a value. */
export function compareSamples(
  before: readonly number[],
  after: readonly number[],
  kind: ValueKind,
  level: number,
): SamplesCompared {
  const difference = { mean: differenceOf(before, after), low: null, high: null };
  if (before.length < 2 || after.length < 2) return { difference, pValue: null };
  if (kind === 'pass') {
    const pValue = fisherExact(passes(before), before.length, passes(after), after.length);
    return { difference: { ...difference, ...newcombe(before, after, level) }, pValue };
  }
  const variances = [varianceOf(before) / before.length, varianceOf(after) / after.length] as const;
  const squared = variances[0] + variances[1];
  // values without any spread say nothing about how precise they are: what is left is in which eval they are
  if (squared === 0) return { difference, pValue: separated(difference.mean, before.length, after.length) };
  // Welch: the evals may differ in their spread
  const degrees =
    squared ** 2 / (variances[0] ** 2 / (before.length - 1) + variances[1] ** 2 / (after.length - 1));
  const error = Math.sqrt(squared);
  const margin = studentQuantile(level, degrees) * error;
  return {
    difference: { ...difference, low: difference.mean - margin, high: difference.mean + margin },
    pValue: studentTwoSided(difference.mean / error, degrees),
  };
}

/** The mean of differences of pairs, with its interval. Null with less than two. */
export function meanOfDifferences(differences: readonly number[], level: number): MeanDifference | null {
  if (differences.length < 2) return null;
  const mean = meanOf(differences);
  const variance = varianceOf(differences);
  if (variance === 0) return { mean, low: null, high: null };
  const margin = studentQuantile(level, differences.length - 1) * Math.sqrt(variance / differences.length);
  return { mean, low: mean - margin, high: mean + margin };
}

/** Means of the same values in another order may differ in their last digits: that is no difference. */
function differenceOf(before: readonly number[], after: readonly number[]): number {
  const [old, now] = [meanOf(before), meanOf(after)];
  return Math.abs(now - old) <= 1e-9 * Math.max(Math.abs(old), Math.abs(now)) ? 0 : now - old;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Of a sample. Equal values have exactly none, whatever the rounding of their mean. */
function varianceOf(values: readonly number[]): number {
  const first = values[0];
  if (values.every((value) => value === first)) return 0;
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}

/** The permutation test of two lists that each repeat one value: only two of all divisions are as far apart. */
function separated(difference: number, before: number, after: number): number {
  return difference === 0 ? 1 : Math.min(1, 2 * Math.exp(-logChoose(before + after, after)));
}

/**
 * Fisher's exact test, two-sided: the probability of a table of passes and failures that is no more likely than this
 * one, if both evals pass equally often.
 */
function fisherExact(passedBefore: number, before: number, passedAfter: number, after: number): number {
  const passed = passedBefore + passedAfter;
  const all = logChoose(before + after, passed);
  const likelihood = (inBefore: number) =>
    Math.exp(logChoose(before, inBefore) + logChoose(after, passed - inBefore) - all);
  const observed = likelihood(passedBefore) * (1 + 1e-9);
  let sum = 0;
  for (let count = Math.max(0, passed - after); count <= Math.min(before, passed); count++) {
    const one = likelihood(count);
    if (one <= observed) sum += one;
  }
  return Math.min(1, sum);
}

function logChoose(of: number, chosen: number): number {
  return logGamma(of + 1) - logGamma(chosen + 1) - logGamma(of - chosen + 1);
}

/** The interval of Wilson for the rate of passes. */
function wilson(passed: number, of: number, level: number): { low: number; high: number } {
  const z = normalQuantile(level);
  const rate = passed / of;
  const scale = 1 + z ** 2 / of;
  const centre = (rate + z ** 2 / (2 * of)) / scale;
  const margin = (z / scale) * Math.sqrt((rate * (1 - rate)) / of + z ** 2 / (4 * of ** 2));
  return { low: Math.max(0, centre - margin), high: Math.min(1, centre + margin) };
}

/** The interval of Newcombe for the difference of two rates, from the intervals of Wilson for each. */
function newcombe(before: readonly number[], after: readonly number[], level: number) {
  const [old, now] = [meanOf(before), meanOf(after)];
  const ofOld = wilson(passes(before), before.length, level);
  const ofNow = wilson(passes(after), after.length, level);
  const mean = now - old;
  return {
    low: mean - Math.hypot(now - ofNow.low, ofOld.high - old),
    high: mean + Math.hypot(ofNow.high - now, old - ofOld.low),
  };
}

function passes(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
