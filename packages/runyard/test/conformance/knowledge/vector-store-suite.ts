import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { parseFilter } from '../../../src/core/knowledge/filter-parse.js';
import type { ContentVersion, SearchRequest, VectorStore } from '../../../src/core/knowledge/vector-store.js';
import type { OpenedStore } from './opened-stores.js';

const embedder = 'test:model';

interface Part {
  readonly content: string;
  readonly vector?: readonly number[];
  readonly metadata?: JsonObject;
}

/** A vector of four numbers that points mostly in one direction. */
function towards(direction: number, rest = 0.1): number[] {
  return [0, 1, 2, 3].map((at) => (at === direction ? 1 : rest * (at + 1)));
}

function chunk({ content, vector = towards(0), metadata = {} }: Part, position: number) {
  return {
    position,
    name: 'a content',
    content,
    metadata,
    vector: Float32Array.from(vector),
    usage: { total_tokens: position },
  };
}

export function version(knowledgeId: string, contentId: string, generation = 'first'): ContentVersion {
  return { knowledgeId, contentId, generation };
}

export async function add(store: VectorStore, given: ContentVersion, parts: readonly Part[]): Promise<void> {
  await store.stage(given, parts.map(chunk), embedder);
  expect(await store.publish(given)).toBe(true);
}

export function request(given: Partial<SearchRequest>): SearchRequest {
  return { type: 'vector', text: '', vector: undefined, limit: 10, filter: undefined, ...given };
}

export function byVector(direction: number, more: Partial<SearchRequest> = {}): SearchRequest {
  return request({ vector: Float32Array.from(towards(direction)), embedder, ...more });
}

export function byWords(text: string, more: Partial<SearchRequest> = {}): SearchRequest {
  return request({ type: 'keyword', text, ...more });
}

async function contents(store: VectorStore, knowledgeId: string, given: SearchRequest) {
  return (await store.search(knowledgeId, given)).map(({ content }) => content);
}

