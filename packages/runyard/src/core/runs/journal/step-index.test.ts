import { expect, test } from 'vitest';
import type { StepKind, StepRecord } from '../run.js';
import { StepIndex } from './step-index.js';

let seq = 0;

function stepOf(key: string, kind: StepKind = 'step', parentKey: string | null = null): StepRecord {
  seq += 1;
  return {
    ...{ runId: 'r', seq, key, kind, name: 'n', parentKey, status: 'running', attempt: 1 },
    ...{ input: null, output: null, error: null, startedAt: 0, endedAt: null },
  };
}

const keysOf = (steps: readonly StepRecord[]) => steps.map(({ key }) => key);

/** The same steps, and so many others that they are no longer looked at one by one. */
const sizes = [0, 100];

test.each(sizes)('steps are found by the run that they are of, beside %i others', (others) => {
  const index = new StepIndex();
  for (let number = 0; number < others; number += 1) index.put(stepOf(`other:${number}`, 'tool'));
  // a run inside may have steps before the one around it
  for (const key of ['a/b/deep', 'a', 'a/one', 'ab/other', 'a/b', 'a/two']) index.put(stepOf(key));
  expect(keysOf(index.of('a/'))).toEqual(['a/one', 'a/b', 'a/two']);
  expect(keysOf(index.under('a/'))).toEqual(['a/b/deep', 'a/one', 'a/b', 'a/two']);
  expect(keysOf(index.under('a/b/'))).toEqual(['a/b/deep']);
  expect(index.under('')).toHaveLength(6 + others);
  expect(keysOf(index.ofKind('', 'step'))).toEqual(['a']);
  index.delete(index.get('a/b/deep')!);
  index.put({ ...index.get('a/one')!, status: 'completed' });
  expect(index.under('a/').map(({ status }) => status)).toEqual(['completed', 'running', 'running']);
});

test.each(sizes)('steps are in their order, whenever they were put, beside %i others', (others) => {
  const index = new StepIndex();
  const [first, second, third] = [stepOf('a/1'), stepOf('a/2'), stepOf('a/3')];
  for (let number = 0; number < others; number += 1) index.put(stepOf(`other:${number}`, 'tool'));
  for (const step of [first, third, second]) index.put(step);
  expect(keysOf(index.of('a/'))).toEqual(['a/1', 'a/2', 'a/3']);
  expect(keysOf(index.under('a/'))).toEqual(['a/1', 'a/2', 'a/3']);
});

test.each(sizes)('a step has its tries and those that name it as their parts, beside %i others', (others) => {
  const index = new StepIndex();
  for (let number = 0; number < others; number += 1) index.put(stepOf(`other:${number}`));
  index.put(stepOf('a'));
  // a try is recorded beside the step that it is a try of
  index.put(stepOf('a:try:1:0', 'try', 'group'));
  index.put(stepOf('wait:a:1', 'wait', 'a'));
  expect(keysOf(index.partsOf('a'))).toEqual(['a:try:1:0', 'wait:a:1']);
  index.put(stepOf('run:a', 'member', 'a'));
  index.put({ ...index.get('wait:a:1')!, status: 'completed' });
  index.delete(index.get('a:try:1:0')!);
  expect(index.partsOf('a').map(({ key, status }) => [key, status])).toEqual([
    ['wait:a:1', 'completed'],
    ['run:a', 'running'],
  ]);
  expect(index.partsOf('group')).toEqual([]);
  expect(index.partsOf('nothing')).toEqual([]);
});

test.each(sizes)('a list stays as it was when the steps change, beside %i others', (others) => {
  const index = new StepIndex();
  for (let number = 0; number < others; number += 1) index.put(stepOf(`other/${number}`));
  const first = stepOf('a');
  index.put(first);
  index.put(stepOf('b'));
  const [all, own] = [index.all(), index.of('')];
  expect(keysOf(own)).toEqual(['a', 'b']);
  index.put({ ...first, status: 'completed' });
  index.put(stepOf('c'));
  expect(index.of('').map(({ key, status }) => `${key} ${status}`)).toEqual([
    'a completed',
    'b running',
    'c running',
  ]);
  index.delete(first);
  expect(keysOf(index.of(''))).toEqual(['b', 'c']);
  // one that is done again keeps its place
  index.put(first);
  expect(keysOf(index.of(''))).toEqual(['a', 'b', 'c']);
  expect(keysOf(index.all())).toEqual([...keysOf(all), 'c']);
  expect(own).toEqual([first, index.get('b')]);
});
