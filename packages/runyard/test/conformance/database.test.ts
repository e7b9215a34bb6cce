import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { RunStore } from '../../src/capabilities/runs/storage/store.js';
import { statement } from '../../src/platform/storage/database.js';
import { isTransientStorageError } from '../../src/platform/storage/transient.js';
import { forEachDatabaseAndPooler } from '../support/databases.js';
import { aRun, creation } from './builders.js';

const everyone = { kind: 'all' } as const;
const insertSession = statement(
  'test_insert_session',
  `INSERT INTO sessions (session_id, kind, component_id, name, created_at, updated_at)
    VALUES (?, 'agent', 'x', ?, 1, 1)`,
);
const countUp = statement('test_count_up', 'UPDATE runs SET attempt = attempt + 1 WHERE run_id = ?');
const readSessions = statement('test_read_sessions', 'SELECT session_id FROM sessions');

forEachDatabaseAndPooler((_dialect, freshPlace) => {
  it('undoes a transaction that fails, and only that', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const kept = aRun();
    const transaction = database.query.transaction().execute(async (inside) => {
      await inside
        .insertInto('sessions')
        .values({
          session_id: 'undone',
          kind: 'agent',
          component_id: 'x',
          user_id: null,
          name: null,
          metadata: null,
          created_at: 1,
          updated_at: 1,
        })
        .execute();
      expect(await inside.selectFrom('sessions').select('session_id').execute()).toContainEqual({
        session_id: 'undone',
      });
      throw new Error('changed my mind');
    });
    const [outcome] = await Promise.all([
      transaction.catch((error: Error) => error.message),
      runs.commit([creation(kept)]),
    ]);
    expect(outcome).toBe('changed my mind');
    expect((await runs.load(kept.runId))?.run).toEqual(kept);
    expect(await database.query.selectFrom('sessions').select('session_id').execute()).toEqual([
      { session_id: kept.sessionId },
    ]);
  });

  it('keeps what a plain transaction wrote, and returns the result of its work', async () => {
    const database = await (await freshPlace()).open();
    const sessions = await database.transaction(async (run) => {
      await run(insertSession[database.dialect], ['kept', 'nul \0']);
      return run<{ name: string }>('SELECT name FROM sessions');
    });
    expect(sessions).toEqual([{ name: 'nul \0' }]);
    expect(await database.read(readSessions, [])).toEqual([{ session_id: 'kept' }]);
  });

  it('undoes a plain transaction whose work fails', async () => {
    const database = await (await freshPlace()).open();
    const transaction = database.transaction(async (run) => {
      await run(insertSession[database.dialect], ['undone', null]);
      throw new Error('changed my mind');
    });
    await expect(transaction).rejects.toThrow('changed my mind');
    expect(await database.read(readSessions, [])).toEqual([]);
  });

  it('rolls back a plain transaction with a statement that failed, even when the work continued', async () => {
    const database = await (await freshPlace()).open();
    const transaction = database.transaction(async (run) => {
      await run(insertSession[database.dialect], ['undone', null]);
      await run('SELECT * FROM there_is_no_such_table').catch(() => {});
    });
    await expect(transaction).rejects.toThrow('there_is_no_such_table');
    expect(await database.read(readSessions, [])).toEqual([]);
    await database.transaction((run) => run(insertSession[database.dialect], ['next', null]));
    expect(await database.read(readSessions, [])).toEqual([{ session_id: 'next' }]);
  });

  it('keeps commits apart from a transaction that is under way', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const count = () => runs.count(everyone, { kind: 'agent', componentId: 'writer' });
    const before = aRun();
    await runs.commit([creation(before)]);
    await Promise.all([
      ...Array.from({ length: 5 }, () =>
        database.query.transaction().execute(async (inside) => {
          await sql`UPDATE runs SET attempt = attempt + 1 WHERE run_id = ${before.runId}`.execute(inside);
          await inside.selectFrom('runs').selectAll().execute();
        }),
      ),
      ...Array.from({ length: 5 }, () =>
        database.transaction(async (run) => {
          await run(countUp[database.dialect], [before.runId]);
          await run('SELECT * FROM runs');
        }),
      ),
      ...Array.from({ length: 20 }, () => runs.commit([creation(aRun())])),
    ]);
    expect(await count()).toBe(21);
    expect((await runs.load(before.runId))?.run.attempt).toBe(11);
  });

  it('fails the batch that is at fault, and no other that is written at the same time', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    const good = Array.from({ length: 6 }, () => aRun());
    // Its session is never created: the database itself refuses it.
    const orphan = aRun({ sessionId: 'never-created' });
    const faulty = runs
      .commit([{ ...creation(orphan), session: undefined }])
      .catch((error: unknown) => error);
    const outcomes = await Promise.all(good.map((run) => runs.commit([creation(run)])));
    expect(await faulty).toBeInstanceOf(Error);
    expect(isTransientStorageError(await faulty)).toBe(false);
    expect(outcomes.flat()).toEqual([]);
    for (const run of good) expect((await runs.load(run.runId))?.run).toEqual(run);
    expect(await runs.load(orphan.runId)).toBeUndefined();
  });

  it('returns the number of rows that a statement changed, and the rows that it returns', async () => {
    const database = await (await freshPlace()).open();
    const runs = new RunStore(database);
    await runs.commit([creation(aRun()), creation(aRun())]);
    const changed = await database.query.updateTable('runs').set({ model: 'other' }).executeTakeFirst();
    expect(changed.numUpdatedRows).toBe(2n);
    const removed = await database.query.deleteFrom('runs').returning('model').execute();
    expect(removed).toEqual([{ model: 'other' }, { model: 'other' }]);
  });

  it('finishes pending writes before it closes, and refuses later ones', async () => {
    const place = await freshPlace();
    const database = await place.open();
    const run = aRun();
    const writing = new RunStore(database).commit([creation(run)]);
    await Promise.all([database.close(), database.close()]);
    expect(await writing).toEqual([]);
    await expect(new RunStore(database).commit([creation(aRun())])).rejects.toThrow();
    expect((await new RunStore(await place.open()).load(run.runId))?.run).toEqual(run);
  });
});
