import { expect, onTestFinished, test, vi } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { DatabaseTraces } from '../../../src/capabilities/traces/database-service.js';
import { TracesService } from '../../../src/capabilities/traces/service.js';
import type { Run } from '../../../src/core/runs/run.js';
import { anonymousCaller, type Caller } from '../../../src/platform/auth/caller.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';
import { recordSql } from '../../support/recorded-sql.js';
import { aRun, aStep, creation, finished, progress, start } from '../builders.js';

const ada: Caller = { ...anonymousCaller, userId: 'ada', scope: { kind: 'user', userId: 'ada' } };
const page = { page: 1, limit: 100 };

/** The rules without HTTP, and how often journals were read for them. */
function tracesIn(database: Database) {
  const runs = new RunStore(database, { traces: true });
  const reads: number[] = [];
  const journal = {
    loadAll: (runIds: readonly string[]) => {
      reads.push(runIds.length);
      return runs.loadAll(runIds);
    },
  };
  const traces = new DatabaseTraces(database, journal);
  const service = new TracesService({
    spaces: { choose: async () => ({ traces }) },
    components: { shownOf: async () => undefined },
    settings: { traceContent: 'full', traceRedact: [] },
    prices: {},
  });
  return { runs, service, reads, journal };
}

async function allOf<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

async function record(runs: RunStore, given: Partial<Run>): Promise<Run> {
  const run = aRun(given);
  const steps = [
    aStep(run, 0, {
      key: 'context',
      kind: 'context',
      output: { system: null, user: 'hi', history: [] },
    }),
    aStep(run, 1, {
      key: 'model:0',
      output: {
        content: 'answer',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        finishReason: 'stop',
        timeToFirstToken: 0,
      },
    }),
    aStep(run, 2, { key: 'tool:0:0', kind: 'tool', status: 'error', output: null, error: { message: 'no' } }),
    // a step that came with a copy was paid for, and traced, elsewhere
    aStep(run, 3, { key: 'model:9', attempt: 0 }),
  ];
  expect(await runs.commit([creation(run, { steps })])).toEqual([]);
  expect(await runs.commit([progress(run, { ...finished, updatedAt: run.createdAt + 50 })])).toEqual([]);
  return run;
}

/** A run whose tree is put together in several pieces. */
async function recordLong(runs: RunStore, given: Partial<Run> = {}): Promise<void> {
  const run = aRun(given);
  const asked = { system: null, user: 'hi', history: [] };
  const steps = [aStep(run, 0, { key: 'context', kind: 'context', output: asked })];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  for (let turn = 0; turn < 40; turn += 1) {
    const output = { content: 'x'.repeat(5_000), usage, finishReason: 'stop', timeToFirstToken: 0 };
    steps.push(aStep(run, turn + 1, { key: `model:${turn}`, output }));
  }
  expect(await runs.commit([creation(run, { steps })])).toEqual([]);
}

