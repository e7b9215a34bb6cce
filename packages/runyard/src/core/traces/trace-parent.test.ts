import { expect, test } from 'vitest';
import { spanIdOf, traceIdOf } from './span.js';
import { parseTraceParent } from './trace-parent.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('a traceparent names the trace, the span and whether it is recorded', () => {
  expect(parseTraceParent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, sampled: true });
  expect(parseTraceParent(`00-${traceId}-${spanId}-02`)).toMatchObject({ sampled: false });
});

test('a version that is yet to come may say more', () => {
  expect(parseTraceParent(`cc-${traceId}-${spanId}-01-what-the-future-brings`)).toMatchObject({ traceId });
  expect(parseTraceParent(`cc-${traceId}-${spanId}-01`)).toMatchObject({ traceId });
});

test.each([
  '',
  'nonsense',
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId}-${spanId}-1`,
  `00-${traceId}-${spanId}-01 `,
  ` 00-${traceId}-${spanId}-01`,
  `ff-${traceId}-${spanId}-01`,
  `cc-${traceId}-${spanId}-01.more`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId.slice(1)}-${spanId}-01`,
  `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
])('%j is not one', (value) => {
  expect(parseTraceParent(value)).toBeUndefined();
});

test('a run has the trace of its caller, or one that follows from its id', () => {
  const runId = '0199aa10-1111-7222-8333-444455556666';
  const own = { runId, traceParent: null };
  expect(traceIdOf(own)).toBe('0199aa10111172228333444455556666');
  expect(traceIdOf({ ...own, runId: runId.toUpperCase() })).toBe(traceIdOf(own));
  expect(traceIdOf({ runId, traceParent: `00-${traceId}-${spanId}-01` })).toBe(traceId);
  const chosen = traceIdOf({ runId: 'my-run', traceParent: null });
  expect(chosen).toMatch(/^[0-9a-f]{32}$/);
  expect(traceIdOf({ runId: 'my-run-2', traceParent: null })).not.toBe(chosen);
  expect(traceIdOf({ runId: '00000000-0000-0000-0000-000000000000', traceParent: null })).not.toMatch(/^0+$/);
});

test('a span is known by its run and its step', () => {
  expect(spanIdOf('r', 'model:0')).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set([spanIdOf('r', ''), spanIdOf('r', 'model:0'), spanIdOf('s', 'model:0')]).size).toBe(3);
});
