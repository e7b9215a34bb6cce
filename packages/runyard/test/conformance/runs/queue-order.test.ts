import { expect, it, onTestFinished, vi } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { agingMs } from '../../../src/core/collections/fair-queue.js';
import type { Priority } from '../../../src/core/runs/leases/priority.js';
import type { Run } from '../../../src/core/runs/run.js';
import { statement } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';
import { openExplainer, recordSql } from '../../support/recorded-sql.js';
import { aRun, creation, start } from '../builders.js';
import { forEachJournal } from '../journals.js';

let made = 0;

/** A run that waits for a process. */
function queued(userId: string | null, given: Partial<Run> = {}, priority?: Priority): Run {
  made += 1;
  return aRun({
    userId,
    sessionId: `session of ${userId}`,
    status: 'pending',
    attempt: 0,
    leaseOwner: null,
    leaseExpiresAt: null,
    updatedAt: Date.now(),
    createdAt: start + made,
    input: { content: '', media: [], options: { stream: false, ...(priority && { priority }) } },
    ...given,
  });
}

const ids = (runs: readonly Run[]) => runs.map(({ runId }) => runId);
const several = <T>(count: number, make: () => T) => Array.from({ length: count }, make);

forEachJournal((aStore) => {
  it('lists the run of a user before the many that another user queued earlier', async () => {
    const store = await aStore();
    const ada = several(300, () => queued('ada'));
    await store.commit(ada.map((run) => creation(run)));
    const bob = queued('bob');
    await store.commit([creation(bob)]);
    expect(ids(await store.queue.waiting(3, 0))).toEqual(ids([ada[0]!, bob, ada[1]!]));
    expect(ids(await store.queue.waiting(2, 1))).toEqual(ids([bob, ada[1]!]));
    // one of hers is in execution, and he has none
    const [first] = ada;
    const claim = { runId: first!.runId, attempt: 0, owner: 'process', leaseMs: 60_000, indexGap: 0 };
    await store.leases.claim(claim);
    expect(ids(await store.queue.waiting(2, 0))).toEqual(ids([bob, ada[1]!]));
  });

  it('gives the components of a user turns, also that of nobody in particular', async () => {
    const store = await aStore();
    const writer = several(300, () => queued(null));
    await store.commit(writer.map((run) => creation(run)));
    const editor = queued(null, { componentId: 'editor' });
    await store.commit([creation(editor)]);
    expect(ids(await store.queue.waiting(3, 0))).toEqual(ids([writer[0]!, editor, writer[1]!]));
    expect(ids(await store.queue.waiting(2, 0, ['agent editor']))).toEqual(ids([editor]));
  });

  it('lists urgent runs first', async () => {
    const store = await aStore();
    const low = queued('ada', {}, 'low');
    const normal = queued('ada');
    const high = queued('ada', {}, 'high');
    await store.commit([low, normal, high].map((run) => creation(run)));
    expect(ids(await store.queue.waiting(10, 0))).toEqual(ids([high, normal, low]));
    expect((await store.load(low.runId))?.run.input.options.priority).toBe('low');
  });

  it('puts a run that is released, or that continues, behind no run of another user', async () => {
    const store = await aStore();
    const held = aRun({ userId: 'bob', sessionId: 'hers', leaseOwner: 'process', createdAt: start + 1e6 });
    await store.commit([creation(held, { leaseMs: 60_000 })]);
    const ada = several(300, () => queued('ada'));
    await store.commit(ada.map((run) => creation(run)));
    await store.leases.release('process');
    expect(ids(await store.queue.waiting(2, 0))).toEqual(ids([ada[0]!, held]));
    const paused = aRun({
      userId: 'eve',
      sessionId: 'eves',
      status: 'paused',
      createdAt: start + 2e6,
      updatedAt: Date.now(),
    });
    await store.commit([creation({ ...paused, leaseOwner: null, leaseExpiresAt: null })]);
    const { result, nextEventIndex, updatedAt, wakeAt, definition, askers } = paused;
    const waits = { status: 'running', leaseOwner: null, leaseExpiresAt: null } as const;
    const update = { ...waits, result, nextEventIndex, updatedAt, wakeAt, definition, askers };
    const claims = { attempt: 1, status: 'paused', run: paused } as const;
    await store.commit([{ runId: paused.runId, attempt: 2, update, claims, steps: [] }]);
    expect(ids(await store.queue.waiting(3, 0))).toEqual(ids([ada[0]!, held, paused]));
  });
});

