import { describe, expect, test } from 'vitest';
import type { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import type { Run } from '../../../src/core/runs/run.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { aRun, creation } from '../../conformance/builders.js';
import { begin, engineOver, executable, freshStore } from '../harness.js';

const away = new Error('the connection broke');

/** The first commit that creates the run fails; `meanwhile` happens before it is tried again. */
function failOnce(
  store: RunStore,
  runId: string,
  landed: boolean,
  meanwhile: (insert: Run) => Promise<void>,
) {
  const commit = store.commit.bind(store);
  let failed = false;
  store.commit = async (writes) => {
    const insert = writes.find((write) => write.runId === runId)?.insert;
    if (failed || insert === undefined) return commit(writes);
    failed = true;
    if (landed) await commit(writes);
    store.commit = commit;
    await meanwhile(insert);
    throw away;
  };
}

function started(store: RunStore, runId: string) {
  const component = executable('a', async () => 'done');
  const engine = engineOver(store, [component], { isTransient: (error) => error === away });
  return begin(engine, component, { runId });
}

describe('a create whose first try failed', () => {
  test.each([
    ['of another process', (insert: Run) => ({ createdAt: insert.createdAt, leaseOwner: 'another' })],
    [
      'of another moment',
      (insert: Run) => ({ createdAt: insert.createdAt - 1, leaseOwner: insert.leaseOwner }),
    ],
  ])('is refused when its id was taken in between by a run %s', async (_whose, taken) => {
    const store = await freshStore();
    failOnce(store, 'chosen', false, async (insert) => {
      const other = aRun({ ...taken(insert), runId: 'chosen', sessionId: 'other', componentId: 'b' });
      expect(await store.commit([creation(other)])).toEqual([]);
    });
    await expect(started(store, 'chosen')).rejects.toMatchObject({ code: 'run_exists' });
    expect((await store.load('chosen'))?.run.componentId).toBe('b');
  });

  test('is refused when its id was taken in between by another request to the same process in the same moment', async () => {
    const store = await freshStore();
    const component = executable('a', async () => 'done');
    const timers = { ...systemTimers, now: () => 1_000 };
    const engine = engineOver(store, [component], { isTransient: (error) => error === away, timers });
    const commit = store.commit.bind(store);
    let creations = 0;
    store.commit = async (writes) => {
      if (writes.some(({ insert }) => insert) && ++creations === 2) throw away;
      return commit(writes);
    };
    const requests = ['one', 'other'].map((content) =>
      begin(engine, component, {
        runId: 'chosen',
        input: { content, media: [], options: { stream: false } },
      }),
    );
    const [one, other] = await Promise.allSettled(requests);
    expect(one).toMatchObject({ status: 'fulfilled' });
    expect(other).toMatchObject({ status: 'rejected', reason: { code: 'run_exists' } });
    expect(creations).toBe(3);
  });

  test('continues when the try had succeeded after all', async () => {
    const store = await freshStore();
    failOnce(store, 'chosen', true, async () => {});
    const { run } = await (await started(store, 'chosen')).ended;
    expect(run).toMatchObject({ runId: 'chosen', status: 'completed' });
  });
});
