import { afterAll, describe, expect, it } from 'vitest';
import { parseFilter } from '../../../src/core/knowledge/filter-parse.js';
import type { SearchRequest } from '../../../src/core/knowledge/vector-store.js';
import { type OpenedStore, onPgvector, onPostgres, onSqlite } from './opened-stores.js';
import { add, describeVectorStore, request, version } from './vector-store-suite.js';

// one for the whole file: to start it takes seconds
const pgvector = onPgvector();
const opened: OpenedStore[] = [];
afterAll(async () => {
  for (const one of [await pgvector, ...opened]) await one.close();
});

describeVectorStore('PostgreSQL with pgvector', async () => ({ ...(await pgvector), close: async () => {} }));

const dimensions = 8;
const topics = 30;

/** Always the same numbers: vectors around some topics, words of the topic in the text. */
function dataset(count: number) {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff - 0.5;
  };
  const vector = () => Array.from({ length: dimensions }, random);
  const centres = Array.from({ length: topics }, vector);
  const near = (topic: number) => centres[topic]!.map((value) => value + 0.5 * random());
  const parts = Array.from({ length: count }, (_, at) => ({
    content: `word${at % topics} ${'common '.repeat(1 + (at % 3))}tail${at % 7}`,
    vector: near(at % topics),
    metadata: { topic: at % topics, even: at % 2 === 0, at },
  }));
  return { parts, near };
}

describe('the same results in the same order', () => {
  it('on SQLite, on PostgreSQL and with pgvector, with and without filters', async () => {
    const { parts, near } = dataset(1_020);
    const stores = [await onSqlite(), await onPostgres()];
    opened.push(...stores);
    const all = [...stores, await pgvector].map(({ store }) => store);
    const [sqlite, ...others] = all;
    for (const store of all) {
      await add(store, version('same', 'first'), parts.slice(0, 600));
      await add(store, version('same', 'second'), parts.slice(600));
    }
    const filters = [undefined, { topic: 3 }, { even: true }, { op: 'LT', key: 'at', value: 1010 }];
    for (const [at, filter] of filters.entries()) {
      const searches = (['vector', 'keyword', 'hybrid'] as const).map(
        (type): SearchRequest =>
          request({
            type,
            text: `word${at} tail${at}`,
            vector: Float32Array.from(near(at)),
            filter: filter && parseFilter(filter),
          }),
      );
      for (const search of searches) {
        const expected = await sqlite!.search('same', search);
        expect(expected).not.toHaveLength(0);
        for (const store of others) expect(await store.search('same', search)).toEqual(expected);
      }
    }
    expect(all.map(({ description }) => description)).toEqual([
      expect.not.stringContaining('pgvector'),
      expect.stringContaining('pgvector from 1,000,000 chunks on, where the database has it'),
      expect.stringContaining('pgvector from 0 chunks on; words'),
    ]);
  });
});
