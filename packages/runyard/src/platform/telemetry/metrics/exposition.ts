import type { LabelValues } from './instruments.js';
import type { Metric } from './registry.js';

/** The text that Prometheus reads, in its own form or in that of OpenMetrics. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** In the form that the `Accept` header of a scraper names. */
export function expositionOf(metrics: readonly Metric[], accept = ''): Exposition {
  const isOpen = accept.includes('application/openmetrics-text');
  const lines = metrics.flatMap((metric) => linesOf(metric, isOpen));
  if (isOpen) lines.push('# EOF');
  return {
    contentType: isOpen
      ? 'application/openmetrics-text; version=1.0.0; charset=utf-8'
      : 'text/plain; version=0.0.4; charset=utf-8',
    text: `${lines.join('\n')}\n`,
  };
}

function linesOf(metric: Metric, isOpen: boolean): string[] {
  const { name, help, type, labels } = metric;
  // OpenMetrics names a counter without the suffix of its samples
  const family = isOpen && type === 'counter' ? name.replace(/_total$/, '') : name;
  const lines = [`# HELP ${family} ${escapedHelp(help)}`, `# TYPE ${family} ${type}`];
  if (metric.type !== 'histogram') {
    for (const { labels: values, value } of metric.points)
      lines.push(`${name}${labelled(labels, values)} ${numberText(value)}`);
    return lines;
  }
  for (const { labels: values, counts, sum } of metric.points) {
    let below = 0;
    for (const [at, count] of counts.entries()) {
      below += count;
      const bound = metric.bounds[at];
      const le = bound === undefined ? '+Inf' : boundText(bound, isOpen);
      lines.push(`${name}_bucket${labelled([...labels, 'le'], [...values, le])} ${below}`);
    }
    lines.push(`${name}_sum${labelled(labels, values)} ${numberText(sum)}`);
    lines.push(`${name}_count${labelled(labels, values)} ${below}`);
  }
  return lines;
}

function labelled(names: readonly string[], values: LabelValues): string {
  if (names.length === 0) return '';
  const pairs = names.map((name, at) => `${name}="${escapedValue(values[at] ?? '')}"`);
  return `{${pairs.join(',')}}`;
}

function boundText(bound: number, isOpen: boolean): string {
  return isOpen && Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapedValue(text: string): string {
  return escapedHelp(text).replaceAll('"', '\\"');
}
