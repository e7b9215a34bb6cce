import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { aRun, aStep } from '../../../test/conformance/builders.js';
import { Collector } from '../../../test/support/clients/collector.js';
import { type LogLine, recordingLog } from '../../../test/support/clients/http-server.js';
import { until } from '../../../test/support/until.js';
import type { Run } from '../../core/runs/run.js';
import { type Span, spanIdOf, traceIdOf } from '../../core/traces/span.js';
import { TraceExport, type TraceExportOptions } from './trace-export.js';

function exportTo({ url }: { url: string }, given: Partial<TraceExportOptions> = {}) {
  const logged: LogLine[] = [];
  const traces = new TraceExport({
    endpoint: url,
    headers: {},
    serviceName: 'tests',
    spans: ({ run }) => [spanOf(run, '')],
    log: recordingLog(logged),
    ...given,
  });
  return { traces, logged };
}

function ended(given: Partial<Run> = {}) {
  const run = aRun({ status: 'completed', ...given });
  return { run, steps: [aStep(run, 0)], history: [] };
}

function spanOf(run: Run, stepKey: string, attributes: Span['attributes'] = {}): Span {
  return {
    spanId: spanIdOf(run.runId, stepKey),
    traceId: traceIdOf(run),
    parentSpanId: stepKey === '' ? null : spanIdOf(run.runId, ''),
    remoteParentId: null,
    name: stepKey || 'root',
    kind: 'AGENT',
    status: 'OK',
    statusMessage: null,
    startTime: run.createdAt,
    endTime: run.createdAt + 1,
    runId: run.runId,
    stepKey,
    attributes,
  };
}

test('when the queue is full the oldest is dropped, which is logged once', async () => {
  const collector = await Collector.listen();
  const { traces, logged } = exportTo(collector);
  const runs = Array.from({ length: 2_100 }, () => ended());
  for (const run of runs) traces.rested(run);
  await traces.close(10_000);
  const sent = collector.spans.map(({ traceId }) => traceId);
  // those that were on their way when the others came are not the oldest that wait
  expect(sent.length).toBeGreaterThanOrEqual(2_000);
  expect(sent).not.toContain(traceIdOf(runs[50]!.run));
  expect(sent.slice(-2_000)).toEqual(runs.slice(-2_000).map(({ run }) => traceIdOf(run)));
  expect(logged.map(({ level }) => level)).toEqual(['warn', 'info']);
  expect(logged[1]!.fields).toMatchObject({ droppedRuns: runs.length - sent.length });
});

test('spans of many runs are sent in the context of none of them', async () => {
  const collector = await Collector.listen();
  const contexts = new AsyncLocalStorage<string>();
  const foldedIn: (string | undefined)[] = [];
  const { traces } = exportTo(collector, {
    spans: ({ run }) => {
      foldedIn.push(contexts.getStore());
      return [spanOf(run, '')];
    },
  });
  contexts.run('a run', () => traces.rested(ended()));
  await until('the span is sent', () => collector.spans.length === 1);
  expect(foldedIn).toEqual([undefined]);
  await traces.close(10_000);
});

test('a long journal is sent in several requests, none of which is too large', async () => {
  const collector = await Collector.listen();
  const text = 'x'.repeat(30_000);
  const { traces } = exportTo(collector, {
    spans: ({ run }) =>
      Array.from({ length: 600 }, (_, index) => spanOf(run, index === 0 ? '' : `s${index}`, { text })),
  });
  traces.rested(ended());
  await traces.close(10_000);
  expect(collector.faults).toEqual([]);
  expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(600);
  for (const { spans } of collector.requests) expect(JSON.stringify(spans).length).toBeLessThan(2_100_000);
});

test('other work continues while the spans of a long journal are made', async () => {
  const collector = await Collector.listen();
  let turn = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  })();
  const madeIn: number[] = [];
  const { traces } = exportTo(collector, {
    spans: ({ run }) =>
      Array.from({ length: 40 }, (_, index) => ({
        ...spanOf(run, index === 0 ? '' : `s${index}`),
        // as long as a conversation of many turns
        get attributes() {
          madeIn.push(turn);
          return Object.fromEntries(Array.from({ length: 50 }, (_, part) => [`m${part}`, 'x'.repeat(2_000)]));
        },
      })),
  });
  traces.rested(ended());
  await traces.close(10_000);
  isOver = true;
  await others;
  expect(collector.spans).toHaveLength(40);
  expect(madeIn).toHaveLength(40);
  for (const one of madeIn) expect(madeIn.filter((other) => other === one).length).toBeLessThan(5);
});

test('a run whose trace cannot be made does not block the others', async () => {
  const collector = await Collector.listen();
  const { traces, logged } = exportTo(collector, {
    spans: ({ run }) => {
      if (run.runId === 'odd') throw new Error('Not a journal');
      return [spanOf(run, '')];
    },
  });
  traces.rested(ended({ runId: 'odd' }));
  const good = ended();
  traces.rested(good);
  await traces.close(10_000);
  expect(collector.spans.map(({ traceId }) => traceId)).toEqual([traceIdOf(good.run)]);
  expect(logged).toMatchObject([{ level: 'error', fields: { runId: 'odd' } }]);
});

test('spans that a collector rejects are reported', async () => {
  const collector = await Collector.listen();
  collector.answers.push({ status: 200, body: '{"partialSuccess":{"rejectedSpans":"1"}}' });
  const { traces, logged } = exportTo(collector);
  traces.rested(ended());
  await traces.close(10_000);
  expect(logged).toMatchObject([{ level: 'warn', fields: { spans: 1 } }]);
});

test('a redirection is not followed: the headers are for the collector alone', async () => {
  const [collector, other] = [await Collector.listen(), await Collector.listen()];
  collector.answers.push({ status: 307, headers: { location: `${other.url}/v1/traces` } });
  const { traces, logged } = exportTo(collector, { headers: { 'x-key': 'secret' } });
  traces.rested(ended());
  await until('it is given up', () => logged.length > 0);
  await traces.close(10_000);
  expect(other.requests).toEqual([]);
});

test('nothing is taken after the end', async () => {
  const collector = await Collector.listen();
  const { traces } = exportTo(collector);
  await traces.close(0);
  traces.rested(ended());
  await traces.close(10_000);
  expect(collector.requests).toEqual([]);
});
