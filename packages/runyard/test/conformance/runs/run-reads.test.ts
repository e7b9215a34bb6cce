import { expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { SessionStore } from '../../../src/capabilities/sessions/store.js';
import type { Run } from '../../../src/core/runs/run.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, aStep, creation, start } from '../builders.js';

const everyone = { kind: 'all' } as const;
const ada = { kind: 'user', userId: 'ada' } as const;
const bob = { kind: 'user', userId: 'bob' } as const;
const ids = (runs: readonly Run[]) => runs.map(({ runId }) => runId);

forEachDatabase((_dialect, freshPlace) => {
  async function stores() {
    const database = await (await freshPlace()).open();
    return { runs: new RunStore(database), sessions: new SessionStore(database) };
  }

  it('hides the runs and sessions of other users', async () => {
    const { runs, sessions } = await stores();
    const hers = aRun({ userId: 'ada', sessionId: 'hers' });
    const nobodys = aRun({ sessionId: 'nobodys' });
    await runs.commit([creation(hers), creation(nobodys)]);
    const page = { kind: 'agent', componentId: 'writer', limit: 10, offset: 0, order: 'asc' } as const;
    const seenBy = async (scope: typeof everyone | typeof ada | typeof bob) => ({
      found: await Promise.all(
        [hers, nobodys].map(async ({ runId }) => (await runs.find(scope, runId)) !== undefined),
      ),
      sessions: await Promise.all(
        ['hers', 'nobodys'].map(async (id) => (await sessions.find(scope, id)) !== undefined),
      ),
      listed: await runs.ids(scope, page),
      count: await runs.count(scope, page),
    });
    expect(await seenBy(everyone)).toEqual({
      found: [true, true],
      sessions: [true, true],
      listed: [hers.runId, nobodys.runId],
      count: 2,
    });
    expect(await seenBy(ada)).toEqual({
      found: [true, false],
      sessions: [true, false],
      listed: [hers.runId],
      count: 1,
    });
    expect(await seenBy(bob)).toEqual({
      found: [false, false],
      sessions: [false, false],
      listed: [],
      count: 0,
    });
  });

  it('lists the top-level runs of a component, filtered, in pages, either way round', async () => {
    const { runs } = await stores();
    const mine = [0, 1, 2, 3, 4].map((ms) =>
      aRun({
        createdAt: start + ms,
        sessionId: ms < 3 ? 'one' : 'two',
        status: ms % 2 ? 'completed' : 'error',
      }),
    );
    const others = [
      aRun({ componentId: 'reader' }),
      aRun({ kind: 'team' }),
      aRun({ parentRunId: mine[0]!.runId, sessionId: 'one' }),
    ];
    await runs.commit([...mine, ...others].reverse().map((run) => creation(run)));
    const filter = { kind: 'agent', componentId: 'writer' } as const;
    const page = { ...filter, limit: 10, offset: 0, order: 'asc' } as const;
    const whole = await runs.loadAll(await runs.ids(everyone, page));
    expect(whole.map(({ run }) => run)).toEqual(mine);
    expect(await runs.ids(everyone, { ...page, order: 'desc', limit: 2, offset: 1 })).toEqual(
      ids([mine[3]!, mine[2]!]),
    );
    // within a session they are in its order: as they were stored
    const ofSession = { ...page, sessionId: 'two' };
    expect(await runs.ids(everyone, ofSession)).toEqual(ids([mine[4]!, mine[3]!]));
    const before = { createdAt: mine[3]!.createdAt, runId: mine[3]!.runId };
    expect(await runs.ids(everyone, { ...ofSession, order: 'desc', before })).toEqual(ids([mine[4]!]));
    expect(await runs.ids(everyone, { ...page, status: 'completed' })).toEqual(ids([mine[1]!, mine[3]!]));
    expect(await runs.count(everyone, { ...filter, sessionId: 'one', status: 'error' })).toBe(2);
  });

  it('reads the steps of many runs at once', async () => {
    const { runs } = await stores();
    const [first, second, empty] = [aRun(), aRun(), aRun()];
    await runs.commit([
      creation(first, { steps: [aStep(first, 1), aStep(first, 0)] }),
      creation(second, { steps: [aStep(second, 0)] }),
      creation(empty),
    ]);
    const read = await runs.loadAll([second.runId, first.runId, empty.runId]);
    expect(read.map(({ steps }) => steps)).toEqual([
      [aStep(second, 0)],
      [aStep(first, 0), aStep(first, 1)],
      [],
    ]);
    expect(await runs.loadAll([])).toEqual([]);
  });

  it('gives the last completed runs of a component in a session as its history, oldest first', async () => {
    const { runs } = await stores();
    // by the order in which they are stored: the times are those of different clocks
    const completed = [3, 1, 2, 0].map((ms) => aRun({ createdAt: start + ms, status: 'completed' }));
    const current = aRun({ createdAt: start + 2, status: 'completed' });
    const others = [
      aRun({ createdAt: start + 2 }),
      aRun({ createdAt: start + 2, status: 'error' }),
      aRun({ createdAt: start + 2, status: 'regenerated' }),
      aRun({ createdAt: start + 2, status: 'completed', componentId: 'reader' }),
      aRun({ createdAt: start + 2, status: 'completed', kind: 'team' }),
      aRun({ createdAt: start + 2, status: 'completed', kind: 'workflow' }),
      aRun({ createdAt: start + 2, status: 'completed', sessionId: 'elsewhere' }),
    ];
    await runs.commit(
      [...others, ...completed.slice(0, 3), current, completed[3]!].map((run) =>
        creation(run, { steps: [aStep(run, 0)] }),
      ),
    );
    const query = {
      sessionId: 'session-1',
      kind: 'agent' as const,
      componentId: 'writer',
      runId: current.runId,
    };
    expect(await runs.history({ ...query, count: 2 })).toEqual(
      [completed[1]!, completed[2]!].map((run) => ({ run, steps: [aStep(run, 0)] })),
    );
    expect((await runs.history({ ...query, count: 10 })).map(({ run }) => run)).toEqual(
      completed.slice(0, 3),
    );
    const shownTo = async (given: { runId: string; copyOf?: string }) =>
      (await runs.history({ ...query, ...given, count: 10 })).map(({ run }) => run);
    // a run that is not stored yet will come after all that are
    expect(await shownTo({ runId: 'not yet stored' })).toEqual([
      ...completed.slice(0, 3),
      current,
      completed[3],
    ]);
    // a copy takes the place of its original, if that is in its session
    expect(await shownTo({ runId: 'a copy', copyOf: completed[1]!.runId })).toEqual([completed[0]]);
    expect(await shownTo({ runId: current.runId, copyOf: others.at(-1)!.runId })).toEqual(
      completed.slice(0, 3),
    );
    expect(await runs.history({ ...query, sessionId: 'nowhere', count: 10 })).toEqual([]);
    // of all agents and teams of the session
    const ofSession = await runs.history({ ...query, from: 'session', count: 10 });
    expect(ofSession.map(({ run }) => run)).toEqual([others[3], others[4], ...completed.slice(0, 3)]);
    expect(await runs.history({ ...query, from: 'session', count: 1 })).toHaveLength(1);
  });

  it('removes a run with its session, and its steps and events with it', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const run = aRun();
    await runs.commit([
      creation(run, {
        steps: [aStep(run, 0)],
        events: { firstIndex: 0, count: 1, payload: 'x' },
        state: { sessionId: run.sessionId, set: { a: 1 }, remove: [] },
      }),
    ]);
    await database.query.deleteFrom('sessions').where('session_id', '=', run.sessionId).execute();
    for (const table of ['runs', 'steps', 'event_blocks', 'session_state'] as const) {
      expect(await database.query.selectFrom(table).selectAll().execute()).toEqual([]);
    }
  });
});
