import { expect, test } from 'vitest';
import type { ComponentConfig } from '../../../core/configs/component-config.js';
import { compared } from './config-diff.js';
import { diffLines } from './diff-lines.js';

const diff = (before: ComponentConfig, after: ComponentConfig) =>
  compared({ config: before, links: [] }, { config: after, links: [] });
const found = (before: ComponentConfig, after: ComponentConfig) =>
  diff(before, after).differences.map(({ path, kind }) => `${kind} ${path}`);

const tools = (...names: string[]) => ({ tools: names.map((name) => ({ name, parameters: {} })) });

test('items of lists belong together by their names, wherever they are', () => {
  expect(found(tools('a', 'b', 'c'), tools('a', 'new', 'b', 'c'))).toEqual(['added tools[1]']);
  expect(found(tools('a', 'b', 'c', 'd'), tools('b', 'x', 'd'))).toEqual([
    'removed tools[0]',
    'removed tools[2]',
    'added tools[1]',
  ]);
  const changed = { tools: [{ name: 'b', parameters: { strict: true } }] };
  expect(found(tools('a', 'b'), changed)).toEqual(['removed tools[0]', 'added tools[0].parameters.strict']);
  expect(found({ topics: ['x', 'y'] }, { topics: ['y', 'x'] })).toEqual([
    'removed topics[0]',
    'added topics[1]',
  ]);
});

test('values are compared whatever they are, and keys whatever they are called', () => {
  expect(found({ a: null, b: 1, c: {} }, { a: null, b: '1', c: [] })).toEqual(['changed b', 'changed c']);
  const odd = { metadata: { 'a.b': 1, ['__proto__']: 1, toString: 1 } };
  expect(found({ metadata: {} }, odd)).toEqual([
    'added metadata["a.b"]',
    'added metadata.__proto__',
    'added metadata.toString',
  ]);
  expect(found(odd, odd)).toEqual([]);
});

test('a comparison is bounded', () => {
  const many = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`key${index}`, index]));
  const { differences, isTruncated } = diff({}, { metadata: many, ...many });
  expect([differences.length, isTruncated]).toEqual([1000, true]);
  const long = (from: number) => Array.from({ length: 3000 }, (_, index) => `item ${from + index}`);
  expect(diff({ list: long(0) }, { list: long(3000) }).isTruncated).toBe(true);
});

const budget = () => ({ left: 4_000_000 });

test('texts are shown by their changed lines, with two around them', () => {
  const lines = (at: string) => ['1', '2', '3', '4', at, '6', '7', '8', '9'].join('\n');
  expect(diffLines(lines('old'), lines('new'), budget())).toEqual([
    '…',
    '  3',
    '  4',
    '- old',
    '+ new',
    '  6',
    '  7',
    '…',
  ]);
  expect(diffLines('one', 'other', budget())).toBeUndefined();
  expect(diffLines('a\n'.repeat(3000), 'b\n'.repeat(3000), budget())).toBeUndefined();
  const page = (first: string, last: string) => `${first}${'line\n'.repeat(900)}${last}`;
  expect(diffLines(page('a\n', 'b'), page('', 'c'), budget())).toHaveLength(8);
  expect(diffLines(page('a\n', 'b'), page('', 'c'), { left: 100 })).toBeDefined();
});
