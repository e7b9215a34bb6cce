import { expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { SessionStore } from '../../../src/capabilities/sessions/store.js';
import { forEachDatabaseAndPooler } from '../../support/databases.js';
import { aRun, aStep, creation, finished, progress, sessionOf, start } from '../builders.js';

const everyone = { kind: 'all' } as const;

forEachDatabaseAndPooler((_dialect, freshPlace) => {
  async function stores() {
    const database = await (await freshPlace()).open();
    return { database, runs: new RunStore(database), sessions: new SessionStore(database) };
  }

  it('reads back exactly what was written', async () => {
    const { runs } = await stores();
    const run = aRun({
      userId: 'ada',
      parentRunId: 'parent',
      input: {
        content: 'hi',
        media: [{ kind: 'image', id: 'm', hash: 'abc' }],
        options: { stream: true, version: 3 },
      },
    });
    const steps = [
      aStep(run, 0, { parentKey: 'root', input: { question: [1, null, 'x'] } }),
      aStep(run, 1, { status: 'running', kind: 'tool', name: 'search', output: null, endedAt: null }),
      aStep(run, 2, { status: 'error', error: { message: 'no' }, output: false }),
    ];
    expect(await runs.commit([creation(run, { steps: [steps[2]!, steps[0]!, steps[1]!] })])).toEqual([]);
    expect(await runs.load(run.runId)).toEqual({ run, steps });
    expect(await runs.progress(run.runId)).toEqual({ status: 'running', nextEventIndex: 0 });
  });

  it('returns nothing for what was never written', async () => {
    const { runs } = await stores();
    expect(await runs.commit([])).toEqual([]);
    expect(await runs.load('nobody')).toBeUndefined();
    expect(await runs.progress('nobody')).toBeUndefined();
    expect(await runs.session('nobody')).toBeUndefined();
    expect(await runs.eventBlocks('nobody', 0, 10)).toEqual([]);
  });

  it('updates a run and replaces steps by their seq', async () => {
    const { runs } = await stores();
    const run = aRun();
    await runs.commit([
      creation(run, { steps: [aStep(run, 0, { status: 'running', output: null, endedAt: null })] }),
    ]);
    const ended = aStep(run, 0, { output: ['ended'] });
    const added = aStep(run, 1);
    const update = { ...finished, nextEventIndex: 7, updatedAt: start + 5 };
    expect(await runs.commit([progress(run, update, { steps: [ended, added] })])).toEqual([]);
    expect(await runs.load(run.runId)).toEqual({ run: { ...run, ...update }, steps: [ended, added] });
  });

  it('takes the last version when a write holds a step twice', async () => {
    const { runs } = await stores();
    const run = aRun();
    const ended = aStep(run, 0);
    await runs.commit([creation(run, { steps: [aStep(run, 0, { status: 'running' }), ended] })]);
    expect((await runs.load(run.runId))?.steps).toEqual([ended]);
  });

  it('creates a run as what it has become when both come in one write', async () => {
    const { runs } = await stores();
    const run = aRun();
    await runs.commit([{ ...progress(run, finished), session: sessionOf(run), insert: run }]);
    expect((await runs.load(run.runId))?.run).toEqual({ ...run, ...finished });
  });

  it('accepts several writes of one run in one batch, in their order', async () => {
    const { runs } = await stores();
    const run = aRun();
    const refused = await runs.commit([
      creation(run),
      progress(run, { nextEventIndex: 1 }),
      progress(run, finished),
    ]);
    expect(refused).toEqual([]);
    expect((await runs.load(run.runId))?.run).toEqual({ ...run, ...finished });
  });

  it('refuses an id that is taken, and stores nothing of that write', async () => {
    const { runs, sessions } = await stores();
    const run = aRun();
    await runs.commit([creation(run, { steps: [aStep(run, 0)] })]);
    const copy = aRun({ runId: run.runId, sessionId: 'session-2', componentId: 'thief' });
    const other = aRun({ sessionId: 'session-3' });
    const refused = await runs.commit([
      creation(copy, {
        steps: [aStep(copy, 0, { output: 'forged' }), aStep(copy, 1)],
        events: { firstIndex: 0, count: 1, payload: 'forged' },
        state: { sessionId: 'session-1', set: { forged: true }, remove: [] },
      }),
      creation(other),
    ]);
    expect(refused).toEqual([{ runId: run.runId, reason: 'run_exists' }]);
    expect(await runs.load(run.runId)).toEqual({ run, steps: [aStep(run, 0)] });
    expect(await runs.eventBlocks(run.runId, 0, 10)).toEqual([]);
    expect((await runs.session('session-1'))?.state).toEqual({});
    expect(await sessions.find(everyone, 'session-2')).toBeUndefined();
    expect((await runs.load(other.runId))?.run).toEqual(other);
  });

  it('refuses the session of another user, and stores nothing of that write', async () => {
    const { runs, sessions } = await stores();
    const owners = [
      { sessionId: 'of-ada', userId: 'ada' },
      { sessionId: 'of-nobody', userId: null },
    ];
    await runs.commit(owners.map((owner) => creation(aRun(owner))));
    const before = await sessions.find(everyone, 'of-ada');
    const strangers = [
      aRun({ sessionId: 'of-ada', userId: 'bob', createdAt: start + 9 }),
      aRun({ sessionId: 'of-ada', userId: null }),
      aRun({ sessionId: 'of-nobody', userId: 'ada' }),
    ];
    const welcome = owners.map((owner) => aRun(owner));
    const refused = await runs.commit([
      ...strangers.map((run) =>
        creation(run, {
          session: sessionOf(run, { name: 'mine now' }),
          state: { sessionId: run.sessionId, set: { forged: 1 }, remove: [] },
        }),
      ),
      ...welcome.map((run) => creation(run)),
    ]);
    expect([...refused].sort((a, b) => a.runId.localeCompare(b.runId))).toEqual(
      strangers.map(({ runId }) => ({ runId, reason: 'foreign_session' })),
    );
    for (const { runId } of strangers) expect(await runs.load(runId)).toBeUndefined();
    for (const run of welcome) expect((await runs.load(run.runId))?.run).toEqual(run);
    expect(await sessions.find(everyone, 'of-ada')).toEqual(before);
    expect((await runs.session('of-ada'))?.state).toEqual({});
  });

  it('gives a session that two users begin in one batch to the first', async () => {
    const { runs } = await stores();
    const [ada, bob, adaAgain] = ['ada', 'bob', 'ada'].map((userId) => aRun({ userId }));
    const refused = await runs.commit([creation(ada!), creation(bob!), creation(adaAgain!)]);
    expect(refused).toEqual([{ runId: bob!.runId, reason: 'foreign_session' }]);
    expect((await runs.session('session-1'))?.userId).toBe('ada');
    expect(await runs.load(adaAgain!.runId)).toBeDefined();
  });

  it('refuses a writer whose attempt is old, and stores nothing of that write', async () => {
    const { runs } = await stores();
    const run = aRun();
    const other = aRun();
    await runs.commit([creation(run), creation(other)]);
    await runs.leases.claim({
      runId: run.runId,
      attempt: 1,
      owner: 'process-2',
      leaseMs: 60_000,
      indexGap: 0,
    });
    const traces = {
      steps: [aStep(run, 0)],
      events: { firstIndex: 0, count: 1, payload: 'late' },
      state: { sessionId: run.sessionId, set: { late: true }, remove: [] },
    };
    const stale = await runs.commit([
      progress(run, finished, { ...traces, session: sessionOf(run, { name: 'late' }) }),
      progress(other, finished),
    ]);
    expect(stale).toEqual([{ runId: run.runId, reason: 'fenced' }]);
    const withoutUpdate = await runs.commit([{ runId: run.runId, attempt: 1, ...traces }]);
    expect(withoutUpdate).toEqual([{ runId: run.runId, reason: 'fenced' }]);
    expect(await runs.load(run.runId)).toMatchObject({ run: { status: 'running', attempt: 2 }, steps: [] });
    expect(await runs.eventBlocks(run.runId, 0, 10)).toEqual([]);
    expect(await runs.session(run.sessionId)).toMatchObject({ name: null, state: {} });
    expect((await runs.load(other.runId))?.run.status).toBe('completed');
  });

  it('refuses to write to a run that does not exist', async () => {
    const { runs } = await stores();
    const run = aRun();
    expect(await runs.commit([progress(run, finished)])).toEqual([{ runId: run.runId, reason: 'fenced' }]);
    expect(await runs.commit([{ runId: run.runId, attempt: 1, steps: [aStep(run, 0)] }])).toEqual([
      { runId: run.runId, reason: 'fenced' },
    ]);
  });

  it('names a session once, and notes when it was used last', async () => {
    const { runs, sessions } = await stores();
    const [first, second, third] = [0, 10, 5].map((ms) => aRun({ createdAt: start + ms }));
    await runs.commit([creation(first!)]);
    await runs.commit([creation(second!, { session: sessionOf(second!, { name: 'Plans' }) })]);
    await runs.commit([creation(third!, { session: sessionOf(third!, { name: 'Other' }) })]);
    expect(await sessions.find(everyone, 'session-1')).toMatchObject({
      name: 'Plans',
      createdAt: start,
      updatedAt: start + 10,
    });
  });

  it('merges the state of parallel runs by key', async () => {
    const { runs } = await stores();
    const [first, second] = [aRun(), aRun()];
    const sessionId = first.sessionId;
    await runs.commit([
      creation(first, { state: { sessionId, set: { kept: 1, changed: 1, removed: 1 }, remove: [] } }),
      creation(second, {
        state: { sessionId, set: { changed: { deep: [2] } }, remove: ['removed', 'absent'] },
      }),
    ]);
    await runs.commit([
      {
        runId: first.runId,
        attempt: 1,
        steps: [],
        state: { sessionId, set: { __proto__x: null, ['__proto__']: 'odd' }, remove: [] },
      },
    ]);
    const state = (await runs.session(sessionId))?.state;
    expect(JSON.parse(JSON.stringify(state))).toEqual(
      JSON.parse('{"kept":1,"changed":{"deep":[2]},"__proto__x":null,"__proto__":"odd"}'),
    );
  });

  it('keeps the summary that covers the newest run of a session', async () => {
    const { runs } = await stores();
    const run = aRun();
    const summary = (text: string, coversUntil: number) => ({
      sessionId: run.sessionId,
      summary: text,
      topics: [`about ${text}`, 'nul \0 "quoted"'],
      coversUntil,
      updatedAt: start + 100,
    });
    const stored = async () => (await runs.summary(run.sessionId))?.summary;
    const write = (...summaries: ReturnType<typeof summary>[]) =>
      runs.commit(summaries.map((given) => ({ runId: run.runId, attempt: 1, steps: [], summary: given })));

    await runs.commit([creation(run)]);
    expect(await runs.summary(run.sessionId)).toBeUndefined();
    await write(summary('first', start + 10));
    const { sessionId: _, ...first } = summary('first', start + 10);
    expect(await runs.summary(run.sessionId)).toEqual(first);
    await write(summary('late', start + 9));
    expect(await stored()).toBe('first');
    await write(summary('again', start + 10));
    expect(await stored()).toBe('again');
    const other = aRun();
    await runs.commit([
      creation(other, { summary: summary('newest', start + 30) }),
      { runId: run.runId, attempt: 1, steps: [], summary: summary('newer', start + 20) },
    ]);
    expect(await stored()).toBe('newest');
  });

  it('stores a summary with the session that it begins, and none of a refused write', async () => {
    const { runs } = await stores();
    const summary = { summary: 'begun', topics: [], coversUntil: start, updatedAt: start };
    const run = aRun({ userId: 'ada' });
    expect(await runs.commit([creation(run, { summary: { sessionId: run.sessionId, ...summary } })])).toEqual(
      [],
    );
    const stranger = aRun({ userId: 'bob' });
    const forged = { ...summary, sessionId: run.sessionId, summary: 'forged', coversUntil: start + 1 };
    await runs.commit([
      creation(stranger, { summary: forged }),
      { runId: run.runId, attempt: 7, steps: [], summary: forged },
    ]);
    expect(await runs.summary(run.sessionId)).toEqual(summary);
  });

  it('answers with the blocks that hold an index, in order, up to the limit', async () => {
    const { runs } = await stores();
    const run = aRun();
    await runs.commit([creation(run)]);
    const blocks = [0, 10, 20, 30].map((firstIndex) => ({
      firstIndex,
      count: 10,
      payload: `block ${firstIndex}`,
    }));
    for (const events of [...blocks].reverse())
      await runs.commit([{ runId: run.runId, attempt: 1, steps: [], events }]);
    expect(await runs.eventBlocks(run.runId, 0, 10)).toEqual(blocks);
    expect(await runs.eventBlocks(run.runId, 19, 2)).toEqual(blocks.slice(1, 3));
    expect(await runs.eventBlocks(run.runId, 20, 10)).toEqual(blocks.slice(2));
    expect(await runs.eventBlocks(run.runId, 40, 10)).toEqual([]);
  });

  it('stores a block again when the answer to its writer was lost', async () => {
    const { runs } = await stores();
    const run = aRun();
    const events = { firstIndex: 0, count: 2, payload: 'twice' };
    await runs.commit([creation(run, { events })]);
    expect(await runs.commit([{ runId: run.runId, attempt: 1, steps: [], events }])).toEqual([]);
    expect(await runs.eventBlocks(run.runId, 0, 10)).toEqual([events]);
  });

  it('keeps odd strings unharmed, wherever they are', async () => {
    const { runs, sessions } = await stores();
    const odd = [
      '👩‍🚀 "quoted" \\ \'single\'',
      'nul \0 inside',
      'lone \ud800 surrogate',
      '\u0001 first',
      '',
      '\n{},"NULL"',
    ];
    for (const [index, text] of odd.entries()) {
      const run = aRun({
        runId: `run ${index} ${text}`,
        sessionId: `session ${index} ${text}`,
        userId: `user ${text}`,
        input: { content: text, media: [], options: { stream: false, metadata: { [text]: text } } },
      });
      const step = aStep(run, 0, { key: text, name: text, parentKey: text, output: { [text]: [text] } });
      const events = { firstIndex: 0, count: 1, payload: text };
      const state = { sessionId: run.sessionId, set: { [`key ${text}`]: text }, remove: [] };
      const session = sessionOf(run, { name: text });
      expect(await runs.commit([creation(run, { session, steps: [step], events, state })])).toEqual([]);
      expect(await runs.load(run.runId)).toEqual({ run, steps: [step] });
      expect(await runs.eventBlocks(run.runId, 0, 1)).toEqual([events]);
      expect(await runs.session(run.sessionId)).toMatchObject({ name: text, state: state.set });
      expect(await runs.find({ kind: 'user', userId: run.userId! }, run.runId)).toEqual(run);
      expect((await sessions.find(everyone, run.sessionId))?.name).toBe(text);
      expect(await runs.loadAll([run.runId])).toEqual([{ run, steps: [step] }]);
      expect(await runs.commit([creation(run)])).toEqual([{ runId: run.runId, reason: 'run_exists' }]);
    }
  });

  it('writes a thousand runs in one batch, the refused ones apart', async () => {
    const { database, runs } = await stores();
    const all = Array.from({ length: 1000 }, (_, index) => aRun({ sessionId: `session-${index % 7}` }));
    const write = (run: (typeof all)[number]) =>
      creation(run, {
        steps: [aStep(run, 0), aStep(run, 1)],
        events: { firstIndex: 0, count: 3, payload: 'x'.repeat(500) },
        state: { sessionId: run.sessionId, set: { last: run.runId }, remove: [] },
      });
    await runs.commit([write(all[10]!), write(all[500]!)]);
    const refused = await runs.commit(all.map(write));
    expect(refused.map(({ runId }) => runId).sort()).toEqual([all[10]!.runId, all[500]!.runId].sort());
    const counts = await database.query
      .selectFrom('runs')
      .select((select) => select.fn.countAll<number>().as('runs'))
      .select((select) => select.selectFrom('steps').select(select.fn.countAll<number>().as('n')).as('steps'))
      .executeTakeFirstOrThrow();
    expect(counts).toEqual({ runs: 1000, steps: 2000 });
  });

  it('stores every one of many simultaneous commits in one session', async () => {
    const place = await freshPlace();
    const replicas = [await place.open(), await place.open()].map((database) => new RunStore(database));
    const all = Array.from({ length: 60 }, (_, index) => ({
      run: aRun({ sessionId: `session-${index % 3}` }),
      other: aRun({ sessionId: `session-${(index + 1) % 3}` }),
    }));
    const outcomes = await Promise.all(
      all.map(({ run, other }, index) =>
        replicas[index % 2]!.commit(
          [run, other].map((one, position) =>
            creation(one, {
              state: { sessionId: one.sessionId, set: { [`${index}-${position}`]: index }, remove: [] },
            }),
          ),
        ),
      ),
    );
    expect(outcomes.flat()).toEqual([]);
    const counted = await Promise.all(
      [0, 1, 2].map((index) =>
        replicas[0]!.count(everyone, { kind: 'agent', componentId: 'writer', sessionId: `session-${index}` }),
      ),
    );
    expect(counted).toEqual([40, 40, 40]);
    const states = await Promise.all([0, 1, 2].map((index) => replicas[1]!.session(`session-${index}`)));
    expect(states.map((session) => Object.keys(session!.state).length)).toEqual([40, 40, 40]);
  });
});
