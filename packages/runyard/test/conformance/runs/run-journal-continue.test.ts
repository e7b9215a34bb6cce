import { expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, aStep, creation, finished, progress, resting, resumption, start } from '../builders.js';
import { forEachJournal } from '../journals.js';

const later = start + 60_000;

forEachJournal((aJournal) => {
  it('continues a resting run with one write, which ends the attempt before it', async () => {
    const journal = await aJournal();
    for (const status of ['paused', 'error'] as const) {
      const run = aRun({ ...resting, status, attempt: 3 });
      const waiting = aStep(run, 0, { kind: 'wait', status: 'running', output: null, endedAt: null });
      await journal.commit([creation(run, { steps: [waiting] })]);
      const answered = { ...waiting, status: 'completed', output: 'yes', endedAt: later } as const;
      const write = resumption(run, later, { steps: [answered, aStep(run, 1, { kind: 'continue' })] });
      expect(await journal.commit([write])).toEqual([]);
      const goesOn = { ...run, ...write.update, attempt: 4 };
      expect(await journal.load(run.runId)).toEqual({ run: goesOn, steps: write.steps });
      expect(await journal.commit([progress(run, finished)])).toEqual([
        { runId: run.runId, reason: 'fenced' },
      ]);
      expect(await journal.commit([progress(goesOn, finished)])).toEqual([]);
    }
  });

  it('refuses to continue a run that has changed since it was read, and stores nothing of that write', async () => {
    const journal = await aJournal();
    const paused = aRun({ ...resting, status: 'paused' });
    const held = aRun({ status: 'paused', leaseExpiresAt: Date.now() + 3_600_000 });
    const completed = aRun({ ...resting, status: 'completed' });
    await journal.commit([paused, held, completed].map((run) => creation(run)));
    const traces = (run: typeof paused) => ({
      steps: [aStep(run, 0)],
      events: { firstIndex: 0, count: 1, payload: 'late' },
      state: { sessionId: run.sessionId, set: { late: true }, remove: [] },
    });
    const refused = await journal.commit([
      resumption({ ...paused, attempt: 2 }, later, traces(paused)),
      resumption(held, later, traces(held)),
      resumption({ ...completed, status: 'error' }, later, traces(completed)),
      resumption(aRun({ runId: 'nobody', status: 'paused' }), later),
    ]);
    expect(refused).toEqual(
      expect.arrayContaining(
        [paused.runId, held.runId, completed.runId, 'nobody'].map((runId) => ({ runId, reason: 'fenced' })),
      ),
    );
    for (const run of [paused, held, completed]) {
      expect(await journal.load(run.runId)).toEqual({ run, steps: [] });
      expect(await journal.eventBlocks(run.runId, 0, 10)).toEqual([]);
    }
    expect((await journal.session(paused.sessionId))?.state).toEqual({});
  });

  it('gives a resting run to the first of two writes in one batch', async () => {
    const journal = await aJournal();
    const run = aRun({ ...resting, status: 'paused' });
    await journal.commit([creation(run)]);
    const first = resumption(run, later, { steps: [aStep(run, 0, { output: 'first' })] });
    const second = resumption(run, later, { steps: [aStep(run, 0, { output: 'second' })] });
    expect(await journal.commit([first, second])).toEqual([{ runId: run.runId, reason: 'fenced' }]);
    expect((await journal.load(run.runId))?.steps).toEqual(first.steps);
  });

  it('removes the steps that no longer belong to a run, and writes others in their place', async () => {
    const journal = await aJournal();
    const [run, other] = [aRun({ ...resting, status: 'error' }), aRun()];
    const steps = [0, 1, 2, 3].map((seq) => aStep(run, seq));
    await journal.commit([creation(run, { steps }), creation(other, { steps: [aStep(other, 2)] })]);
    const anew = aStep(run, 2, { key: 'continue:2', kind: 'continue' });
    await journal.commit([resumption(run, later, { removedSteps: [1, 2, 3], steps: [anew] })]);
    expect((await journal.load(run.runId))?.steps).toEqual([steps[0], anew]);
    expect((await journal.load(other.runId))?.steps).toEqual([aStep(other, 2)]);
  });

  it('lets a completed run be replaced by its regeneration, and by no other run', async () => {
    const journal = await aJournal();
    const original = aRun({ ...resting, status: 'completed' });
    const failed = aRun({ ...resting, status: 'error' });
    const heirs = [original, failed].map(({ runId }) =>
      aRun({ lineage: { regeneratedFrom: runId, replaces: runId } }),
    );
    await journal.commit([original, failed, ...heirs].map((run) => creation(run)));
    await journal.commit(
      heirs.map((heir) =>
        progress(heir, { ...finished, updatedAt: later }, { replaces: heir.lineage!.replaces }),
      ),
    );
    const stored = await journal.loadAll([original, failed, ...heirs].map(({ runId }) => runId));
    expect(stored.map(({ run }) => run.status)).toEqual(['regenerated', 'error', 'completed', 'completed']);
    expect(stored[0]!.run.updatedAt).toBe(later);
    expect(stored[2]!.run.lineage).toEqual(heirs[0]!.lineage);
  });

  it('replaces a run that completes in the same batch, and spares it when the heir is refused', async () => {
    const journal = await aJournal();
    const [original, spared] = [aRun(), aRun({ ...resting, status: 'completed' })];
    const [heir, fenced] = [aRun(), aRun()];
    await journal.commit([original, spared, heir, fenced].map((run) => creation(run)));
    const refused = await journal.commit([
      progress(original, finished),
      progress(heir, finished, { replaces: original.runId }),
      { ...progress(fenced, finished), attempt: 7, replaces: spared.runId },
    ]);
    expect(refused).toEqual([{ runId: fenced.runId, reason: 'fenced' }]);
    expect((await journal.progress(original.runId))?.status).toBe('regenerated');
    expect((await journal.progress(spared.runId))?.status).toBe('completed');
  });

  it('loads many runs with their steps, in the order they are asked for', async () => {
    const journal = await aJournal();
    const [first, second] = [aRun(), aRun({ sessionId: 'other' })];
    await journal.commit([creation(first, { steps: [aStep(first, 1), aStep(first, 0)] }), creation(second)]);
    expect(await journal.loadAll([second.runId, 'nobody', first.runId])).toEqual([
      { run: second, steps: [] },
      { run: first, steps: [aStep(first, 0), aStep(first, 1)] },
    ]);
    expect(await journal.loadAll([])).toEqual([]);
  });

  it('counts events to the index, also where it lies within a block', async () => {
    const journal = await aJournal();
    const [run, other] = [aRun(), aRun()];
    await journal.commit([creation(run), creation(other)]);
    // Nothing was stored from 12 to 19: an event that a reader cannot get is not counted.
    for (const [firstIndex, count] of [
      [0, 5],
      [5, 7],
      [20, 10],
    ] as const) {
      const events = { firstIndex, count, payload: 'x' };
      await journal.commit([run, other].map(({ runId }) => ({ runId, attempt: 1, steps: [], events })));
    }
    const counts: [from: number, to: number, count: number][] = [
      [0, 30, 22],
      [0, 100, 22],
      [3, 4, 1],
      [3, 8, 5],
      [4, 21, 9],
      [11, 22, 3],
      [12, 20, 0],
      [14, 25, 5],
      [29, 30, 1],
      [30, 40, 0],
      [8, 8, 0],
    ];
    for (const [from, to, count] of counts) {
      expect([from, to, await journal.countEvents(run.runId, from, to)]).toEqual([from, to, count]);
    }
    expect(await journal.countEvents('nobody', 0, 10)).toBe(0);
  });
});

forEachDatabase((_dialect, freshPlace) => {
  it('lets exactly one of many processes continue a run', async () => {
    const place = await freshPlace();
    const replicas = [await place.open(), await place.open(), await place.open()].map(
      (one) => new RunStore(one),
    );
    for (let round = 0; round < 10; round++) {
      const run = aRun({ ...resting, status: 'paused' });
      await replicas[0]!.commit([creation(run)]);
      const outcomes = await Promise.all(
        replicas.map((replica, index) =>
          replica.commit([resumption(run, later, { steps: [aStep(run, index)] })]),
        ),
      );
      const winners = outcomes.flatMap((refused, index) => (refused.length === 0 ? [index] : []));
      expect(winners).toHaveLength(1);
      const stored = (await replicas[0]!.load(run.runId))!;
      expect(stored.run.attempt).toBe(2);
      expect(stored.steps.map(({ seq }) => seq)).toEqual(winners);
    }
  });
});
