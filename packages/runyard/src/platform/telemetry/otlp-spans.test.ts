import { expect, test } from 'vitest';
import { aRun, aStep } from '../../../test/conformance/builders.js';
import type { Span } from '../../core/traces/span.js';
import { longestValue, otlpSpan, spansSinceRest } from './otlp-spans.js';

function aSpan(given: Partial<Span> = {}): Span {
  return {
    spanId: 'a'.repeat(16),
    traceId: 'b'.repeat(32),
    parentSpanId: 'c'.repeat(16),
    remoteParentId: null,
    name: 'look',
    kind: 'TOOL',
    status: 'OK',
    statusMessage: null,
    startTime: 1_700_000_000_000,
    endTime: 1_700_000_000_250,
    runId: 'run',
    stepKey: 'tool:0:0',
    attributes: {},
    ...given,
  };
}

const sent = (span: Span, run = aRun()) => JSON.parse(otlpSpan(span, run));

test('numbers of 64 bits are texts, and each value says what it is', () => {
  const attributes = { text: 'x', whole: 7, part: 0.5, yes: true, list: ['a', 'b'] };
  expect(sent(aSpan({ attributes }))).toEqual({
    traceId: 'b'.repeat(32),
    spanId: 'a'.repeat(16),
    parentSpanId: 'c'.repeat(16),
    flags: 0x101,
    name: 'look',
    kind: 1,
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000000250000000',
    attributes: [
      { key: 'text', value: { stringValue: 'x' } },
      { key: 'whole', value: { intValue: '7' } },
      { key: 'part', value: { doubleValue: 0.5 } },
      { key: 'yes', value: { boolValue: true } },
      { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } } },
    ],
    status: { code: 1 },
  });
});

test('a failure is a status and an exception', () => {
  const span = aSpan({
    kind: 'LLM',
    status: 'ERROR',
    statusMessage: 'Too many',
    attributes: { 'exception.type': 'model_provider_error' },
  });
  expect(sent(span)).toMatchObject({
    kind: 3,
    status: { code: 2, message: 'Too many' },
    events: [
      {
        name: 'exception',
        timeUnixNano: '1700000000250000000',
        attributes: [
          { key: 'exception.type', value: { stringValue: 'model_provider_error' } },
          { key: 'exception.message', value: { stringValue: 'Too many' } },
        ],
      },
    ],
  });
});

test('the span of a run is below that of the system that called it', () => {
  const root = aSpan({ parentSpanId: null, remoteParentId: 'd'.repeat(16), stepKey: '' });
  expect(sent(root)).toMatchObject({ parentSpanId: 'd'.repeat(16), flags: 0x301 });
  expect(sent(aSpan({ parentSpanId: null, stepKey: '' }))).not.toHaveProperty('parentSpanId');
});

test('the span of a copy links to that of its original', () => {
  const original = '01234567-89ab-4def-8123-456789abcdef';
  const run = aRun({ lineage: { forkedFromRunId: original } });
  const root = aSpan({ parentSpanId: null, stepKey: '' });
  expect(sent(root, run).links).toEqual([
    expect.objectContaining({
      traceId: original.replaceAll('-', ''),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    }),
  ]);
  expect(sent(aSpan(), run)).not.toHaveProperty('links');
});

test('what is left open ends with its run', () => {
  const run = aRun({ updatedAt: 1_700_000_001_000 });
  expect(sent(aSpan({ endTime: null }), run).endTimeUnixNano).toBe('1700000001000000000');
});

test('half a character is replaced, and a long text is cut', () => {
  const attributes = { half: 'a\uD83D', whole: '😀', long: 'x'.repeat(longestValue + 1) };
  const values = sent(aSpan({ attributes })).attributes.map(
    ({ value }: { value: { stringValue: string } }) => value.stringValue,
  );
  expect(values).toEqual(['a\uFFFD', '😀', `${'x'.repeat(longestValue)}…`]);
});

test('spans that were sent at an earlier pause are not sent again', () => {
  const paused = aRun({ status: 'paused' });
  const first = aStep(paused, 0, { key: 'model:0', startedAt: 100, endedAt: 200 });
  const question = aStep(paused, 1, { key: 'wait:tool:0:0', kind: 'wait', startedAt: 200, endedAt: null });
  const spanOf = (key: string, endTime: number | null) => aSpan({ stepKey: key, endTime });
  const root = aSpan({ stepKey: '', parentSpanId: null });
  const keys = (spans: readonly Span[]) => spans.map(({ stepKey }) => stepKey);
  const before = [root, spanOf('model:0', 200), spanOf('wait:tool:0:0', null)];
  expect(keys(spansSinceRest(paused, [first, question], before))).toEqual(['model:0']);

  const ended = aRun({ status: 'completed', attempt: 2 });
  const steps = [
    first,
    { ...question, attempt: 2, endedAt: 299 },
    aStep(ended, 2, { key: 'continue:2', kind: 'continue', startedAt: 300, endedAt: 300, attempt: 2 }),
    aStep(ended, 3, { key: 'model:1', startedAt: 310, endedAt: 400, attempt: 2 }),
  ];
  const after = [root, spanOf('model:0', 200), spanOf('wait:tool:0:0', 299), spanOf('model:1', 400)];
  expect(keys(spansSinceRest(ended, steps, after))).toEqual(['', 'wait:tool:0:0', 'model:1']);
});
