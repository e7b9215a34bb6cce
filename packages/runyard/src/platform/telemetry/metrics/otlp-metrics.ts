import { keyValues, nanoseconds } from '../otlp-spans.js';
import type { LabelValues } from './instruments.js';
import type { Metric } from './registry.js';

/** Metrics in the JSON form of the OpenTelemetry protocol, under the names that Prometheus has for them. */

/** Each number says what was counted since the process began. */
const cumulative = 2;

const units: readonly (readonly [suffix: string, unit: string])[] = [
  ['_seconds', 's'],
  ['_seconds_total', 's'],
  ['_bytes', 'By'],
];

/** The times of a collection, in milliseconds. */
export interface Period {
  readonly since: number;
  readonly now: number;
}

export function otlpMetric(metric: Metric, { since, now }: Period): object {
  const { name, help, labels } = metric;
  const unit = units.find(([suffix]) => name.endsWith(suffix))?.[1] ?? '1';
  const base = { name, description: help, unit };
  const times = { startTimeUnixNano: nanoseconds(since), timeUnixNano: nanoseconds(now) };
  const attributesOf = (values: LabelValues) =>
    keyValues(Object.fromEntries(labels.map((label, at) => [label, values[at] ?? ''])));
  if (metric.type === 'histogram') {
    const dataPoints = metric.points.map(({ labels: values, counts, sum }) => ({
      attributes: attributesOf(values),
      ...times,
      count: String(counts.reduce((all, count) => all + count, 0)),
      sum,
      bucketCounts: counts.map(String),
      explicitBounds: metric.bounds,
    }));
    return { ...base, histogram: { aggregationTemporality: cumulative, dataPoints } };
  }
  const dataPoints = metric.points.map(({ labels: values, value }) => ({
    attributes: attributesOf(values),
    ...times,
    asDouble: value,
  }));
  return metric.type === 'gauge'
    ? { ...base, gauge: { dataPoints } }
    : { ...base, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } };
}