forEachDatabase((dialect, freshPlace) => {
  it('lets a run of low priority wait no longer than its age allows', async () => {
    const database = await (await freshPlace()).open();
    const store = new RunStore(database);
    const low = queued('ada', {}, 'low');
    const high = several(50, () => queued('ada', {}, 'high'));
    await store.commit([low, ...high].map((run) => creation(run)));
    expect(ids(await store.queue.waiting(1, 0))).toEqual(ids([high[0]!]));
    await database.change(statement('aged', 'UPDATE runs SET updated_at = updated_at - ? WHERE run_id = ?'), [
      2 * agingMs,
      low.runId,
    ]);
    expect(ids(await store.queue.waiting(1, 0))).toEqual(ids([low]));
  });

  it('reads as many rows as it chooses from, however many wait, and finds a turn by an index', async () => {
    const place = await freshPlace();
    const database = await place.open();
    const store = new RunStore(database);
    const runs = several(50, () => queued('ada'));
    await store.commit(runs.map((run) => creation(run)));
    const learn = () => database.change(statement('learned', 'ANALYZE runs'), []);
    // PostgreSQL may have looked when another test had left the table empty, and any plan suits an empty one. Of a
    // single row it does not learn either that many have the same component.
    if (dialect === 'postgres') await learn();
    const copy = (index: string) => `INSERT INTO runs (run_id, kind, component_id, session_id, user_id, input,
        created_at, status, attempt, next_event_index, updated_at, askers, queue_turn)
      SELECT run_id || '-' || ${index}, kind, component_id, session_id, user_id, input,
        created_at, status, attempt, next_event_index, updated_at, askers, ${index} FROM runs, `;
    await database.change(
      {
        name: 'many',
        sqlite: `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) ${copy('i')} n`,
        postgres: `${copy('i')} generate_series(1, 400) AS n (i)`,
      },
      [],
    );
    const held = aRun({ leaseOwner: 'process' });
    await store.commit([creation(held, { leaseMs: 60_000 })]);
    const sent = recordSql(database);
    onTestFinished(() => void vi.restoreAllMocks());
    await store.queue.waiting(32, 0, ['agent writer']);
    await store.queue.waiting(1, 0);
    const windows = sent().filter(({ sql }) => sql.includes('level_'));
    await store.leases.expired(10, 0);
    await store.leases.owners();
    const ofLeases = sent().filter(({ sql }) => sql.includes('lease_expires_at'));
    const explainer = await openExplainer(place);
    onTestFinished(() => explainer.close());
    const turns = `SELECT ahead.queue_turn + 1 FROM runs AS ahead
      WHERE ahead.status IN ('pending', 'running') AND coalesce(ahead.lease_expires_at, 0) = 0
        AND ahead.priority = 1 AND coalesce(ahead.user_id, '') = 'ada' AND ahead.kind = 'agent'
        AND ahead.component_id = 'writer' AND ahead.queue_turn >= 0 ORDER BY ahead.queue_turn DESC LIMIT 1`;
    const check = async () => {
      expect(windows).toHaveLength(2);
      for (const window of windows) {
        const plan = (await explainer.planOf(window)).join('\n');
        expect(plan.match(/runs_waiting\b/g), plan).toHaveLength(3);
        if (dialect === 'sqlite') expect(plan).not.toMatch(/SCAN runs\b(?! USING)|TEMP B-TREE/);
        else expect(plan).not.toMatch(/Sort|Seq Scan/);
      }
      expect((await explainer.planOf({ sql: turns, parameters: [] })).join('\n')).toMatch(
        /runs_waiting_turns/,
      );
      expect(ofLeases).toHaveLength(2);
      for (const one of ofLeases) expect((await explainer.planOf(one)).join('\n')).toMatch(/runs_leased/);
    };
    await check();
    // what the database learns about its rows, by itself or when it is asked, changes nothing
    await learn();
    await check();
    const [next] = await store.queue.waiting(1, 0);
    expect(next?.runId).toBe(runs[0]?.runId);
  });
});
