import { expect, test } from 'vitest';
import type { KnowledgeParts } from '../../../src/capabilities/knowledge/base-in-database.js';
import { everyContent, type StoredContent } from '../../../src/capabilities/knowledge/contents/content.js';
import { ContentStore } from '../../../src/capabilities/knowledge/contents/store.js';
import { EmbeddingStore } from '../../../src/capabilities/knowledge/ingestion/embeddings-store.js';
import { ingestionJob } from '../../../src/capabilities/knowledge/ingestion/ingestion-job.js';
import { KnowledgeBase } from '../../../src/capabilities/knowledge/knowledge-base.js';
import { finishRemoval } from '../../../src/capabilities/knowledge/removal.js';
import { UploadStore } from '../../../src/capabilities/knowledge/uploads/upload-store.js';
import type { JobContext } from '../../../src/core/runs/jobs/job.js';
import { knowledge } from '../../../src/index.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';

function content(id: string, given: Partial<StoredContent> = {}): StoredContent {
  return {
    knowledgeId: 'k',
    id,
    name: id,
    description: '',
    type: 'manual',
    size: 3,
    metadata: null,
    provenance: null,
    status: 'processing',
    statusMessage: '',
    digest: 'd',
    request: { from: { kind: 'url', url: 'https://example.com' } },
    parentId: null,
    jobId: `job-${id}`,
    published: false,
    deletedAt: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...given,
  };
}

/** A knowledge base whose jobs do nothing, and whose vector store holds nothing. */
async function emptyBase(database: Database) {
  const removed: string[] = [];
  const started: { ids: string[]; fails: boolean } = { ids: [], fails: false };
  const parts = {
    databaseId: 'd',
    contents: new ContentStore(database),
    uploads: new UploadStore(database),
    vectorStore: { remove: async (_knowledgeId: string, id: string) => void removed.push(id) },
    documents: { readers: [{ id: 'text', types: ['.txt'], chunkers: ['FixedSizeChunker'] }] },
    jobs: {
      async start(_job: unknown, _input: unknown, { jobId }: { jobId: string }) {
        if (started.fails) throw new Error('no database');
        started.ids.push(jobId);
      },
      cancel: async () => true,
    },
  };
  const base = new KnowledgeBase(knowledge({ name: 'K' }), parts as unknown as KnowledgeParts);
  return { base, parts, removed, started, job: ingestionJob(() => base) };
}

