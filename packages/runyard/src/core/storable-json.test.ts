import { describe, expect, test } from 'vitest';
import { storable, UnstorableValue } from './storable-json.js';

const stored = (value: unknown) => storable(value, 'It');
const circular: { inner: { self?: object } } = { inner: {} };
circular.inner.self = circular;
const deep = (levels: number): object => (levels === 0 ? {} : { in: deep(levels - 1) });
const trapped = new Proxy(
  {},
  {
    get: () => {
      throw new Error('trap');
    },
  },
);

test.each<[string, unknown]>([
  ['texts', 'text'],
  ['numbers', [1, -0.5, Number.NaN, Number.POSITIVE_INFINITY]],
  ['what JSON leaves out', { kept: null, gone: undefined, f() {}, [Symbol('s')]: 1 }],
  ['what JSON makes null', [undefined, () => {}, Symbol('s')]],
  // biome-ignore lint/suspicious/noSparseArray: that is what is tested
  ['sparse lists', [1, , 3]],
  ['dates', { at: new Date(0) }],
  ['wrappers', [Object(1), Object('a'), Object(true)]],
  ['bytes and maps', { bytes: Buffer.from('a'), map: new Map([[1, 2]]), view: new Uint8Array([1]) }],
  ['an object twice, which is no circle', [circular.inner === undefined, [deep(2), deep(2)]]],
  ['toJSON that receives its key', { a: { toJSON: (key: string) => ({ key }) } }],
  ['a key that means something', JSON.parse('{"__proto__": {"a": 1}}')],
])('copies %s as JSON does', (_what, value) => {
  const copied = stored(value);
  expect(JSON.stringify(copied)).toBe(JSON.stringify(value));
  expect(copied).toEqual(JSON.parse(JSON.stringify(value)));
});

describe('refuses, and says where it is,', () => {
  test.each<[string, unknown, string]>([
    ['a BigInt', 1n, 'BigInt'],
    ['a BigInt inside', { total: { amount: 1n } }, 'BigInt at total.amount'],
    ['a BigInt in a list', { items: [0, { n: 1n }] }, 'BigInt at items[1].n'],
    ['a circle', circular, 'a circular reference at inner.self'],
    ['a function', () => {}, 'a function'],
    ['a symbol', Symbol('x'), 'a symbol'],
    ['nothing', undefined, 'undefined'],
    ['no number', Number.NaN, 'NaN'],
    ['depth', deep(1_000), 'it is nested deeper than 500 levels'],
    ['length', new Array(2 ** 32 - 1), 'more than 2000000 values'],
    ['text', ['x'.repeat(2 ** 25), 'x'.repeat(2 ** 25), 'x'], 'more than 67108864 characters at [2]'],
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('broken');
        },
      },
      'it cannot be read at a: broken',
    ],
    [
      'a toJSON that throws',
      [
        {
          toJSON() {
            throw new Error('no');
          },
        },
      ],
      'toJSON at [0] threw: no',
    ],
    ['a trap', trapped, 'toJSON threw: trap'],
  ])('%s', (_what, value, fault) => {
    expect(() => stored(value)).toThrow(new UnstorableValue(`It cannot be stored as JSON: ${fault}`));
  });
});

test('a copy does not follow later changes of its original', () => {
  const value = { list: [1] };
  const copied = stored(value);
  value.list.push(2);
  expect(copied).toEqual({ list: [1] });
});
