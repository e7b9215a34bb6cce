import { expect, it } from 'vitest';
import { LiveEvalStore } from '../../../src/capabilities/live-evals/store.js';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { silentLog } from '../../../src/core/log.js';
import type { Run } from '../../../src/core/runs/run.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { timeOf } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, creation, finished } from '../builders.js';

const all = { kind: 'all' } as const;
const chosen = (run: Run, maxPerHour = 10) => ({ runId: run.runId, eval: 'quality', maxPerHour });
const good = { scorer: 'judge', score: 8, passed: true, reason: 'fine', judge: { id: 'm', provider: 'p' } };
const plain = { scorer: 'short', score: null, passed: false };

forEachDatabase((_dialect, freshPlace) => {
  async function yard() {
    const place = await freshPlace();
    const database = await place.open();
    const runs = new RunStore(database);
    const now = await timeOf(database);
    const ended = async (...given: Partial<Run>[]) => {
      const made = given.map((one) => aRun({ ...finished, createdAt: now, updatedAt: now, ...one }));
      expect(await runs.commit(made.map((run) => creation(run)))).toEqual([]);
      return made;
    };
    const outcomes = async () => {
      const rows = await database.query.selectFrom('run_evals').select(['run_id', 'outcome']).execute();
      return Object.fromEntries(rows.map((row) => [row.run_id, row.outcome]));
    };
    return { place, database, store: new LiveEvalStore(database), ended, outcomes, now };
  }

  it('notes a run once, never grades one that failed, and shows scores to their owner alone', async () => {
    const { database, store, ended, outcomes, now } = await yard();
    const [mine, failed, running] = await ended(
      { userId: 'ada', sessionId: 'a' },
      { status: 'error', userId: 'ada', sessionId: 'a' },
      { status: 'running' },
    );
    const asked = [mine!, failed!, running!].map((run) => chosen(run));
    expect(await store.choose(asked)).toEqual([asked[0]]);
    // a grading that has not ended is begun again under the same id; nothing else changes
    expect(await store.choose(asked)).toEqual([asked[0]]);
    expect(await outcomes()).toEqual({ [mine!.runId]: 'pending', [failed!.runId]: 'failed' });
    await store.settle({ runId: mine!.runId, eval: 'quality', outcome: 'graded', scores: [good, plain] });
    expect(await store.choose(asked)).toEqual([]);

    const ids = [mine!.runId, failed!.runId];
    const shown = await store.ofRuns(all, ids);
    expect([...shown.keys()]).toEqual([mine!.runId]);
    expect(shown.get(mine!.runId)).toMatchObject([
      { scorer: 'judge', score: 8, passed: true, reason: 'fine', judge: { id: 'm', provider: 'p' } },
      { scorer: 'short', score: null, passed: false, reason: null, judge: null },
    ]);
    expect((await store.ofRuns({ kind: 'user', userId: 'ada' }, ids)).size).toBe(1);
    expect((await store.ofRuns({ kind: 'user', userId: 'bob' }, ids)).size).toBe(0);
    expect((await store.ofRuns({ kind: 'unowned' }, ids)).size).toBe(0);

    // a failed run that was continued since, and then completed
    await database.query
      .updateTable('runs')
      .set({ status: 'completed' })
      .where('run_id', '=', failed!.runId)
      .execute();
    expect(await store.choose([chosen(failed!)])).toEqual([chosen(failed!)]);

    const of = { name: 'quality', kind: 'agent', componentId: 'writer' } as const;
    const [late] = await ended({ sessionId: 'b' });
    const found = (await store.unchosen(of, now - 1, 10)).map(({ runId }) => runId);
    expect(found.sort()).toEqual([failed!.runId, late!.runId].sort());
    expect(await store.unchosen(of, now + 1, 10)).toEqual([]);
  });

  it('bounds what an eval grades in an hour over all processes, and counts the others', async () => {
    const { place, store, ended, outcomes } = await yard();
    const other = new LiveEvalStore(await place.open());
    const runs = await ended(...Array.from({ length: 12 }, () => ({})));
    const asked = runs.map((run) => chosen(run, 5));
    const results = await Promise.all(
      asked.map((one, position) => (position % 2 === 0 ? store : other).choose([one])),
    );
    expect(results.flat()).toHaveLength(5);
    const counted = Object.values(await outcomes());
    expect(counted.filter((outcome) => outcome === 'skipped')).toHaveLength(7);
    expect(await store.choose([{ ...chosen(runs[0]!), eval: 'another' }])).toHaveLength(1);
  });

  it('removes scores with their session, and after the time for which traces are kept', async () => {
    const { database, store, ended, outcomes, now } = await yard();
    const [first, second] = await ended({ sessionId: 'a' }, { sessionId: 'b' });
    for (const run of [first!, second!]) {
      await store.choose([chosen(run)]);
      await store.settle({ runId: run.runId, eval: 'quality', outcome: 'graded', scores: [good] });
    }
    await database.query.deleteFrom('sessions').where('session_id', '=', 'a').execute();
    expect(await outcomes()).toEqual({ [second!.runId]: 'graded' });
    expect((await store.ofRuns(all, [first!.runId, second!.runId])).size).toBe(1);
    // a run that was deleted while it was graded
    await store.settle({ runId: first!.runId, eval: 'quality', outcome: 'graded', scores: [good] });

    const sweep = (days: number) =>
      new RetentionService(database, {
        settings: { eventRetentionHours: 0, traceRetentionDays: 30 },
        timers: { ...systemTimers, now: () => now + days * 86_400_000 },
        log: silentLog,
      }).sweep();
    await sweep(29);
    expect(await outcomes()).toEqual({ [second!.runId]: 'graded' });
    await sweep(31);
    expect(await outcomes()).toEqual({});
    expect(await database.query.selectFrom('run_scores').selectAll().execute()).toEqual([]);
  });
});
