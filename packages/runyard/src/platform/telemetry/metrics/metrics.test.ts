import { expect, test } from 'vitest';
import { readExposition } from '../../../../test/support/clients/exposition.js';
import { expositionOf } from './exposition.js';
import { mostSeries } from './instruments.js';
import { otlpMetric } from './otlp-metrics.js';
import { MetricRegistry } from './registry.js';

async function shown(registry: MetricRegistry, accept?: string) {
  return expositionOf(await registry.collect(), accept);
}

test('labels and help texts are escaped', async () => {
  const registry = new MetricRegistry();
  const counter = registry.counter({ name: 'calls_total', help: 'A\\b\nc', labels: ['tool'] });
  const odd = 'a "b" \\n\n} c,d="e"';
  counter.add(2, odd);
  const { text, contentType } = await shown(registry);
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(text).toContain('# HELP calls_total A\\\\b\\nc\n');
  expect(readExposition(text).samples).toEqual([{ name: 'calls_total', labels: { tool: odd }, value: 2 }]);
});

test('the buckets of a histogram are cumulative, and a bound belongs to its bucket', async () => {
  const registry = new MetricRegistry();
  const histogram = registry.histogram({ name: 'lag_seconds', help: 'Lag' }, [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe(value);
  const read = readExposition((await shown(registry)).text);
  const buckets = read.samples.filter(({ name }) => name === 'lag_seconds_bucket');
  expect(buckets.map(({ labels, value }) => [labels.le, value])).toEqual([
    ['0.1', 2],
    ['1', 3],
    ['+Inf', 4],
  ]);
  expect([read.value('lag_seconds_count'), read.value('lag_seconds_sum')]).toEqual([4, 7.65]);
});

test('a scraper that reads OpenMetrics gets it', async () => {
  const registry = new MetricRegistry();
  registry.counter({ name: 'runs_total', help: 'Runs' }).add(1);
  const { text, contentType } = await shown(
    registry,
    'application/openmetrics-text;version=1.0.0,text/plain',
  );
  expect(contentType).toContain('application/openmetrics-text');
  expect(text).toBe('# HELP runs Runs\n# TYPE runs counter\nruns_total 1\n# EOF\n');
});

test('values from outside cannot make more series than there is room for', async () => {
  const registry = new MetricRegistry();
  const counter = registry.counter({
    name: 'calls_total',
    help: 'Calls',
    labels: ['tool', 'outcome'],
    open: ['tool'],
  });
  for (let number = 0; number < 5 * mostSeries; number += 1) {
    counter.add(1, `tool ${number}`, 'ok');
    counter.add(1, `tool ${number}`, 'error');
  }
  counter.add(1, 'tool 0', 'ok');
  const read = readExposition((await shown(registry)).text);
  expect(read.samples.length).toBe(mostSeries + 2);
  expect(read.value('calls_total', { tool: 'tool 0', outcome: 'ok' })).toBe(2);
  expect(read.value('calls_total', { tool: 'other', outcome: 'error' })).toBe(
    5 * mostSeries - mostSeries / 2,
  );
  expect(read.samples.reduce((sum, { value }) => sum + value, 0)).toBe(10 * mostSeries + 1);
});

test('a value that is too long is cut, and half a character is replaced', async () => {
  const registry = new MetricRegistry();
  const counter = registry.counter({ name: 'calls_total', help: 'Calls', labels: ['tool'], open: ['tool'] });
  counter.add(1, 'x'.repeat(10_000));
  counter.add(1, `${'x'.repeat(10_000)}y`);
  counter.add(1, 'a\uD83D');
  const read = readExposition((await shown(registry)).text);
  expect(read.samples.map(({ labels, value }) => [labels.tool, value])).toEqual([
    [`${'x'.repeat(99)}…`, 2],
    ['a\uFFFD', 1],
  ]);
});

test('what cannot be read is left out, and the rest is shown', async () => {
  const registry = new MetricRegistry();
  registry.gauge({ name: 'broken', help: 'Broken' }, () => Promise.reject(new Error('away')));
  registry.gauge({ name: 'thrown', help: 'Thrown' }, () => {
    throw new Error('away');
  });
  registry.gauge({ name: 'unknown', help: 'Unknown' }, () => undefined);
  registry.gauge({ name: 'known', help: 'Known' }, async () => 3);
  expect(readExposition((await shown(registry)).text).samples).toEqual([
    { name: 'known', labels: {}, value: 3 },
  ]);
});

test('two instruments cannot have one name', () => {
  const registry = new MetricRegistry();
  registry.counter({ name: 'runs_total', help: 'Runs' });
  expect(() => registry.counter({ name: 'runs_total', help: 'Runs' })).toThrow('two metrics');
});

test('OpenTelemetry gets the same numbers', async () => {
  const registry = new MetricRegistry();
  registry.counter({ name: 'runs_total', help: 'Runs', labels: ['kind'] }).add(2, 'agent');
  registry.histogram({ name: 'lag_seconds', help: 'Lag' }, [0.5]).observe(0.25);
  registry.gauge({ name: 'heap_bytes', help: 'Heap' }, () => 7);
  const period = { since: 1_700_000_000_000, now: 1_700_000_001_000 };
  const times = { startTimeUnixNano: '1700000000000000000', timeUnixNano: '1700000001000000000' };
  expect((await registry.collect()).map((metric) => otlpMetric(metric, period))).toEqual([
    {
      name: 'runs_total',
      description: 'Runs',
      unit: '1',
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: [
          { attributes: [{ key: 'kind', value: { stringValue: 'agent' } }], ...times, asDouble: 2 },
        ],
      },
    },
    {
      name: 'lag_seconds',
      description: 'Lag',
      unit: 's',
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [
          {
            attributes: [],
            ...times,
            count: '1',
            sum: 0.25,
            bucketCounts: ['1', '0'],
            explicitBounds: [0.5],
          },
        ],
      },
    },
    {
      name: 'heap_bytes',
      description: 'Heap',
      unit: 'By',
      gauge: { dataPoints: [{ attributes: [], ...times, asDouble: 7 }] },
    },
  ]);
});
