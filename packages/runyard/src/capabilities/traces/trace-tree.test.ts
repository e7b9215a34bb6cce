import { expect, test } from 'vitest';
import type { Span } from '../../core/traces/span.js';
import { TextBudget } from './text-budget.js';
import { outputOfTree, treeOf } from './trace-tree.js';

function aSpan(spanId: string, parentSpanId: string | null, given: Partial<Span> = {}): Span {
  return {
    spanId,
    traceId: 'trace',
    parentSpanId,
    remoteParentId: null,
    name: spanId,
    kind: 'LLM',
    status: 'OK',
    statusMessage: null,
    startTime: 1000,
    endTime: 2000,
    runId: 'run',
    stepKey: spanId,
    attributes: {},
    ...given,
  };
}

const context = () => ({ now: 5000, budget: new TextBudget() });

test('T4: a span whose parent is missing is placed beside the root, with its children', () => {
  const tree = treeOf(
    [
      aSpan('root', null, { kind: 'AGENT' }),
      aSpan('late', 'root', { startTime: 1500 }),
      aSpan('early', 'root', { startTime: 1200 }),
      aSpan('orphan', 'gone', { startTime: 1600, attributes: { 'input.value': 'kept' } }),
      aSpan('child', 'orphan', { startTime: 1700 }),
    ],
    context(),
  );
  expect(tree.map(({ id }) => id)).toEqual(['root', 'orphan']);
  expect(tree[0]?.spans?.map(({ id }) => id)).toEqual(['early', 'late']);
  expect(tree[1]).toMatchObject({ input: 'kept', spans: [{ id: 'child' }] });
});

test('a span in progress has lasted until now', () => {
  const [node] = treeOf([aSpan('root', null, { status: 'UNSET', endTime: null })], context());
  expect(node).toMatchObject({ duration: '4.00s', end_time: '1970-01-01T00:00:05Z', status: 'UNSET' });
});

test('a workflow without an output shows that of its last part', () => {
  const spans = [
    aSpan('root', null, { kind: 'WORKFLOW', attributes: { 'output.value': 'None' } }),
    aSpan('first', 'root', { endTime: 4000, attributes: { 'output.value': 'ended last' } }),
    aSpan('second', 'root', { endTime: 3000, attributes: { 'output.value': 'ended before' } }),
    aSpan('open', 'root', { endTime: null }),
  ];
  expect(outputOfTree(spans)).toBe('ended last');
  const own = aSpan('root', null, { kind: 'WORKFLOW', attributes: { 'output.value': 'own' } });
  expect(outputOfTree([own, ...spans.slice(1)])).toBe('own');
});

test('inputs and outputs beyond the limit of a response are cut', () => {
  const long = 'x'.repeat(3000);
  const spans = [
    aSpan('root', null),
    ...['one', 'two', 'three'].map((id) => aSpan(id, 'root', { attributes: { 'input.value': long } })),
  ];
  const [root] = treeOf(spans, { now: 0, budget: new TextBudget(6500) });
  expect(root?.spans?.map(({ input }) => input?.length === 3000)).toEqual([true, true, false]);
  expect(root?.spans?.[2]?.input).toMatch(/^x{1000}… \[cut/);
});
