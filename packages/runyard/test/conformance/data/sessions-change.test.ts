import { expect, it } from 'vitest';
import { SessionRunStore } from '../../../src/capabilities/runs/storage/session-run-store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import type { NewSession } from '../../../src/capabilities/sessions/change-store.js';
import { DatabaseSessions } from '../../../src/capabilities/sessions/database-service.js';
import { forEachDatabase } from '../../support/databases.js';
import {
  anApproval,
  aRun,
  aStep,
  creation,
  finished,
  progress,
  resting,
  sessionOf,
  start,
} from '../builders.js';

const everyone = { kind: 'all' } as const;

forEachDatabase((_dialect, freshPlace) => {
  async function stores() {
    const database = await (await freshPlace()).open();
    const sessions = new DatabaseSessions(database);
    const record = async (sessionId: string) => (await sessions.records([sessionId]))[0];
    return {
      database,
      sessions,
      record,
      runs: new RunStore(database),
      ofSessions: new SessionRunStore(database),
    };
  }

  const empty: NewSession = {
    ...{ sessionId: 's', kind: 'agent' as const, componentId: '', userId: null, name: null, shownName: null },
    ...{ state: {}, metadata: null, now: start },
  };

  it('gives a session without name and component those of its first run, once', async () => {
    const { sessions, runs, record } = await stores();
    await sessions.create({ ...empty, state: { a: 1 } });
    const first = aRun({ sessionId: 's', kind: 'team', componentId: 'desk', createdAt: start + 5 });
    const second = aRun({ sessionId: 's', createdAt: start + 6 });
    for (const [run, name] of [
      [first, 'First'],
      [second, 'Second'],
    ] as const)
      expect(
        await runs.commit([creation(run, { session: sessionOf(run, { name, existing: true }) })]),
      ).toEqual([]);
    expect(await record('s')).toMatchObject({
      ...{ kind: 'team', componentId: 'desk', name: 'First', state: { a: 1 } },
      ...{ createdAt: start, updatedAt: start + 6 },
    });
    const everywhere = { offset: 0, limit: 9 };
    const newest = { by: 'created_at', direction: 'desc' } as const;
    expect(await sessions.ids(everyone, { name: 'first' }, newest, everywhere)).toEqual(['s']);
    expect(await sessions.ids(everyone, { name: 'second' }, newest, everywhere)).toEqual([]);
  });

  it('does not make a session again that was removed while a run of it was on its way', async () => {
    const { sessions, runs, ofSessions, record } = await stores();
    await sessions.create(empty);
    const stored = aRun({ sessionId: 's' });
    await runs.commit([creation(stored)]);
    await ofSessions.remove(everyone, ['s'], start);
    const late = aRun({ sessionId: 's' });
    const other = aRun({ sessionId: 'other' });
    const refused = await runs.commit([
      creation(late, {
        session: sessionOf(late, { existing: true }),
        state: { sessionId: 's', set: { a: 1 }, remove: [] },
      }),
      progress(stored, finished, { steps: [aStep(stored, 0)] }),
      creation(other),
    ]);
    expect(refused.map(({ runId }) => runId).sort()).toEqual([late.runId, stored.runId].sort());
    expect(await record('s')).toBeUndefined();
    expect(await record('other')).toBeDefined();
  });

  it('replaces state, metadata and summary as wholes, and leaves the other fields', async () => {
    const { sessions, runs, record } = await stores();
    const state = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`key ${index}`, index]));
    await sessions.create({ ...empty, state, metadata: { m: 1 } });
    expect((await record('s'))?.state).toEqual(state);
    const summary = { summary: 'by hand', topics: ['t'], updatedAt: start, coversUntil: start + 100 };
    const odd = JSON.parse('{"__proto__":1,"nul \\u0000":[null]}');
    expect(await sessions.change(everyone, 's', { state: odd, summary, now: start + 100 })).toBe(true);
    expect(await record('s')).toMatchObject({ metadata: { m: 1 }, summary, updatedAt: start + 100 });
    expect(Object.entries((await record('s'))!.state).sort()).toEqual(Object.entries(odd).sort());
    const run = aRun({ sessionId: 's', createdAt: start + 50 });
    const late = { ...summary, sessionId: 's', summary: 'late', coversUntil: start + 50 };
    await runs.commit([creation(run, { summary: late })]);
    expect((await record('s'))?.summary?.summary).toBe('by hand');
    expect((await record('s'))?.updatedAt).toBe(start + 100);
  });

  it('changes and removes within the scope only', async () => {
    const { sessions, ofSessions, record } = await stores();
    await sessions.create({ ...empty, userId: 'ada' });
    await sessions.create({ ...empty, sessionId: 'nobody' });
    const bob = { kind: 'user', userId: 'bob' } as const;
    expect(await sessions.change(bob, 's', { name: 'mine', state: {}, now: start })).toBe(false);
    await ofSessions.remove(bob, ['s', 'nobody'], start);
    expect(await record('s')).toMatchObject({ name: null });
    expect(await record('nobody')).toBeDefined();
    await ofSessions.remove({ kind: 'user', userId: 'ada' }, ['s', 'nobody', 'unknown'], start);
    expect(await record('s')).toBeUndefined();
    expect(await record('nobody')).toBeDefined();
  });

  it('ends the trace of a run that is removed while a process executes it', async () => {
    const { database, runs, ofSessions } = await stores();
    const [removed, other] = ['s', 'other'].map((sessionId) => aRun({ sessionId }));
    await runs.commit([removed!, other!].map((run) => creation(run)));
    await ofSessions.remove(everyone, ['s'], start + 9);
    expect(await runs.commit([progress(removed!, finished)])).toEqual([
      { runId: removed!.runId, reason: 'fenced' },
    ]);
    const traces = await database.query
      .selectFrom('traces')
      .select(['run_id', 'status', 'end_time'])
      .orderBy('run_id')
      .execute();
    expect(traces).toEqual([
      { run_id: removed!.runId, status: 'OK', end_time: start + 9 },
      { run_id: other!.runId, status: 'UNSET', end_time: start },
    ]);
  });

  it('removes all that belongs to a session, and keeps decided approvals', async () => {
    const { database, runs, ofSessions } = await stores();
    const [paused, other] = ['s', 'other'].map((sessionId) =>
      aRun({ ...resting, sessionId, status: 'paused' }),
    );
    const summary = { summary: 'x', topics: [], updatedAt: 1, coversUntil: 1 };
    await runs.commit(
      [paused!, other!].map((run) =>
        creation(run, {
          steps: [aStep(run, 0)],
          events: { firstIndex: 0, count: 1, payload: 'x' },
          state: { sessionId: run.sessionId, set: { a: 1 }, remove: [] },
          summary: { ...summary, sessionId: run.sessionId },
          approvals: [
            { kind: 'record', approval: anApproval(run) },
            { kind: 'record', approval: anApproval(run, { status: 'approved' }) },
          ],
        }),
      ),
    );
    await ofSessions.remove(everyone, ['s'], start + 9);
    for (const table of ['runs', 'steps', 'event_blocks'] as const) {
      const rows = await database.query.selectFrom(table).select('run_id').execute();
      expect(rows, table).toEqual([{ run_id: other!.runId }]);
    }
    for (const table of ['sessions', 'session_state', 'session_summaries'] as const) {
      const rows = await database.query.selectFrom(table).select('session_id').execute();
      expect(rows, table).toEqual([{ session_id: 'other' }]);
    }
    const kept = await database.query
      .selectFrom('approvals')
      .select(['status', 'run_id', 'updated_at'])
      .where('run_id', '=', paused!.runId)
      .orderBy('status')
      .execute();
    expect(kept).toEqual([
      { status: 'approved', run_id: paused!.runId, updated_at: start },
      { status: 'cancelled', run_id: paused!.runId, updated_at: start + 9 },
    ]);
  });
});
