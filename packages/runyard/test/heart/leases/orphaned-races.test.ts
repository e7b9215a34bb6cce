import { expect, test } from 'vitest';
import { OrphanStore } from '../../../src/capabilities/runs/storage/orphan-store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { standIn } from '../../../src/core/components/stand-in.js';
import { silentLog } from '../../../src/core/log.js';
import type { OrphanJournal } from '../../../src/core/runs/resume/ending-executable.js';
import { freshSqlite } from '../../support/databases.js';
import { begin, engineOver, executable, gate } from '../harness.js';

async function freshOrphans() {
  const database = await (await freshSqlite()).open();
  const errors: string[] = [];
  const log = { ...silentLog, error: (_facts: unknown, text: string) => void errors.push(text) };
  const store = new RunStore(database);
  const without = (journal: OrphanJournal) =>
    engineOver(store, [], { log, orphans: { journal, components: () => [], standIn, endAfterMs: 1 } });
  return { store, orphans: new OrphanStore(database), errors, without };
}

test('of two processes that end the same overdue run one does, and the other has nothing to report', async () => {
  const { store, orphans, errors, without } = await freshOrphans();
  const removed = executable('removed', (context) =>
    context.wait({ key: 'q', kind: 'question', data: {}, dueAt: 1 }),
  );
  const { runId, ended } = await begin(engineOver(store, [removed]), removed);
  expect((await ended).run.status).toBe('paused');
  await expect
    .poll(async () => (await orphans.orphaned([], (await store.leases.now()) - 1, 1)).length)
    .toBe(1);
  // both have found it before either ends it
  const both = gate();
  let found = 0;
  const journal: OrphanJournal = {
    cancellations: async () => [],
    orphaned: async (...query) => {
      const runs = await orphans.orphaned(...query);
      found += 1;
      if (found === 2) both.open();
      if (found <= 2) await both.promise;
      return runs;
    },
  };
  await Promise.all([without(journal).recover(), without(journal).recover()]);
  expect((await store.load(runId))?.run).toMatchObject({
    status: 'error',
    attempt: 2,
    result: { error: { type: 'component_not_registered' } },
  });
  expect(errors).toEqual([]);
});

test('a look ends although runs are found that another process has', async () => {
  const { store, orphans, errors, without } = await freshOrphans();
  const open = gate();
  const held = executable('held', () => open.promise);
  const handle = await begin(engineOver(store, [held]), held, { background: true });
  const { run } = (await store.load(handle.runId))!;
  let looks = 0;
  const journal: OrphanJournal = {
    cancellations: (...query) => orphans.cancellations(...query),
    orphaned: async (_components, _before, limit) => {
      looks += 1;
      if (looks > 3) throw new Error('it does not end');
      return Array.from({ length: limit }, () => run);
    },
  };
  await without(journal).recover();
  expect(looks).toBe(1);
  expect(errors).toEqual([]);
  open.open();
  expect((await handle.ended).run.status).toBe('completed');
});

test('a cancellation by a caller who cannot see the run does not end it', async () => {
  const { store, orphans, without } = await freshOrphans();
  const asking = executable('removed', (context) => context.wait({ key: 'q', kind: 'question', data: {} }));
  const { runId, ended } = await begin(engineOver(store, [asking]), asking);
  await ended;
  const wish = {
    runId,
    kind: 'agent',
    componentId: 'removed',
    sessionId: null,
    reason: 'no',
    requestedAt: 1,
  };
  const wishOf = (userId: string | null): OrphanJournal => ({
    cancellations: async () => [{ ...wish, userId } as never],
    orphaned: (...query) => orphans.orphaned(...query),
  });
  await without(wishOf('stranger')).recover();
  expect((await store.load(runId))?.run.status).toBe('paused');
  await without(wishOf(null)).recover();
  expect((await store.load(runId))?.run.status).toBe('cancelled');
});
