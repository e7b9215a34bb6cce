import { describe, expect, it } from 'vitest';
import type { Json } from '../json.js';
import { matches } from './filter-matches.js';
import { parseFilter } from './filter-parse.js';

function holds(filter: unknown, metadata: { [key: string]: Json }): boolean {
  return matches(parseFilter(filter), metadata);
}

function nested(levels: number): unknown {
  const inner: unknown = { op: 'EQ', key: 'k', value: 1 };
  return Array.from({ length: levels - 1 }).reduce((condition) => ({ op: 'NOT', condition }), inner);
}

describe('filters', () => {
  it('are objects, expressions, or lists of expressions', () => {
    expect(holds({ lang: 'en' }, { lang: 'en', page: 1 })).toBe(true);
    expect(holds({}, {})).toBe(true);
    expect(holds({ unknown: 1 }, { lang: 'en' })).toBe(false);
    expect(holds({ op: 'GT', key: 'year', value: 2020 }, { year: 2024 })).toBe(true);
    expect(
      holds(
        [
          { op: 'GT', key: 'year', value: 2020 },
          { op: 'LT', key: 'year', value: 2022 },
        ],
        { year: 2024 },
      ),
    ).toBe(false);
    // a key of the metadata may be named op
    expect(holds({ op: 'merge' }, { op: 'merge' })).toBe(true);
  });

  it('compare numbers as numbers, texts as texts, and a number with its text where they are equal', () => {
    expect(holds({ op: 'GT', key: 'n', value: 9 }, { n: 10 })).toBe(true);
    expect(holds({ op: 'GT', key: 'n', value: '9' }, { n: '10' })).toBe(false);
    expect(holds({ op: 'GT', key: 'n', value: 9 }, { n: '10' })).toBe(false);
    expect(holds({ op: 'EQ', key: 'n', value: '10' }, { n: 10 })).toBe(true);
    expect(holds({ op: 'EQ', key: 'n', value: '010' }, { n: 10 })).toBe(false);
    expect(holds({ op: 'NEQ', key: 'n', value: 10 }, { n: '10' })).toBe(false);
    expect(holds({ op: 'IN', key: 'n', values: ['true'] }, { n: true })).toBe(true);
    expect(holds({ op: 'NEQ', key: 'n', value: 1 }, {})).toBe(true);
  });

  it.each<[string, unknown, string]>([
    ['no filter', 'text', 'filters'],
    ['null', null, 'filters'],
    ['an unknown operator', { op: 'LIKE', key: 'k', value: 1 }, 'filters.op'],
    ['an unknown field', { op: 'EQ', key: 'k', value: 1, values: [1] }, 'filters.values'],
    ['no key', { op: 'EQ', value: 1 }, 'filters.key'],
    ['an empty key', { op: 'EQ', key: '', value: 1 }, 'filters.key'],
    ['no value', { op: 'EQ', key: 'k' }, 'filters.value'],
    ['an object to order by', { op: 'GT', key: 'k', value: {} }, 'filters.value'],
    ['a number as a beginning', { op: 'STARTSWITH', key: 'k', value: 1 }, 'filters.value'],
    ['values that are no list', { op: 'IN', key: 'k', values: 'a' }, 'filters.values'],
    ['no conditions', { op: 'AND', conditions: [] }, 'filters.conditions'],
    ['an object within a list', [{ k: 1 }], 'filters.0'],
    ['an object within NOT', { op: 'NOT', condition: { k: 1 } }, 'filters.condition.0'],
    [
      'too many conditions',
      Array.from({ length: 101 }, () => ({ op: 'EQ', key: 'k', value: 1 })),
      '100 conditions',
    ],
    ['too many values', { op: 'IN', key: 'k', values: Array.from({ length: 1001 }, () => 1) }, '1000 values'],
    ['11 levels', nested(11), '10 levels'],
  ])('that cannot be read are refused with their place: %s', (_, filter, place) => {
    expect(() => parseFilter(filter)).toThrow(
      expect.objectContaining({ status: 422, message: expect.stringContaining(place) }),
    );
  });

  it('may be nested 10 levels deep', () => {
    expect(() => parseFilter(nested(10))).not.toThrow();
  });
});
