import { expect, it } from 'vitest';
import type { CancelRequest } from '../../../src/core/runs/journal/ports.js';
import { aRun, creation, finished, progress, resting, start } from '../builders.js';
import { forEachJournal } from '../journals.js';

const minute = 60_000;

function aWish(runId: string, given: Partial<CancelRequest> = {}): CancelRequest {
  return {
    runId,
    kind: 'agent',
    componentId: 'writer',
    sessionId: null,
    userId: null,
    reason: 'no longer needed',
    requestedAt: start,
    ...given,
  };
}

forEachJournal((aJournal) => {
  it('lists the runs to cancel, until they have ended', async () => {
    const journal = await aJournal();
    const runs = [aRun({ status: 'pending' }), aRun(), aRun({ ...resting, status: 'paused' })];
    const over = aRun({ ...resting, status: 'completed' });
    await journal.commit([...runs, over].map((run) => creation(run)));
    const wishes = [...runs.map(({ runId }) => runId), over.runId, 'not yet there'].map((runId, index) =>
      aWish(runId, { requestedAt: start + index, userId: 'ada', sessionId: 'session-1' }),
    );
    for (const wish of wishes) await journal.requestCancellation(wish);
    const open = wishes.filter(({ runId }) => runId !== over.runId);
    expect(await journal.cancellations(start - 1)).toEqual(open);
    expect(await journal.cancellations(start + 1)).toEqual(open.slice(2));
    await journal.commit([progress(runs[2]!, { ...finished, status: 'cancelled' })]);
    expect(await journal.cancellations(start + 1)).toEqual([wishes[4]]);
    expect(await journal.cancellation('not yet there', start)).toEqual(wishes[4]);
    expect(await journal.cancellation('not yet there', start + 4)).toBeUndefined();
    expect(await journal.cancellation('nobody asked', 0)).toBeUndefined();
  });

  it('keeps the first of two requests of a caller, unless the second says something else', async () => {
    const journal = await aJournal();
    const first = aWish('run', { sessionId: 'wrong' });
    await journal.requestCancellation(first);
    await journal.requestCancellation({ ...first, reason: 'again', requestedAt: start + 1 });
    expect(await journal.cancellations(0)).toEqual([first]);
    const corrected = { ...first, sessionId: 'right', reason: 'corrected', requestedAt: start + 2 };
    await journal.requestCancellation(corrected);
    expect(await journal.cancellations(0)).toEqual([corrected]);
  });

  it("does not let a stranger's request stand in the way of the owner's", async () => {
    const journal = await aJournal();
    const run = aRun({ userId: 'ada' });
    await journal.commit([creation(run)]);
    const foreign = aWish(run.runId, { userId: 'bob' });
    const own = aWish(run.runId, { userId: 'ada', requestedAt: start + 1 });
    await journal.requestCancellation(foreign);
    expect(await journal.cancellation(run.runId, 0)).toEqual(foreign);
    await journal.requestCancellation(own);
    expect(await journal.cancellations(0)).toEqual([foreign, own]);
    expect(await journal.cancellation(run.runId, 0)).toEqual(own);
  });

  it('removes old requests, and keeps those of runs that have not ended', async () => {
    const journal = await aJournal();
    const [running, ended] = [aRun(), aRun({ ...resting, status: 'error' })];
    await journal.commit([creation(running), creation(ended)]);
    for (const runId of [running.runId, ended.runId, 'never came']) {
      await journal.requestCancellation(aWish(runId));
    }
    await journal.requestCancellation(aWish('soon', { requestedAt: start + 10 * minute }));
    expect(await journal.cancellation('never came', 0)).toBeDefined();
    const again = aWish('never came', { requestedAt: start + 11 * minute });
    await journal.requestCancellation(again);
    expect(await journal.cancellation('never came', 0)).toEqual(again);
    expect(await journal.cancellation(ended.runId, 0)).toBeUndefined();
    expect(await journal.cancellation(running.runId, 0)).toEqual(aWish(running.runId));
    expect(await journal.cancellation('soon', 0)).toBeDefined();
  });
});
