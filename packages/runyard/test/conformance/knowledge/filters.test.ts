import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { positionOf } from '../../../src/capabilities/knowledge/chunks/row-ids.js';
import { SearchStore } from '../../../src/capabilities/knowledge/chunks/search-store.js';
import { VersionStore } from '../../../src/capabilities/knowledge/chunks/version-store.js';
import type { Json, JsonObject } from '../../../src/core/json.js';
import { matches } from '../../../src/core/knowledge/filter-matches.js';
import { parseFilter } from '../../../src/core/knowledge/filter-parse.js';
import { type OpenedStore, onPostgres, onSqlite } from './opened-stores.js';
import { add, byVector, byWords, version } from './vector-store-suite.js';

const values: readonly Json[] = [
  null,
  true,
  false,
  0,
  1,
  -1.5,
  2024,
  10,
  9,
  1e21,
  123456789012345680000,
  0.1,
  '',
  'en',
  'EN',
  'english',
  '10',
  '9',
  '2024-05-01',
  'true',
  'ünï',
  '\u{1f600}',
  '\uffee',
  'a"b',
  "it's",
  '100%_?',
  'x\0y',
  '\ud800',
  '\u0001"x"',
  [],
  ['en', 1],
  [1, [2], { a: 1, b: 2 }],
  {},
  { a: 1 },
  { a: { b: 'en' } },
  { b: 2, a: 1 },
];
const keys = ['k', 'a"b', 'a.b', '$', "it's", 'ключ', '\0', '__proto__', '?'];

const metadata: readonly JsonObject[] = [
  {},
  { other: 1 },
  ...values.map((value): JsonObject => ({ k: value })),
  ...keys.map((key): JsonObject => JSON.parse(JSON.stringify({ k: 7 }).replace('"k"', JSON.stringify(key)))),
  { k: 'en', year: 2024, tags: ['a', 'b'] },
  { k: 'de', year: 2023, tags: ['b'], nested: { a: [1, 2], b: { c: true } } },
];

const many = Array.from({ length: 1_000 }, (_, value) => value);

const filters: readonly unknown[] = [
  {},
  [],
  ...values.map((value) => ({ k: value })),
  ...keys.map((key) => ({ op: 'EQ', key, value: 7 })),
  ...values.flatMap((value) => [
    { op: 'EQ', key: 'k', value },
    { op: 'CONTAINS', key: 'k', value },
  ]),
  ...values
    .filter((value) => typeof value === 'number' || typeof value === 'string')
    .flatMap((value) => ['GT', 'GTE', 'LT', 'LTE'].map((op) => ({ op, key: 'k', value }))),
  ...values
    .filter((value) => typeof value === 'string')
    .map((value) => ({ op: 'STARTSWITH', key: 'k', value })),
  { op: 'NEQ', key: 'k', value: 'en' },
  { op: 'NOT', condition: { op: 'GT', key: 'k', value: 5 } },
  { op: 'NOT', condition: { op: 'EQ', key: 'missing', value: null } },
  { op: 'IN', key: 'k', values: [] },
  // the largest that can be read
  { op: 'NOT', condition: { op: 'IN', key: 'k', values: many } },
  { k: many },
  { op: 'NOT', condition: { op: 'EQ', key: 'k', value: many } },
  { op: 'IN', key: 'k', values: ['de', 'en', 1, null, { a: 1 }] },
  {
    op: 'OR',
    conditions: [
      { op: 'EQ', key: 'year', value: 2023 },
      { op: 'EQ', key: 'k', value: 'EN' },
    ],
  },
  {
    op: 'OR',
    conditions: [
      { op: 'EQ', key: 'year', value: 2023 },
      { op: 'GT', key: 'k', value: 5 },
    ],
  },
  [
    { op: 'GTE', key: 'year', value: 2023 },
    { op: 'NEQ', key: 'k', value: 'en' },
  ],
  [
    { op: 'EQ', key: 'k', value: 'en' },
    { op: 'GTE', key: 'year', value: 2023 },
  ],
  { nested: { a: [2], b: {} } },
  { nested: { a: [2, 3] } },
  { k: [{ a: 1 }] },
  { k: [[2]] },
  { tags: ['b'], year: 2024 },
];

for (const [name, open] of [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
] as const) {
  describe(`filters on ${name}`, () => {
    let opened: OpenedStore;
    beforeAll(async () => {
      opened = await open();
      const parts = metadata.map((one, at) => ({ content: `word ${at}`, metadata: one }));
      await add(opened.store, version('filters', 'c'), parts);
    });
    afterAll(() => opened.close());

    it('lets through exactly what `matches` does, with the index and without', async () => {
      const { database } = opened;
      if (database === undefined) throw new Error('no database');
      const versions = new VersionStore(database);
      const searches = new SearchStore(database, versions);
      const { knowledge_no } = (await versions.searched('filters'))!.index;
      const all = await searches.filtered(knowledge_no, parseFilter({}), 1000);
      expect(all?.size).toBe(metadata.length);
      const places = (rows: ReadonlySet<number> | undefined) =>
        [...(rows ?? [])].map(positionOf).sort((one, other) => one - other);
      const check = async (given: unknown) => {
        const filter = parseFilter(given);
        const expected = { given, places: metadata.flatMap((one, at) => (matches(filter, one) ? at : [])) };
        const found = await searches.filtered(knowledge_no, filter, 1000);
        expect({ given, places: places(found) }).toEqual(expected);
        const matching = await searches.matching([...(all ?? [])], filter);
        expect({ given, places: places(matching) }).toEqual(expected);
      };
      await Promise.all(filters.map(check));
    });

    it('applies to words as to vectors', async () => {
      for (const given of filters.slice(-9)) {
        const filter = parseFilter(given);
        const texts = metadata.flatMap((one, at) => (matches(filter, one) ? `word ${at}` : [])).sort();
        for (const request of [
          byVector(0, { filter, limit: 1000 }),
          byWords('word', { filter, limit: 1000 }),
        ]) {
          const found = await opened.store.search('filters', request);
          expect(found.map(({ content }) => content).sort()).toEqual(texts);
        }
      }
    });
  });
}
