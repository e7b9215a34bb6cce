import { expect, it } from 'vitest';
import { migrations } from '../../../src/capabilities/capabilities.js';
import { SessionRunStore } from '../../../src/capabilities/runs/storage/session-run-store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { searchNameOf } from '../../../src/capabilities/sessions/search-name.js';
import type { Run } from '../../../src/core/runs/run.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { migrate } from '../../../src/platform/storage/migrations/migrate.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, creation, progress, sessionOf, start } from '../builders.js';

const everything = { created: { from: 0, until: Number.MAX_SAFE_INTEGER }, offset: 0, limit: 1_000 };

async function numbers(database: Database): Promise<Map<string, number>> {
  const rows = await database.query.selectFrom('runs').select(['run_id', 'session_seq']).execute();
  return new Map(rows.map((row) => [row.run_id, row.session_seq]));
}

forEachDatabase((_dialect, freshPlace) => {
  it('orders the runs of a session as they are stored, whatever their times', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const sessionRuns = new SessionRunStore(database);
    const all = [7_200_000, 0, 3_600_000, -1].map((ms) =>
      aRun({ createdAt: start + ms, status: 'completed' }),
    );
    for (const run of all) await runs.commit([creation(run)]);
    const ids = all.map(({ runId }) => runId);
    expect(await sessionRuns.ids('session-1', { ...everything, order: 'asc' })).toEqual(ids);
    expect(await sessionRuns.ids('session-1', { ...everything, order: 'desc' })).toEqual(ids.toReversed());
    expect(await sessionRuns.lastIds('session-1', 2)).toEqual(ids.slice(2));
    expect((await sessionRuns.first('session-1', 'agent', 'writer'))?.runId).toBe(ids[0]);
    const latest = { sessionIds: ['session-1'], componentId: 'writer', count: 3 };
    const shown = (await runs.latestOfSessions({ kind: 'all' }, latest)).get('session-1');
    expect(shown?.map(({ runId }) => runId)).toEqual(ids.slice(1));
  });

  it('numbers the runs of a batch in their order, in new sessions and in known ones', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    await runs.commit([creation(aRun({ sessionId: 'known' }))]);
    const batch = ['known', 'new', 'known', 'new', 'known'].map((sessionId) => aRun({ sessionId }));
    const reversed = batch.map((run, index) => ({ ...run, runId: `${9 - index}${run.runId.slice(1)}` }));
    await runs.commit(
      reversed.map((run) =>
        creation(run, { session: sessionOf(run, { existing: run.sessionId === 'known' }) }),
      ),
    );
    const given = await numbers(database);
    expect(reversed.map(({ runId }) => given.get(runId))).toEqual([2, 1, 3, 2, 4]);
  });

  it('a run that names its session later is not numbered again', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const all = [aRun(), aRun(), aRun()];
    const [first, second, third] = all as [Run, Run, Run];
    const unnamed = (run: Run) => creation(run, { session: sessionOf(run, { name: null }) });
    const naming = (name: string) =>
      progress(first, {}, { session: sessionOf(first, { name, existing: true }) });
    await runs.commit([unnamed(first)]);
    // together with the first write of another run of the session, which may make it
    expect(await runs.commit([naming('Ünïque'), unnamed(second)])).toEqual([]);
    expect(await runs.commit([naming('too late')])).toEqual([]);
    await runs.commit([creation(third)]);
    const row = await database.query.selectFrom('sessions').select(['name', 'search_name']).execute();
    expect(row).toEqual([{ name: 'Ünïque', search_name: searchNameOf('Ünïque') }]);
    const given = await numbers(database);
    expect(all.map(({ runId }) => given.get(runId))).toEqual([1, 2, 3]);
  });

  it('gives every run of a session its own number when several processes store them at once', async () => {
    const place = await freshPlace();
    const databases = [await place.open(), await place.open(), await place.open()];
    const stores = databases.map((database) => new RunStore(database));
    const batches = Array.from({ length: 30 }, () => [aRun(), aRun(), aRun({ sessionId: 'session-2' })]);
    await Promise.all(
      batches.map((batch, index) => stores[index % 3]!.commit(batch.map((run) => creation(run)))),
    );
    const given = await numbers(databases[0]!);
    for (const sessionId of ['session-1', 'session-2']) {
      const inSession = batches.flat().filter((run) => run.sessionId === sessionId);
      const sorted = inSession.map(({ runId }) => given.get(runId)!).sort((left, right) => left - right);
      expect(sorted).toEqual(inSession.map((_, index) => index + 1));
    }
    for (const [first, second] of batches)
      expect(given.get(first!.runId)!).toBeLessThan(given.get(second!.runId)!);
  });

  it('keeps the order in the copy of a session, and adds new runs at the end', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const all = [2, 0, 1].map((ms) =>
      aRun({ createdAt: start + ms, status: 'completed', input: said(`${ms}`) }),
    );
    await runs.commit(all.map((run) => creation(run)));
    let copies = 0;
    await runs.copySession({
      sourceSessionId: 'session-1',
      newSessionId: 'copy',
      now: start,
      newRunId: () => `${9 - copies++}`,
    });
    const next = aRun({ sessionId: 'copy', createdAt: start - 1, status: 'completed', input: said('next') });
    await runs.commit([creation(next)]);
    const history = await runs.history({
      sessionId: 'copy',
      kind: 'agent',
      componentId: 'writer',
      runId: 'not yet stored',
      count: 10,
    });
    expect(history.map(({ run }) => run.input.content)).toEqual(['2', '0', '1', 'next']);
  });

  it('numbers the runs that were there before by their times', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const all = [2, 0, 1].map((ms) => aRun({ createdAt: start + ms, status: 'completed' }));
    await runs.commit([...all, aRun({ sessionId: 'session-2' })].map((run) => creation(run)));
    const before = migrations.find(({ name }) => name === 'session-order')!.version - 1;
    for (const { error } of await migrate(database, { to: before })) if (error !== undefined) throw error;
    for (const { error } of await migrate(database)) if (error !== undefined) throw error;
    const given = await numbers(database);
    expect(all.map(({ runId }) => given.get(runId))).toEqual([3, 1, 2]);
    const next = aRun({ createdAt: start - 1 });
    await runs.commit([creation(next)]);
    expect((await numbers(database)).get(next.runId)).toBe(4);
  });
});

function said(content: string) {
  return { content, media: [], options: { stream: false } };
}
