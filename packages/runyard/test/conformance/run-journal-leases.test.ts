import { expect, it } from 'vitest';
import { RunStore } from '../../src/capabilities/runs/store.js';
import { forEachDatabase } from '../support/databases.js';
import { aRun, aStep, creation, finished, progress, start } from './builders.js';

forEachDatabase((_dialect, freshPlace) => {
  async function aStore() {
    return new RunStore(await (await freshPlace()).open());
  }

  it('finds the runs whose lease has ended, oldest first', async () => {
    const runs = await aStore();
    const ended = [3, 1, 2].map((ms) => aRun({ createdAt: start + ms, leaseExpiresAt: start + 100 - ms }));
    const free = aRun({ createdAt: start + 4, status: 'pending', leaseOwner: null, leaseExpiresAt: null });
    const held = aRun({ leaseExpiresAt: start + 5000 });
    const over = (['completed', 'error', 'cancelled', 'paused', 'regenerated'] as const).map((status) =>
      aRun({ status }),
    );
    await runs.commit([...ended, free, held, ...over].map((run) => creation(run)));
    const found = [ended[1]!, ended[2]!, ended[0]!, free];
    expect(await runs.expired(start + 1000, 10, 0)).toEqual(found);
    expect(await runs.expired(start + 1000, 2, 0)).toEqual(found.slice(0, 2));
    expect(await runs.expired(start + 1000, 2, 1)).toEqual(found.slice(1, 3));
  });

  it('finds the paused runs whose time has come, the most overdue first', async () => {
    const runs = await aStore();
    const paused = (wakeAt: number | null) =>
      aRun({ status: 'paused', leaseOwner: null, leaseExpiresAt: null, wakeAt });
    const due = [start + 30, start + 10, start + 20].map(paused);
    const others = [paused(start + 5000), paused(null), aRun({ wakeAt: start })];
    await runs.commit([...due, ...others].map((run) => creation(run)));
    const found = [due[1]!, due[2]!, due[0]!];
    expect(await runs.due(start + 1000, 10, 0)).toEqual(found);
    expect(await runs.due(start + 1000, 2, 0)).toEqual(found.slice(0, 2));
    expect(await runs.due(start + 1000, 2, 1)).toEqual(found.slice(1));
  });

  it('gives an ended lease to the first who claims it', async () => {
    const runs = await aStore();
    const run = aRun({ leaseExpiresAt: start + 10 });
    await runs.commit([creation(run)]);
    const claim = {
      runId: run.runId,
      attempt: 1,
      owner: 'process-2',
      now: start + 20,
      expiresAt: start + 99,
      indexGap: 100,
    };
    expect(await runs.claim({ ...claim, now: start + 5 })).toBeUndefined();
    expect(await runs.claim({ ...claim, attempt: 2 })).toBeUndefined();
    expect(await runs.claim(claim)).toEqual({
      ...run,
      attempt: 2,
      leaseOwner: 'process-2',
      leaseExpiresAt: start + 99,
      nextEventIndex: run.nextEventIndex + 100,
      updatedAt: start + 20,
    });
    expect(await runs.claim(claim)).toBeUndefined();
  });

  it('never gives out a run that rests or has ended', async () => {
    const runs = await aStore();
    const over = (['paused', 'completed', 'error', 'cancelled', 'regenerated'] as const).map((status) =>
      aRun({ status, leaseOwner: null, leaseExpiresAt: null }),
    );
    await runs.commit(over.map((run) => creation(run)));
    const claim = { attempt: 1, owner: 'process-2', now: start + 20, expiresAt: start + 99, indexGap: 0 };
    for (const { runId } of over) expect(await runs.claim({ ...claim, runId })).toBeUndefined();
  });

  it('prolongs and gives up the leases of one owner only', async () => {
    const runs = await aStore();
    const mine = [aRun(), aRun({ status: 'pending' })];
    const theirs = aRun({ leaseOwner: 'process-2' });
    await runs.commit([...mine, theirs].map((run) => creation(run)));
    expect([...(await runs.leaseOwners())].sort()).toEqual(['process-1', 'process-2']);
    const everyRun = [...mine, theirs].map(({ runId }) => runId);
    await runs.renewLeases('process-1', everyRun, start + 90_000);
    expect(await runs.expired(start + 60_000, 10, 0)).toEqual([theirs]);
    await runs.releaseLeases('process-1');
    expect(await runs.leaseOwners()).toEqual(['process-2']);
    const released = await runs.expired(start, 10, 0);
    expect(released.map(({ runId }) => runId)).toEqual(mine.map(({ runId }) => runId));
  });

  it('prolongs only the runs it is told: one that its process has lost must be found', async () => {
    const runs = await aStore();
    const [held, lost] = [aRun(), aRun()];
    await runs.commit([held, lost].map((run) => creation(run)));
    await runs.renewLeases('process-1', [held.runId], start + 90_000);
    expect((await runs.expired(start + 60_000, 10, 0)).map(({ runId }) => runId)).toEqual([lost.runId]);
  });

  it('lets exactly one of many claim a run, and fences the old holder at that moment', async () => {
    const place = await freshPlace();
    const replicas = [await place.open(), await place.open(), await place.open()].map(
      (one) => new RunStore(one),
    );
    for (let round = 0; round < 10; round++) {
      const run = aRun({ leaseExpiresAt: start });
      await replicas[0]!.commit([creation(run)]);
      // The old holder writes on while two others take over: each of its writes lands before, or not at all.
      const writes = Array.from({ length: 10 }, (_, seq) =>
        replicas[0]!.commit([progress(run, { updatedAt: start + seq }, { steps: [aStep(run, seq)] })]),
      );
      const claims = replicas.slice(1).map(async (replica, index) => {
        const claim = {
          runId: run.runId,
          attempt: 1,
          owner: `taker-${index}`,
          now: start + 1,
          expiresAt: start + 9,
          indexGap: 0,
        };
        // What the old holder writes also says that its lease ended: the claim is open all the time.
        const claimed = await replica.claim(claim);
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
      work.push(
        renewer!.renewLeases(
          'process-1',
          all.map(({ runId }) => runId),
          start + round,
        ),
      );
    }
    await Promise.all(work);
    expect(await writer!.commit(all.map((run) => progress(run, finished)))).toEqual([]);
    expect(await writer!.expired(start + 90_000, 10, 0)).toEqual([]);
  });
});
