import { expect, it } from 'vitest';
import { RecallStore } from '../../../src/capabilities/recall/store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { InProcessRecall } from '../../../src/core/runs/in-process-recall.js';
import type { Recall, RecallOwner, RecallQuery } from '../../../src/core/runs/recall.js';
import type { Run } from '../../../src/core/runs/run.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, creation, finished, start } from '../builders.js';

const ada: RecallOwner = { userId: 'ada', kind: 'agent', componentId: 'writer' };
const query: RecallQuery = {
  vector: Float32Array.of(1, 0),
  embedder: 'test:two',
  limit: 3,
  threshold: 0,
  before: 0,
  after: 0,
  except: [],
};

/** A run for each, a second apart, with its vector: the nearer to `near`, the more similar to that of the query. */
const given: readonly (Partial<Run> & { readonly runId: string; readonly near: number })[] = [
  { runId: 'r1', near: 0.2 },
  { runId: 'r2', near: 0.9 },
  { runId: 'r3', near: 0.5 },
  { runId: 'r4', near: 0.8, sessionId: 'second' },
  { runId: 'unlike', near: 0 },
  { runId: 'failed', near: 1, status: 'error' },
  { runId: 'replaced', near: 1, status: 'regenerated' },
  { runId: 'hers', near: 1, userId: 'eve', sessionId: 'hers' },
  { runId: 'other', near: 1, componentId: 'other' },
  { runId: 'team', near: 1, kind: 'team' },
  { runId: 'nobody', near: 1, userId: null, sessionId: 'nobody' },
];

const runsGiven = given.map(({ near: _near, ...more }, position) => {
  const at = start + position * 1000;
  return aRun({ ...finished, userId: 'ada', sessionId: 'first', createdAt: at, updatedAt: at, ...more });
});

async function filled(recall: Recall): Promise<Recall> {
  for (const { runId, near } of given)
    await recall.put(runId, Float32Array.of(near, Math.sqrt(1 - near ** 2)), 'test:two');
  return recall;
}

async function found(recall: Recall, owner: RecallOwner, more: Partial<RecallQuery> = {}) {
  return (await recall.nearest(owner, { ...query, ...more })).map(({ runIds }) => runIds);
}

async function keepsItsPromises(recall: Recall): Promise<void> {
  // the nearest first, and nothing of another user, of another component, of a run that failed or was replaced
  expect(await found(recall, ada)).toEqual([['r2'], ['r4'], ['r3']]);
  expect(await found(recall, ada, { limit: 9 })).toEqual([['r2'], ['r4'], ['r3'], ['r1']]);
  expect(await found(recall, ada, { threshold: 0.6 })).toEqual([['r2'], ['r4']]);
  expect(await found(recall, ada, { except: ['r2'] })).toEqual([['r4'], ['r3'], ['r1']]);
  // with what was said around it in the same session
  expect(await found(recall, ada, { limit: 1, before: 5, after: 1 })).toEqual([['r1', 'r2', 'r3']]);
  expect(await found(recall, { ...ada, sessionId: 'second' })).toEqual([['r4']]);
  expect(await found(recall, { ...ada, userId: 'eve' })).toEqual([['hers']]);
  expect(await found(recall, { ...ada, userId: null })).toEqual([]);
  expect(await found(recall, { ...ada, userId: null, sessionId: 'nobody' })).toEqual([['nobody']]);
  // vectors of another embedder, or of another length, are not compared
  expect(await found(recall, ada, { embedder: 'test:other' })).toEqual([]);
  expect(await found(recall, ada, { vector: Float32Array.of(1, 0, 0) })).toEqual([]);
}

/** More runs than one read returns, all created in the same millisecond; only the oldest by id is near. */
const crowd = Array.from({ length: 300 }, (_, number) =>
  aRun({
    ...finished,
    ...{ runId: `c${String(number).padStart(3, '0')}`, userId: 'cleo', sessionId: 'crowd' },
  }),
);

it('finds exchanges in memory', async () => {
  await keepsItsPromises(await filled(new InProcessRecall(() => runsGiven)));
});

forEachDatabase((_dialect, freshPlace) => {
  it('finds exchanges by their vectors, which are removed with their runs', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    expect(await runs.commit(runsGiven.map((run) => creation(run)))).toEqual([]);
    const recall = await filled(new RecallStore(database));
    await keepsItsPromises(recall);

    expect(await runs.commit(crowd.map((run) => creation(run)))).toEqual([]);
    for (const [number, { runId }] of crowd.entries())
      await recall.put(runId, number === 0 ? query.vector : Float32Array.of(0.1, 1), 'test:two');
    const cleo = { ...ada, userId: 'cleo' };
    const all = await recall.nearest(cleo, { ...query, limit: 500, threshold: 0 });
    expect(all[0]?.runId).toBe('c000');
    expect(new Set(all.map(({ runId }) => runId)).size).toBe(crowd.length);
    expect(all).toHaveLength(crowd.length);

    // a continued run is found by what it says now
    await recall.put('r1', query.vector, 'test:two');
    expect(await found(recall, ada, { limit: 1 })).toEqual([['r1']]);
    await recall.put('gone', query.vector, 'test:two');

    const kept = async () => {
      const rows = await database.query
        .selectFrom('recall_vectors')
        .select('run_id')
        .orderBy('run_id')
        .execute();
      return rows.map((row) => row.run_id);
    };
    await database.query.deleteFrom('sessions').where('session_id', '=', 'crowd').execute();
    expect(await kept()).toEqual(given.map(({ runId }) => runId).sort());
    await database.query.deleteFrom('sessions').where('session_id', '=', 'first').execute();
    expect(await kept()).toEqual(['hers', 'nobody', 'r4']);
    await database.query.deleteFrom('runs').where('run_id', '=', 'r4').execute();
    expect(await kept()).toEqual(['hers', 'nobody']);
  });
});