forEachDatabase((_dialect, freshPlace) => {
  test('T6: a list reads no journal, and a search reads those of many runs together', async () => {
    const { runs, service, reads } = tracesIn(await (await freshPlace()).open());
    for (let index = 0; index < 45; index += 1) await record(runs, { createdAt: start + index });
    const list = await service.list(anonymousCaller, undefined, {}, page);
    expect(list.total).toBe(45);
    const [first] = await allOf(list.entries);
    expect(first).toMatchObject({ input: 'hello', total_spans: 3, error_count: 1, duration: '50ms' });
    expect(reads).toEqual([]);
    const found = await service.search(anonymousCaller, undefined, null, page);
    expect(found.items).toHaveLength(45);
    expect(reads).toEqual([20, 20, 5]);
    for (const detail of found.items) expect(detail).toMatchObject({ total_spans: 3, error_count: 1 });
  });

  test('the tree of a long run is put together a piece at a time', async () => {
    const { runs, service } = tracesIn(await (await freshPlace()).open());
    await recordLong(runs);
    let turns = 0;
    let isOver = false;
    const others = (async () => {
      for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    })();
    const [summary] = await allOf((await service.list(anonymousCaller, undefined, {}, page)).entries);
    const before = turns;
    const { tree } = await service.get(anonymousCaller, undefined, summary!.trace_id);
    const after = turns;
    isOver = true;
    await others;
    expect(after - before).toBeGreaterThan(10);
    expect(tree[0]!.spans).toHaveLength(40);
    expect(tree[0]!.spans![39]!.input!.length).toBeGreaterThan(195_000);
    expect(tree[0]!.metadata).toMatchObject({ total_input_tokens: 40 });
  });

  test('a search fails when reading fails while trees are built, and leaves no rejection unhandled', async () => {
    const { runs, service, journal } = tracesIn(await (await freshPlace()).open());
    for (let index = 0; index < 20; index += 1) await record(runs, { createdAt: start + index });
    await recordLong(runs, { createdAt: start + 20 });
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const { loadAll } = journal;
    const reads = vi.spyOn(journal, 'loadAll').mockImplementationOnce(loadAll);
    reads.mockRejectedValueOnce(new Error('The connection is lost.'));
    await expect(service.search(anonymousCaller, undefined, null, page)).rejects.toThrow('is lost');
    await new Promise((resolve) => setImmediate(resolve));
    expect(reads).toHaveBeenCalledTimes(2);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test('a list of everything is read as it is taken, and lets others have their turn', async () => {
    const database = await (await freshPlace()).open();
    const { runs, service } = tracesIn(database);
    const many = Array.from({ length: 1250 }, (_, index) => aRun({ createdAt: start + index }));
    expect(await runs.commit(many.map((run) => creation(run)))).toEqual([]);
    const sent = recordSql(database);
    const reads = (table: string) => sent().filter(({ sql }) => sql.includes(`from "${table}"`)).length;
    let turns = 0;
    let isOver = false;
    const others = (async () => {
      for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    })();
    const list = await service.list(anonymousCaller, undefined, {}, { page: 1, limit: 1_000_000 });
    // the narrow rows, piece by piece, without the content of the runs
    expect(turns).toBeGreaterThanOrEqual(2);
    expect(reads('runs')).toBe(0);
    const entries = list.entries[Symbol.asyncIterator]();
    await entries.next();
    expect(reads('runs')).toBe(1);
    const before = turns;
    const rest = await allOf({ [Symbol.asyncIterator]: () => entries });
    isOver = true;
    await others;
    expect(turns - before).toBeGreaterThanOrEqual(12);
    expect(rest).toHaveLength(1249);
    expect(list.total).toBe(1250);
  });

  test('a caller who sees only their own sees their part of a shared trace, and no other', async () => {
    const { runs, service } = tracesIn(await (await freshPlace()).open());
    const traceId = 'ab'.repeat(16);
    const traceParent = `00-${traceId}-${'cd'.repeat(8)}-01`;
    const of = (userId: string | null, sessionId: string, createdAt: number) =>
      record(runs, { userId, sessionId, createdAt, traceParent });
    await of('bob', 'b', start);
    const own = await of('ada', 'a', start + 10);
    await of(null, 'n', start + 20);
    const everything = await service.get(anonymousCaller, undefined, traceId);
    expect(everything.tree).toHaveLength(3);
    expect(everything).toMatchObject({ user_id: 'bob', total_spans: 9, duration: '70ms' });
    const seen = await service.get(ada, undefined, traceId);
    expect(seen).toMatchObject({ run_id: own.runId, user_id: 'ada', total_spans: 3 });
    expect(seen.tree).toHaveLength(1);
    const foreign = everything.tree[0]?.id ?? '';
    await expect(service.span(ada, undefined, { traceId, spanId: foreign })).rejects.toMatchObject({
      status: 404,
    });
    const listed = await service.list(ada, undefined, { user_id: 'bob' }, page);
    expect(await allOf(listed.entries)).toMatchObject([{ user_id: 'ada' }]);
    expect((await service.sessions(ada, undefined, { user_id: 'bob' }, page)).items).toMatchObject([
      { sessionId: 'a' },
    ]);
    const eve: Caller = { ...ada, userId: 'eve', scope: { kind: 'user', userId: 'eve' } };
    await expect(service.get(eve, undefined, traceId)).rejects.toMatchObject({ code: 'trace_not_found' });
    expect((await service.search(eve, undefined, null, page)).total).toBe(0);
  });
});
