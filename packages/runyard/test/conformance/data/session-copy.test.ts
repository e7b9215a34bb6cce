import { expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { SessionStore } from '../../../src/capabilities/sessions/store.js';
import { newId } from '../../../src/core/ids.js';
import type { Run } from '../../../src/core/runs/run.js';
import { forEachDatabase } from '../../support/databases.js';
import { anApproval, aRun, aStep, creation, resting, sessionOf, start } from '../builders.js';

const everyone = { kind: 'all' } as const;
const now = start + 500;

forEachDatabase((_dialect, freshPlace) => {
  async function stores() {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const runsOf = async (sessionId: string): Promise<Run[]> => {
      const rows = await database.query
        .selectFrom('runs')
        .select('run_id')
        .where('session_id', '=', sessionId)
        .orderBy('created_at')
        .orderBy('run_id')
        .execute();
      return (await runs.loadAll(rows.map((row) => row.run_id))).map(({ run }) => run);
    };
    const copy = (sourceSessionId: string, newSessionId: string, beforeRunId?: string) =>
      runs.copySession({ sourceSessionId, newSessionId, now, newRunId: newId, beforeRunId });
    return { database, runs, sessions: new SessionStore(database), runsOf, copy };
  }

  it('copies a session with its state, its summary, and its finished runs with their steps', async () => {
    const { database, runs, sessions, runsOf, copy } = await stores();
    const statuses = ['completed', 'error', 'cancelled', 'regenerated'] as const;
    const finishedRuns = statuses.map((status, index) =>
      aRun({ ...resting, userId: 'ada', status, createdAt: start + index, nextEventIndex: 3, attempt: 2 }),
    );
    const open = (['pending', 'running', 'paused'] as const).map((status) => aRun({ userId: 'ada', status }));
    const [first] = finishedRuns;
    await runs.commit([
      creation(first!, {
        session: sessionOf(first!, { name: 'Plans' }),
        steps: [aStep(first!, 0), aStep(first!, 1)],
        events: { firstIndex: 0, count: 3, payload: 'x' },
        state: { sessionId: 'session-1', set: { 'nul \0': [1] }, remove: [] },
        summary: {
          sessionId: 'session-1',
          summary: 'about plans',
          topics: ['plans'],
          coversUntil: start,
          updatedAt: start,
        },
        approvals: [{ kind: 'record', approval: anApproval(first!) }],
        idempotency: {
          ...{ userId: 'ada', kind: 'agent', componentId: 'writer', key: 'k', runId: first!.runId },
          ...{ payload: 'p', since: 0, now: start },
        },
      }),
      ...[...finishedRuns.slice(1), ...open].map((run) => creation(run, { steps: [aStep(run, 0)] })),
    ]);
    await database.query.updateTable('sessions').set({ metadata: '{"color":"red"}' }).execute();

    expect(await copy('session-1', 'copy')).toBe(4);
    const copies = await runsOf('copy');
    expect(copies).toEqual(
      finishedRuns.map((run) => ({
        ...run,
        runId: expect.any(String),
        sessionId: 'copy',
        nextEventIndex: 0,
        lineage: { forkedFromSessionId: 'session-1', paidAttempt: 2 },
      })),
    );
    const ids = copies.map(({ runId }) => runId);
    expect(new Set([...ids, ...finishedRuns.map(({ runId }) => runId)]).size).toBe(8);
    const steps = (await runs.loadAll(ids)).map((copied) => copied.steps);
    expect(steps[0]).toEqual([0, 1].map((seq) => ({ ...aStep(first!, seq), runId: ids[0] })));
    expect(steps[3]).toEqual([{ ...aStep(finishedRuns[3]!, 0), runId: ids[3] }]);
    expect(await runs.eventBlocks(ids[0]!, 0, 10)).toEqual([]);
    expect(await database.query.selectFrom('approvals').select('run_id').execute()).toHaveLength(1);
    expect(await sessions.find(everyone, 'copy')).toEqual({
      sessionId: 'copy',
      kind: 'agent',
      componentId: 'writer',
      userId: 'ada',
      name: 'Plans',
      metadata: { color: 'red', forked_from_session_id: 'session-1' },
      createdAt: now,
      updatedAt: now,
    });
    expect((await runs.session('copy'))?.state).toEqual({ 'nul \0': [1] });
    expect(await runs.summary('copy')).toEqual(await runs.summary('session-1'));
    expect(await runsOf('session-1')).toHaveLength(7);
  });

  it('copies the runs before a run, without the summary of the whole', async () => {
    const { runs, runsOf, copy } = await stores();
    const finished = [1, 2, 3].map((at) => aRun({ ...resting, status: 'completed', createdAt: start + at }));
    const [first, second, third] = finished;
    const summary = {
      ...{ sessionId: 'session-1', summary: 'all', topics: [] },
      ...{ coversUntil: start + 3, updatedAt: start + 3 },
    };
    for (const run of finished)
      await runs.commit([creation(run, { session: sessionOf(run), ...(run === third && { summary }) })]);
    expect(await copy('session-1', 'copy', third!.runId)).toBe(2);
    expect((await runsOf('copy')).map(({ createdAt }) => createdAt)).toEqual([
      first!.createdAt,
      second!.createdAt,
    ]);
    expect(await runs.summary('copy')).toBeUndefined();
    expect(await copy('session-1', 'empty', first!.runId)).toBe(0);
    expect(await copy('session-1', 'unknown', 'no such run')).toBe(0);
  });

  it('keeps nested runs together, and leaves out those of a run that is not copied', async () => {
    const { runs, runsOf, copy } = await stores();
    const done = { ...resting, status: 'completed' } as const;
    const parent = aRun({ ...done, kind: 'team', createdAt: start + 2 });
    const child = aRun({ ...done, parentRunId: parent.runId, createdAt: start + 1 });
    const grandchild = aRun({ ...done, parentRunId: child.runId, createdAt: start + 3 });
    const paused = aRun({ ...resting, status: 'paused', kind: 'team' });
    const orphan = aRun({ ...done, parentRunId: paused.runId });
    const below = aRun({ ...done, parentRunId: orphan.runId });
    await runs.commit([parent, child, grandchild, paused, orphan, below].map((run) => creation(run)));
    expect(await copy('session-1', 'copy')).toBe(3);
    const [newChild, newParent, newGrandchild] = await runsOf('copy');
    expect(newParent).toMatchObject({ kind: 'team', parentRunId: null });
    expect(newChild!.parentRunId).toBe(newParent!.runId);
    expect(newGrandchild!.parentRunId).toBe(newChild!.runId);
  });

  it('names the first origin of a run and the direct origin of a session, copy after copy', async () => {
    const { runs, sessions, runsOf, copy } = await stores();
    const original = aRun({ ...resting, status: 'completed', createdAt: start });
    const heir = aRun({
      ...resting,
      status: 'error',
      createdAt: start + 1,
      lineage: { regeneratedFrom: original.runId, replaces: original.runId },
    });
    const forked = aRun({
      ...resting,
      status: 'completed',
      createdAt: start + 2,
      lineage: { forkedFromRunId: original.runId, forkedFromMessageIndex: 2, replaces: 'elsewhere' },
    });
    await runs.commit([original, heir, forked].map((run) => creation(run)));
    await copy('session-1', 'copy');
    await copy('copy', 'copy of the copy');
    const forkedFromSessionId = 'session-1';
    const paidAttempt = 1;
    for (const sessionId of ['copy', 'copy of the copy']) {
      const [newOriginal, newHeir, newForked] = await runsOf(sessionId);
      expect(newOriginal!.lineage).toEqual({ forkedFromSessionId, paidAttempt });
      // A run of the copy never replaces one of the session that it was copied from.
      expect(newHeir!.lineage).toEqual({
        forkedFromSessionId,
        paidAttempt,
        regeneratedFrom: original.runId,
        replaces: newOriginal!.runId,
      });
      expect(newForked!.lineage).toEqual({
        forkedFromSessionId,
        paidAttempt,
        forkedFromRunId: original.runId,
        forkedFromMessageIndex: 2,
      });
    }
    expect((await sessions.find(everyone, 'copy of the copy'))?.metadata).toEqual({
      forked_from_session_id: 'copy',
    });
  });

  it('copies nothing of a session without finished runs, or of one that does not exist', async () => {
    const { runs, sessions, copy } = await stores();
    await runs.commit([creation(aRun())]);
    expect(await copy('session-1', 'copy')).toBe(0);
    expect(await copy('nowhere', 'copy')).toBe(0);
    expect(await sessions.find(everyone, 'copy')).toBeUndefined();
  });

  it('copies ten thousand runs, in their order', async () => {
    const { runs, runsOf, copy } = await stores();
    const all = Array.from({ length: 10_000 }, (_, index) =>
      aRun({
        ...resting,
        status: 'completed',
        input: { content: `${index}`, media: [], options: { stream: false } },
      }),
    );
    for (let at = 0; at < all.length; at += 1000) {
      await runs.commit(all.slice(at, at + 1000).map((run) => creation(run, { steps: [aStep(run, 0)] })));
    }
    expect(await copy('session-1', 'copy')).toBe(10_000);
    const copies = await runsOf('copy');
    expect(copies.map(({ input }) => input.content)).toEqual(all.map(({ input }) => input.content));
    expect((await runs.load(copies.at(-1)!.runId))?.steps).toHaveLength(1);
  });

  it('copies a session while its runs are executing, as it was at one moment', async () => {
    const place = await freshPlace();
    const [writer, copier] = [await place.open(), await place.open()].map((one) => new RunStore(one));
    const all = Array.from({ length: 600 }, (_, index) =>
      aRun({ ...resting, status: 'completed', createdAt: start + index }),
    );
    await writer!.commit(all.map((run) => creation(run, { steps: [aStep(run, 0)] })));
    const copying = copier!.copySession({
      sourceSessionId: 'session-1',
      newSessionId: 'copy',
      now,
      newRunId: newId,
    });
    const written = writer!.commit(
      all.map((run) => ({ runId: run.runId, attempt: 1, steps: [aStep(run, 1)] })),
    );
    expect(await copying).toBe(600);
    expect(await written).toEqual([]);
    const filter = { kind: 'agent', componentId: 'writer', sessionId: 'copy' } as const;
    const copies = await copier!.ids(everyone, { ...filter, limit: 1000, offset: 0, order: 'asc' });
    const read = await copier!.loadAll(copies);
    expect(new Set(read.map(({ steps }) => steps.length)).size).toBe(1);
  });
});
