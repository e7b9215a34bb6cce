import { expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import type { IdempotencyKey } from '../../../src/core/runs/journal/ports.js';
import type { Run } from '../../../src/core/runs/run.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, creation, sessionOf, start } from '../builders.js';
import { forEachJournal } from '../journals.js';

const day = 86_400_000;

function keyOf(run: Run, given: Partial<IdempotencyKey> = {}): IdempotencyKey {
  const { userId, kind, componentId } = run;
  return { userId, kind, componentId, key: 'order-7', ...given };
}

/** The first write of a run that is started under a key, at the time that the run was created. */
function startUnder(key: IdempotencyKey, run: Run) {
  const { runId, createdAt: now } = run;
  const payload = `payload of ${runId}`;
  return creation(run, { idempotency: { ...key, runId, payload, since: now - day, now } });
}

forEachJournal((aJournal) => {
  it('remembers the run that was started under a key, for its user and component alone', async () => {
    const journal = await aJournal();
    const run = aRun({ userId: 'ada' });
    const key = keyOf(run);
    expect(await journal.idempotentRun(key, start - day)).toBeUndefined();
    expect(await journal.commit([startUnder(key, run)])).toEqual([]);
    expect(await journal.idempotentRun(key, start - day)).toEqual({
      runId: run.runId,
      payload: `payload of ${run.runId}`,
    });
    const others: Partial<IdempotencyKey>[] = [
      { userId: 'bob' },
      { userId: null },
      { userId: '-' },
      { kind: 'team' },
      { componentId: 'reader' },
      { key: 'order-8' },
    ];
    for (const other of others) {
      expect(await journal.idempotentRun(keyOf(run, other), start - day)).toBeUndefined();
      const further = aRun({ userId: 'ada' });
      expect(await journal.commit([startUnder(keyOf(run, other), further)])).toEqual([]);
    }
    expect(await journal.idempotentRun(key, start)).toBeUndefined();
  });

  it('refuses a second run under the key, and stores nothing of that write', async () => {
    const journal = await aJournal();
    const [run, second, third] = [aRun(), aRun({ sessionId: 'new', createdAt: start + 1 }), aRun()];
    await journal.commit([startUnder(keyOf(run), run)]);
    const refused = await journal.commit([startUnder(keyOf(run), second), creation(third)]);
    expect(refused).toEqual([{ runId: second.runId, reason: 'key_taken' }]);
    expect(await journal.load(second.runId)).toBeUndefined();
    expect(await journal.session('new')).toBeUndefined();
    expect(await journal.load(third.runId)).toBeDefined();
    expect((await journal.idempotentRun(keyOf(run), 0))?.runId).toBe(run.runId);
  });

  it('gives the key to the first of two runs in one batch', async () => {
    const journal = await aJournal();
    const [first, second] = [aRun(), aRun()];
    const refused = await journal.commit([first, second].map((run) => startUnder(keyOf(run), run)));
    expect(refused).toEqual([{ runId: second.runId, reason: 'key_taken' }]);
    expect(await journal.load(second.runId)).toBeUndefined();
  });

  it('gives the key out again once it is too old to matter', async () => {
    const journal = await aJournal();
    const [run, early, late] = [0, day - 1, day].map((ms) => aRun({ createdAt: start + ms }));
    await journal.commit([startUnder(keyOf(run!), run!)]);
    expect(await journal.commit([startUnder(keyOf(run!), early!)])).toEqual([
      { runId: early!.runId, reason: 'key_taken' },
    ]);
    expect(await journal.commit([startUnder(keyOf(run!), late!)])).toEqual([]);
    expect((await journal.idempotentRun(keyOf(run!), start))?.runId).toBe(late!.runId);
  });

  it('says of a run that is written again that it exists, not that its key is taken', async () => {
    const journal = await aJournal();
    const run = aRun();
    await journal.commit([startUnder(keyOf(run), run)]);
    expect(await journal.commit([startUnder(keyOf(run), run)])).toEqual([
      { runId: run.runId, reason: 'run_exists' },
    ]);
  });

  it('keeps no key of a run that was refused for another reason', async () => {
    const journal = await aJournal();
    await journal.commit([creation(aRun({ userId: 'ada' }))]);
    const stranger = aRun({ userId: 'bob' });
    expect(await journal.commit([startUnder(keyOf(stranger), stranger)])).toEqual([
      { runId: stranger.runId, reason: 'foreign_session' },
    ]);
    expect(await journal.idempotentRun(keyOf(stranger), 0)).toBeUndefined();
  });
});

forEachDatabase((_dialect, freshPlace) => {
  it('starts one run under a key that many processes use at once', async () => {
    const place = await freshPlace();
    const replicas = [await place.open(), await place.open()].map((one) => new RunStore(one));
    for (let round = 0; round < 5; round++) {
      const runs = Array.from({ length: 8 }, (_, index) => aRun({ sessionId: `session-${index}` }));
      const key = keyOf(runs[0]!, { key: `nul \0 round ${round}` });
      const outcomes = await Promise.all(
        runs.map((run, index) => replicas[index % 2]!.commit([startUnder(key, run)])),
      );
      const started = runs.filter((_, index) => outcomes[index]!.length === 0);
      expect(started).toHaveLength(1);
      expect(outcomes.flat().map(({ reason }) => reason)).toEqual(Array(7).fill('key_taken'));
      expect((await replicas[0]!.idempotentRun(key, 0))?.runId).toBe(started[0]!.runId);
      const stored = await replicas[0]!.loadAll(runs.map(({ runId }) => runId));
      expect(stored.map(({ run }) => run.runId)).toEqual([started[0]!.runId]);
    }
  });

  it('frees the key of a run that is removed', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const run = aRun();
    await runs.commit([startUnder(keyOf(run), { ...run }), creation(aRun(), { session: sessionOf(run) })]);
    await database.query.deleteFrom('runs').where('run_id', '=', run.runId).execute();
    expect(await runs.idempotentRun(keyOf(run), 0)).toBeUndefined();
  });
});