forEachDatabase((_dialect, freshPlace) => {
  test('contents are listed, filtered, changed, settled by their own job, and removed', async () => {
    const database = await (await freshPlace()).open();
    const store = new ContentStore(database);
    await store.put(content('b', { metadata: { tenant: 'x', nested: { a: [1, 'ä\u0000'] } } }));
    await store.put(content('a', { name: 'Ärger', metadata: { tenant: 'y' }, createdAt: 2_000 }));
    await store.put(content('c', { knowledgeId: 'other', metadata: { tenant: 'x' } }));
    const list = async (filter = {}, scope: Parameters<typeof store.lists.list>[1] = everyContent) => {
      const order = { by: 'name', direction: 'asc' } as const;
      const { items, total } = await store.lists.list('k', scope, filter, order, { limit: 10, offset: 0 });
      expect(total).toBe(items.length);
      return items.map(({ id }) => id);
    };
    expect(await list()).toEqual(['b', 'a']);
    expect(await list({ search: 'ärg' })).toEqual(['a']);
    expect(await list({ metadata: { nested: { a: [1, 'ä\u0000'] } } })).toEqual(['b']);
    expect(await list({}, { kind: 'bound', values: { tenant: 'y' } })).toEqual(['a']);
    expect(await list({}, { kind: 'none' })).toEqual([]);
    expect(await store.lists.keys('k', everyContent)).toEqual(['nested', 'tenant']);
    expect(await store.lists.keys('k', { kind: 'bound', values: { tenant: 'y' } })).toEqual(['tenant']);

    const b = content('b');
    const embedded = { embedder: 'p:m', dimensions: 3 };
    const done = { status: 'completed', message: '', embedded, size: 7 } as const;
    expect(await store.settle({ ...b, jobId: 'another' }, done)).toBe(false);
    expect(await store.settle(b, done)).toBe(true);
    expect(await store.findAny('k', 'b')).toMatchObject({ status: 'completed', size: 7, published: true });
    expect(await store.embedders('k')).toEqual([{ ...embedded, contents: 1 }]);
    expect(await store.embeddedOtherwise('k', 'p:m', 3, '', 9)).toEqual([]);
    expect((await store.embeddedOtherwise('k', 'p:m', 4, '', 9)).map(({ id }) => id)).toEqual(['b']);
    expect((await store.embeddedOtherwise('k', 'p:n', null, '', 9)).map(({ id }) => id)).toEqual(['b']);

    const changed = { name: 'B', description: 'new', metadata: { only: 1 } };
    expect(await store.update('k', 'b', () => changed)).toMatchObject(changed);
    expect(await store.update('k', 'none', () => changed)).toBeUndefined();
    expect(await store.lists.find('k', everyContent, 'b')).toMatchObject(changed);
    expect((await store.unfinished(5_000, undefined, 9)).map(({ id }) => id)).toEqual(['a', 'c']);
    expect((await store.unfinished(5_000, content('a'), 9)).map(({ id }) => id)).toEqual(['c']);

    expect((await store.markDeleted('k', 'b'))?.id).toBe('b');
    expect(await store.lists.find('k', everyContent, 'b')).toBeUndefined();
    expect(await store.isCurrent('k', 'b', 'job-b')).toBe(false);
    expect(await store.settle(b, done)).toBe(false);
    await store.drop('k', 'b');
    expect(await store.findAny('k', 'b')).toBeUndefined();
    await store.put(content('a', { jobId: 'second', createdAt: 9_000 }));
    expect(await store.findAny('k', 'a')).toMatchObject({ createdAt: 2_000, jobId: 'second' });
  });

  test('changes of one content at the same time are all kept', async () => {
    const place = await freshPlace();
    const stores = [new ContentStore(await place.open()), new ContentStore(await place.open())];
    await stores[0]?.put(content('a'));
    await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        stores[number % 2]?.update('k', 'a', (stored) => ({
          ...stored,
          metadata: { ...stored.metadata, [`key${number}`]: number },
        })),
      ),
    );
    expect(Object.keys((await stores[0]?.findAny('k', 'a'))?.metadata ?? {})).toHaveLength(8);
  });

  test('a removal that ends late leaves what was added again, and a job of an earlier upload leaves no bytes', async () => {
    const { base, parts, removed, job } = await emptyBase(await (await freshPlace()).open());
    const first = await base.add({ name: 'a', from: { text: 'first' } });
    const deleted = await parts.contents.markDeleted(base.id, first.id);
    const again = await base.add({ name: 'a', from: { text: 'again' } });
    expect(removed).toEqual([first.id]);
    await finishRemoval(base, deleted!);
    expect(removed).toEqual([first.id]);
    expect(await parts.contents.findAny(base.id, again.id)).toMatchObject({ jobId: again.jobId });

    const upload = await parts.uploads.write([Buffer.from('of an earlier request')]);
    const input = { knowledgeId: base.id, contentId: again.id, uploadId: upload.uploadId };
    const context = { jobId: first.jobId } as JobContext;
    expect(await job.execute(context, input)).toEqual({ indexed: 0, failed: 0 });
    const bytes = parts.uploads.open(upload)[Symbol.asyncIterator]();
    await expect(bytes.next()).rejects.toThrow('are gone');
  });

  test('a content whose job could not be started keeps its bytes, and is started when it is added again', async () => {
    const { base, parts, started } = await emptyBase(await (await freshPlace()).open());
    const given = async () => {
      const upload = await parts.uploads.write([Buffer.from('bytes')]);
      return { from: { upload, filename: 'a.txt' } };
    };
    started.fails = true;
    const first = await given();
    await expect(base.add(first)).rejects.toThrow('no database');
    started.fails = false;
    const { jobId } = await base.add(await given());
    expect(started.ids).toEqual([jobId]);
    for await (const piece of parts.uploads.open(first.from.upload))
      expect(Buffer.from(piece).toString()).toBe('bytes');
  });

  test('uploads are read as they were written, and vectors are kept by their hash', async () => {
    const database = await (await freshPlace()).open();
    const uploads = new UploadStore(database);
    const bytes = Buffer.alloc(2_500_000, 'abc');
    const upload = await uploads.write([bytes.subarray(0, 7), bytes.subarray(7)]);
    expect(upload.size).toBe(bytes.length);
    const pieces: Uint8Array[] = [];
    for await (const piece of uploads.open(upload)) pieces.push(piece);
    expect([pieces.length, Buffer.concat(pieces).equals(bytes)]).toEqual([3, true]);
    await uploads.remove(upload);
    const removed = uploads.open(upload)[Symbol.asyncIterator]();
    await expect(removed.next()).rejects.toThrow('are gone');

    const embeddings = new EmbeddingStore(database);
    await embeddings.put(new Map([['h', Float32Array.from([0.5, -1, 3])]]));
    expect([...(await embeddings.get(['h', 'none']))]).toEqual([['h', Float32Array.from([0.5, -1, 3])]]);
  });
});