/** What every vector store promises. An adapter of another store runs it with what opens that store. */
export function describeVectorStore(name: string, open: () => Promise<OpenedStore>): void {
  describe(`a vector store: ${name}`, () => {
    let opened: OpenedStore;
    let store: VectorStore;
    beforeAll(async () => {
      opened = await open();
      store = opened.store;
    });
    afterAll(() => opened.close());

    it('finds the nearest chunks with their texts, names, metadata and similarities', async () => {
      await add(store, version('near', 'one'), [
        { content: 'north', vector: [1, 0, 0, 0], metadata: { page: 1 } },
        { content: 'north-east', vector: [1, 1, 0, 0] },
        { content: 'east', vector: [0, 2, 0, 0] },
        { content: 'south', vector: [-1, 0, 0, 0] },
      ]);
      const found = await store.search('near', request({ vector: Float32Array.of(3, 0, 0, 0) }));
      expect(found.map(({ content, similarity }) => [content, Number(similarity?.toFixed(2))])).toEqual([
        ['north', 1],
        ['north-east', 0.71],
        ...[
          ['east', 0],
          ['south', 0],
        ].sort((one, other) => (idOf(found, one[0]) < idOf(found, other[0]) ? -1 : 1)),
      ]);
      expect(found[0]).toEqual({
        id: found[0]?.id,
        contentId: 'one',
        content: 'north',
        name: 'a content',
        metadata: { page: 1 },
        usage: { total_tokens: 0 },
        similarity: 1,
      });
      expect(
        await contents(
          store,
          'near',
          request({ vector: Float32Array.of(3, 0, 0, 0), similarityThreshold: 0.5 }),
        ),
      ).toEqual(['north', 'north-east']);
      expect(await contents(store, 'near', byVector(0, { limit: 1 }))).toEqual(['north']);
    });

    it('shows nothing before a version is published, and one version at a time', async () => {
      const first = version('versions', 'c', 'first');
      await store.stage(first, [chunk({ content: 'old' }, 0)], embedder);
      expect(await contents(store, 'versions', byVector(0))).toEqual([]);
      expect(await contents(store, 'versions', byWords('old'))).toEqual([]);
      expect(await store.staged(first)).toBe(1);
      expect(await store.publish(first)).toBe(true);
      expect(await contents(store, 'versions', byVector(0))).toEqual(['old']);
      const [before] = await store.search('versions', byVector(0));

      const second = version('versions', 'c', 'second');
      await store.stage(second, [{ content: 'new' }, { content: 'newer' }].map(chunk), embedder);
      await store.stage(second, [chunk({ content: 'new text' }, 0)], embedder);
      expect(await store.staged(second)).toBe(2);
      expect(await contents(store, 'versions', byVector(0))).toEqual(['old']);
      expect(await contents(store, 'versions', byWords('old new'))).toEqual(['old']);
      await store.publish(second);
      expect((await contents(store, 'versions', byVector(0))).sort()).toEqual(['new text', 'newer']);
      expect(await contents(store, 'versions', byWords('old new'))).toEqual(['new text']);
      expect((await store.search('versions', byWords('text')))[0]?.id).toBe(before?.id);
      expect((await store.published('versions', 'c', 1, 10)).map(({ content }) => content)).toEqual([
        'newer',
      ]);

      // the job of a version that was replaced ends late
      await store.stage(first, [chunk({ content: 'late' }, 0)], embedder);
      expect(await store.publish(first)).toBe(false);
      expect(await contents(store, 'versions', byWords('late'))).toEqual([]);
    });

    it('finds one version of a content that is replaced during the search', async () => {
      await add(store, version('swap', 'c'), [{ content: 'alpha old' }]);
      const next = version('swap', 'c', 'next');
      await store.stage(next, [chunk({ content: 'alpha new' }, 0)], embedder);
      const published: Promise<unknown>[] = [];
      // a search looks at its signal before each word: the first word is found in the old version alone
      const signal = Object.assign(new AbortController().signal, {
        throwIfAborted: () =>
          published.push(published.length === 1 ? store.publish(next) : Promise.resolve()),
      });
      const words = Array.from({ length: 30 }, (_, number) => `word${number}`).join(' ');
      const found = await contents(store, 'swap', byWords(`alpha ${words}`, { signal }));
      expect(found).toHaveLength(1);
      expect((await Promise.all(published)).length).toBeGreaterThan(2);
    });

    it('removes all versions of a content, or those that are not published, also for a job that is under way', async () => {
      await add(store, version('removed', 'kept'), [{ content: 'kept' }]);
      await add(store, version('removed', 'gone', 'first'), [{ content: 'published' }]);
      await store.stage(version('removed', 'gone', 'next'), [chunk({ content: 'staged' }, 0)], embedder);
      await store.remove('removed', 'gone', 'staged');
      expect(await store.staged(version('removed', 'gone', 'next'))).toBe(0);
      expect((await contents(store, 'removed', byVector(0))).sort()).toEqual(['kept', 'published']);
      await store.remove('removed', 'gone');
      expect(await contents(store, 'removed', byVector(0))).toEqual(['kept']);
      expect(await contents(store, 'removed', byWords('published kept'))).toEqual(['kept']);
      await store.stage(version('removed', 'gone', 'next'), [chunk({ content: 'staged' }, 1)], embedder);
      expect(await store.publish(version('removed', 'gone', 'next'))).toBe(false);
      expect(await contents(store, 'removed', byVector(0))).toEqual(['kept']);
    });

    it('keeps knowledge bases apart', async () => {
      await add(store, version('apart-1', 'c'), [{ content: 'mine', metadata: { secret: 1 } }]);
      await add(store, version('apart-2', 'c'), [{ content: 'yours', metadata: { secret: 1 } }]);
      const filter = parseFilter({ secret: 1 });
      expect(await contents(store, 'apart-1', byVector(0, { filter }))).toEqual(['mine']);
      expect(await contents(store, 'apart-2', byWords('mine yours', { filter }))).toEqual(['yours']);
      await store.remove('apart-1', 'c');
      expect(await contents(store, 'apart-2', byVector(0))).toEqual(['yours']);
      expect(await contents(store, 'never', byVector(0))).toEqual([]);
    });

    it('searches words: only chunks that have one, the best first, whatever characters the query has', async () => {
      await add(store, version('words', 'c'), [
        { content: 'The vacation policy grants 25 days. Vacation days can be carried over.' },
        { content: 'A policy about travel.' },
        { content: 'Größe und Café: ΑΘΉΝΑ, Москва' },
        { content: '東京都の天気は晴れです' },
        { content: 'ประเทศไทยมีอากาศร้อน' },
        { content: 'C++ and node-fetch, version v1.2.3' },
        { content: '서울 날씨는 맑음' },
      ]);
      const words = (text: string) => contents(store, 'words', byWords(text));
      expect(await words('what is the VACATION policy?')).toEqual([
        'The vacation policy grants 25 days. Vacation days can be carried over.',
        'A policy about travel.',
      ]);
      expect(await words('grosse CAFE')).toEqual(['Größe und Café: ΑΘΉΝΑ, Москва']);
      expect(await words('αθηνα')).toEqual(['Größe und Café: ΑΘΉΝΑ, Москва']);
      expect(await words('москва')).toEqual(['Größe und Café: ΑΘΉΝΑ, Москва']);
      expect(await words('天気')).toEqual(['東京都の天気は晴れです']);
      expect(await words('ร้อน')).toEqual(['ประเทศไทยมีอากาศร้อน']);
      expect(await words('날씨는')).toEqual(['서울 날씨는 맑음']);
      expect(await words('node fetch')).toEqual(['C++ and node-fetch, version v1.2.3']);
      expect(await words('absent')).toEqual([]);
      for (const hostile of [
        '"',
        "'; DROP TABLE x --",
        'qq NOT (',
        'NEAR(',
        '* ^ -',
        ':*',
        '\\',
        '',
        '\0',
        '\ud800',
      ])
        expect(await words(hostile)).toEqual([]);
      const [first] = await store.search('words', byWords('vacation'));
      expect(first?.similarity).toBeUndefined();
    });

    it('finds the best of many chunks that have the same word', async () => {
      const many = Array.from({ length: 600 }, (_, at) => ({ content: `harbour with more words ${at}` }));
      await add(store, version('many', 'c'), [...many, { content: 'harbour' }]);
      expect(await contents(store, 'many', byWords('harbour', { limit: 1 }))).toEqual(['harbour']);
    });

    it('fuses both lists in a hybrid search, with the similarity of the vector', async () => {
      await add(store, version('hybrid', 'c'), [
        { content: 'apples', vector: towards(0) },
        { content: 'pears and plums', vector: towards(1) },
        { content: 'plums', vector: towards(0, 0.2) },
        { content: 'stones', vector: towards(2) },
      ]);
      const found = await store.search('hybrid', byVector(0, { type: 'hybrid', text: 'plums' }));
      expect(found[0]?.content).toBe('plums');
      expect(found.map(({ similarity = -1 }) => similarity).every((one) => one > 0 && one <= 1)).toBe(true);
      expect(found).toHaveLength(4);
      expect(
        await contents(
          store,
          'hybrid',
          byVector(0, { type: 'hybrid', text: 'pears', limit: 2, similarityThreshold: 0.9 }),
        ),
      ).toEqual(['apples', 'plums']);
    });

    it('changes metadata of a content: merges keys and removes others', async () => {
      await add(store, version('metadata', 'c'), [
        { content: 'first', metadata: { lang: 'en', page: 1 } },
        { content: 'second', metadata: { lang: 'en', page: 2 } },
      ]);
      await store.updateMetadata('metadata', 'c', { lang: undefined, team: 'blue' });
      const team = parseFilter({ team: 'blue' });
      const found = await store.search('metadata', byWords('second', { filter: team }));
      expect(found.map(({ metadata }) => metadata)).toEqual([{ page: 2, team: 'blue' }]);
      const lang = parseFilter({ lang: 'en' });
      expect(await contents(store, 'metadata', byVector(0, { filter: lang }))).toEqual([]);
      expect(await contents(store, 'metadata', byVector(0, { filter: team }))).toHaveLength(2);
    });

    it('refuses vectors of another embedder, by name and by length', async () => {
      await add(store, version('embedders', 'c'), [{ content: 'text' }]);
      const fault = { code: 'embedder_changed', message: expect.stringMatching('runyard knowledge reembed') };
      const longer = byVector(0, { vector: new Float32Array(5).fill(1) });
      await expect(store.search('embedders', longer)).rejects.toMatchObject(fault);
      const other = byVector(0, { embedder: 'test:other', type: 'hybrid' });
      await expect(store.search('embedders', other)).rejects.toMatchObject(fault);
      expect(await contents(store, 'embedders', byWords('text'))).toEqual(['text']);
      const next = version('embedders', 'c', 'next');
      await store.stage(
        next,
        [{ ...chunk({ content: 'text' }, 0), vector: new Float32Array(5).fill(1) }],
        'test:other',
      );
      await store.publish(next);
      expect(await contents(store, 'embedders', { ...longer, embedder: 'test:other' })).toEqual(['text']);
    });

    it('returns texts and metadata unharmed, whatever characters they have', async () => {
      const metadata = {
        'a"b.c$[0]': 'x\0y',
        __proto__x: '\ud800',
        '\u0001': ['\u0001', { '\0': null }],
      };
      await add(store, version('texts', 'c'), [{ content: 'zero \0 half \ud800 mark', metadata }]);
      const [found] = await store.search('texts', byWords('mark', { filter: parseFilter(metadata) }));
      expect(found?.content).toBe('zero \0 half \ud800 mark');
      expect(found?.metadata).toEqual(metadata);
    });

    it('sees what another process publishes and removes', async () => {
      const { another } = opened;
      if (another === undefined) return;
      await add(store, version('shared', 'a'), [{ content: 'a' }]);
      expect(await contents(another, 'shared', byVector(0))).toEqual(['a']);
      await add(store, version('shared', 'b'), [{ content: 'b' }]);
      await store.remove('shared', 'a');
      expect(await contents(another, 'shared', byVector(0))).toEqual(['b']);
      await add(another, version('shared', 'b', 'next'), [{ content: 'c' }]);
      expect(await contents(store, 'shared', byVector(0))).toEqual(['c']);
    });
  });
}

function idOf(found: readonly { id: string; content: string }[], content: unknown): string {
  return found.find((one) => one.content === content)?.id ?? '';
}
