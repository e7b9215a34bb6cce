import { expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { forEachDatabaseAndPooler } from '../../support/databases.js';
import { aRun, aStep, creation, finished, progress, start } from '../builders.js';
import { forEachJournal, type JournalWithLeases } from '../journals.js';

const hour = 3_600_000;
const free = { leaseOwner: null, leaseExpiresAt: null } as const;
const claimable = async ({ leases, queue }: JournalWithLeases) => [
  ...(await leases.expired(10, 0)),
  ...(await queue.waiting(10, 0)),
];
const ids = (runs: readonly { readonly runId: string }[]) => runs.map(({ runId }) => runId);

forEachJournal((aStore) => {
  it('finds the runs whose lease has ended, and those that wait without one, oldest first', async () => {
    const runs = await aStore();
    const now = await runs.leases.now();
    const ended = [3, 1, 2].map((ms) => aRun({ createdAt: start + ms, leaseExpiresAt: now - ms }));
    const unclaimed = [3, 1, 2].map((ms) => aRun({ createdAt: start + ms, status: 'pending', ...free }));
    const held = aRun({ leaseExpiresAt: now + hour });
    const over = (['completed', 'error', 'cancelled', 'paused', 'regenerated'] as const).map((status) =>
      aRun({ status }),
    );
    await runs.commit([...ended, ...unclaimed, held, ...over].map((run) => creation(run)));
    const expired = [ended[1]!, ended[2]!, ended[0]!];
    expect(await runs.leases.expired(10, 0)).toEqual(expired);
    expect(await runs.leases.expired(2, 0)).toEqual(expired.slice(0, 2));
    expect(await runs.leases.expired(2, 1)).toEqual(expired.slice(1, 3));
    // the database dates a run without a lease
    const waiting = [1, 2, 0].map((at) => ({ ...unclaimed[at], updatedAt: expect.any(Number) }));
    expect(await runs.queue.waiting(10, 0)).toEqual(waiting);
    expect(await runs.queue.waiting(2, 0)).toEqual(waiting.slice(0, 2));
    expect(await runs.queue.waiting(2, 1)).toEqual(waiting.slice(1, 3));
    expect(await runs.queue.waiting(10, 0, ['agent other'])).toEqual([]);
    expect(ids(await runs.queue.waiting(1, 0, ['agent writer']))).toEqual(ids([unclaimed[1]!]));
  });

  it('finds the paused runs whose time has come, the most overdue first', async () => {
    const runs = await aStore();
    const now = await runs.leases.now();
    const paused = (wakeAt: number | null) => aRun({ status: 'paused', ...free, wakeAt });
    const due = [now - 10, now - 30, now - 20].map(paused);
    const others = [paused(now + hour), paused(null), aRun({ wakeAt: start })];
    await runs.commit([...due, ...others].map((run) => creation(run)));
    const found = [due[1]!, due[2]!, due[0]!];
    expect(await runs.queue.due(10, 0)).toEqual(found);
    expect(await runs.queue.due(2, 0)).toEqual(found.slice(0, 2));
    expect(await runs.queue.due(2, 1)).toEqual(found.slice(1));
  });

  it('counts the length of a lease from when the write is stored, by its own clock', async () => {
    const runs = await aStore();
    const before = await runs.leases.now();
    const run = aRun({ leaseExpiresAt: null });
    await runs.commit([creation(run, { leaseMs: hour })]);
    const first = (await runs.load(run.runId))!.run.leaseExpiresAt!;
    expect(first).toBeGreaterThanOrEqual(before + hour);
    expect(first).toBeLessThanOrEqual((await runs.leases.now()) + hour);
    expect(await runs.leases.expired(10, 0)).toEqual([]);
    await runs.commit([progress(run, {}, { leaseMs: 2 * hour })]);
    const second = (await runs.load(run.runId))!.run.leaseExpiresAt!;
    expect(second).toBeGreaterThanOrEqual(first + hour);
    await runs.commit([progress(run, { leaseOwner: null }, { leaseMs: -hour })]);
    expect(ids(await claimable(runs))).toEqual([run.runId]);
  });

  it('gives an expired lease to the first process that claims it', async () => {
    const runs = await aStore();
    const held = aRun({ leaseExpiresAt: (await runs.leases.now()) + hour });
    const run = aRun();
    await runs.commit([creation(run), creation(held)]);
    const claim = { runId: run.runId, attempt: 1, owner: 'process-2', leaseMs: hour, indexGap: 100 };
    expect(await runs.leases.claim({ ...claim, runId: held.runId })).toBeUndefined();
    expect(await runs.leases.claim({ ...claim, attempt: 2 })).toBeUndefined();
    const before = await runs.leases.now();
    const claimed = await runs.leases.claim(claim);
    expect(claimed).toEqual({
      ...run,
      attempt: 2,
      leaseOwner: 'process-2',
      leaseExpiresAt: expect.any(Number),
      nextEventIndex: run.nextEventIndex + 100,
      updatedAt: expect.any(Number),
    });
    expect(claimed!.leaseExpiresAt).toBeGreaterThanOrEqual(before + hour);
    expect(await runs.leases.claim(claim)).toBeUndefined();
  });

  it('never gives out a run that rests or has ended', async () => {
    const runs = await aStore();
    const over = (['paused', 'completed', 'error', 'cancelled', 'regenerated'] as const).map((status) =>
      aRun({ status, ...free }),
    );
    await runs.commit(over.map((run) => creation(run)));
    const claim = { attempt: 1, owner: 'process-2', leaseMs: hour, indexGap: 0 };
    for (const { runId } of over) expect(await runs.leases.claim({ ...claim, runId })).toBeUndefined();
  });

  it('renews and releases the leases of one owner only', async () => {
    const runs = await aStore();
    const mine = [aRun(), aRun({ status: 'pending' })];
    const theirs = aRun({ leaseOwner: 'process-2' });
    await runs.commit([...mine, theirs].map((run) => creation(run)));
    expect([...(await runs.leases.owners())].sort()).toEqual(['process-1', 'process-2']);
    await runs.leases.renew('process-1', [...mine, theirs], hour);
    expect(await runs.leases.expired(10, 0)).toEqual([theirs]);
    await runs.leases.release('process-1');
    expect(await runs.leases.owners()).toEqual(['process-2']);
    expect(await runs.leases.expired(10, 0)).toEqual([theirs]);
    expect(ids(await runs.queue.waiting(10, 0)).sort()).toEqual(ids(mine).sort());
  });

  it('renews only the runs it is given: one that its process has lost must be found', async () => {
    const runs = await aStore();
    const [held, lost] = [aRun(), aRun()];
    await runs.commit([held, lost].map((run) => creation(run)));
    expect(await runs.leases.renew('process-1', [held], hour)).toEqual([]);
    expect(ids(await runs.leases.expired(10, 0))).toEqual([lost.runId]);
  });

  it('names the leases that are lost: taken over, given up, ended or gone', async () => {
    const runs = await aStore();
    const [kept, ended, gone] = [aRun(), aRun(), aRun()];
    const [takenOver, takenBack, givenUp] = [aRun(), aRun(), aRun()];
    await runs.commit([kept, ended, takenOver, takenBack, givenUp].map((run) => creation(run)));
    const claim = { attempt: 1, leaseMs: hour, indexGap: 0 };
    await runs.leases.claim({ ...claim, runId: takenOver.runId, owner: 'process-2' });
    await runs.leases.claim({ ...claim, runId: takenBack.runId, owner: 'process-1' });
    await runs.commit([progress(ended, finished), progress(givenUp, free)]);
    const lost = [ended, gone, takenOver, takenBack, givenUp];
    // more than one statement can renew
    const crowd = Array.from({ length: 600 }, () => aRun());
    await runs.commit(crowd.map((run) => creation(run)));
    const reported = await runs.leases.renew('process-1', [kept, ...lost, ...crowd], hour);
    expect([...reported].sort()).toEqual(ids(lost).sort());
    expect(await runs.leases.expired(1_000, 0)).toEqual([]);
    expect(ids(await runs.queue.waiting(1_000, 0))).toEqual([givenUp.runId]);
  });

  it('names the runs that no longer wait for a free slot', async () => {
    const runs = await aStore();
    const waiting = (given = {}) => aRun({ status: 'pending', attempt: 0, ...free, ...given });
    const [waits, taken, cancelled] = [waiting(), waiting(), waiting()];
    await runs.commit([waits, taken, cancelled].map((run) => creation(run)));
    const claim = { runId: taken.runId, attempt: 0, owner: 'process-2', leaseMs: hour, indexGap: 0 };
    expect(await runs.leases.claim(claim)).toMatchObject({
      attempt: 1,
      nextEventIndex: 0,
      status: 'pending',
    });
    await runs.commit([progress(cancelled, { status: 'cancelled' })]);
    const continued = aRun({ status: 'running', attempt: 3, ...free });
    const continuedElsewhere = aRun({ status: 'running', attempt: 3, ...free });
    await runs.commit([continued, continuedElsewhere].map((run) => creation(run)));
    await runs.leases.claim({ ...claim, runId: continuedElsewhere.runId, attempt: 3 });
    const gone = { runId: 'gone', attempt: 0 };
    const asked = [waits, taken, cancelled, continued, continuedElsewhere, gone];
    expect(await runs.queue.noLongerWaiting(asked)).toEqual([
      ...ids([taken, cancelled, continuedElsewhere]),
      'gone',
    ]);
  });
});

forEachDatabaseAndPooler((_dialect, freshPlace) => {
  it('lets exactly one of many claim a run, and fences the old holder at that moment', async () => {
    const place = await freshPlace();
    const replicas = [await place.open(), await place.open(), await place.open()].map(
      (one) => new RunStore(one),
    );
    for (let round = 0; round < 10; round++) {
      const run = aRun();
      await replicas[0]!.commit([creation(run)]);
      // The old holder writes on while two others take over: each of its writes lands before, or not at all.
      const writes = Array.from({ length: 10 }, (_, seq) =>
        replicas[0]!.commit([progress(run, { updatedAt: start + seq }, { steps: [aStep(run, seq)] })]),
      );
      const claims = replicas.slice(1).map(async (replica, index) => {
        const claim = { runId: run.runId, attempt: 1, owner: `taker-${index}`, leaseMs: hour, indexGap: 0 };
        // What the old holder writes also says that its lease ended: the claim is open all the time.
        const claimed = await replica.leases.claim(claim);
        return claimed && (await replica.load(run.runId));
      });
      const refused = (await Promise.all(writes)).map((outcome) => outcome.length > 0);
      const taken = (await Promise.all(claims)).filter((seen) => seen !== undefined);
      expect(taken).toHaveLength(1);
      const landed = refused.flatMap((isRefused, seq) => (isRefused ? [] : [seq]));
      expect(taken[0]!.steps.map(({ seq }) => seq)).toEqual(landed);
      expect((await replicas[0]!.load(run.runId))!.steps.map(({ seq }) => seq)).toEqual(landed);
    }
  });

  it('renews leases while the same runs are being written', async () => {
    const place = await freshPlace();
    const [writer, renewer] = [await place.open(), await place.open()].map((one) => new RunStore(one));
    const all = Array.from({ length: 30 }, () => aRun());
    await writer!.commit(all.map((run) => creation(run)));
    const shuffled = [...all].reverse();
    const work: Promise<unknown>[] = [];
    for (let round = 1; round <= 10; round++) {
      work.push(writer!.commit(shuffled.map((run) => progress(run, { nextEventIndex: round }))));
      work.push(renewer!.leases.renew('process-1', all, hour));
    }
    await Promise.all(work);
    expect(await writer!.commit(all.map((run) => progress(run, finished)))).toEqual([]);
    expect(await claimable(writer!)).toEqual([]);
  });
});
