import { renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agent } from '../../src/index.js';
import type { SqliteDatabase } from '../../src/platform/storage/database.js';
import { isTransientStorageError } from '../../src/platform/storage/transient.js';
import { scriptedModel } from '../../src/testing.js';
import { emptySqlite } from '../support/databases.js';
import { startService } from '../support/service.js';
import { until } from '../support/until.js';
import { WritingThreads } from '../support/writing-threads.js';

const insert = 'INSERT INTO notes (id) VALUES (?)';
/** With a second unit, which writes nothing: a single small one would not need the thread. */
const note = (id: string) => [[{ sql: insert, parameters: [id] }], []];

async function openNotes() {
  const threads = new WritingThreads();
  const place = await emptySqlite();
  const folder = dirname(place.url.replace('sqlite://', ''));
  const database = (await place.openUnprepared()) as SqliteDatabase;
  await database.transaction((run) => run('CREATE TABLE notes (id text PRIMARY KEY)'));
  const all = async () =>
    (
      await database.read<{ id: string }>({ name: 'notes', sqlite: 'SELECT id FROM notes', postgres: '' }, [])
    ).map(({ id }) => id);
  /** As the write queue does: a write that failed for a moment is made again, and one that was made is not. */
  const patiently = (id: string) =>
    until(`${id} is written`, async () => {
      try {
        await database.write(note(id));
        return true;
      } catch (error) {
        if (!isTransientStorageError(error)) return (await all()).includes(id);
        return false;
      }
    });
  return { threads, database, folder, all, patiently };
}

test('a thread that ended is started again by the next write, with the statements that it knew', async () => {
  const { threads, database, all } = await openNotes();
  await database.write(note('before'));
  await threads.endNewest();
  await database.write(note('after'));
  expect(await all()).toEqual(['before', 'after']);
  expect(threads.started).toHaveLength(2);
});

test('nothing that was acknowledged is lost when the thread ends again and again under load', async () => {
  const { threads, all, patiently } = await openNotes();
  const acknowledged: string[] = [];
  let writing = true;
  const write = async (writer: number) => {
    // until threads have ended under load, however fast the disk is
    for (let at = 0; at < 40 || threads.started.length <= 2; at += 1) {
      const id = `${writer}-${at}`;
      await patiently(id);
      acknowledged.push(id);
    }
  };
  const writers = Promise.all([0, 1, 2, 3].map(write)).finally(() => {
    writing = false;
  });
  for (let seen = 0; writing && threads.started.length < 6; ) {
    await until('more is written', () => acknowledged.length >= seen + 10 || !writing);
    seen = acknowledged.length;
    await threads.endNewest();
  }
  await writers;
  expect(threads.started.length).toBeGreaterThan(2);
  expect((await all()).sort()).toEqual([...acknowledged].sort());
});

test('a transaction ends with the thread: nothing of it is stored, and nothing more of it is written', async () => {
  const { threads, database, all } = await openNotes();
  const failed = database.transaction(async (run) => {
    await run(insert, ['first']);
    await threads.endNewest();
    await run(insert, ['second']);
  });
  await expect(failed).rejects.toSatisfy(isTransientStorageError);
  expect(await all()).toEqual([]);
  await database.write(note('after'));
  expect(await all()).toEqual(['after']);
});

test('a thread that keeps ending is not started again for each write', async () => {
  const { threads, database, folder } = await openNotes();
  await threads.endNewest();
  // a disk that is away: the thread ends while it opens the file
  renameSync(folder, `${folder}-away`);
  onTestFinished(() => rmSync(`${folder}-away`, { recursive: true, force: true }));
  for (let tries = 0; tries < 200; tries += 1) {
    const written = database.write(note(String(tries)));
    await expect(written).rejects.toSatisfy(isTransientStorageError);
  }
  expect(threads.started.length).toBeLessThan(20);
  renameSync(`${folder}-away`, folder);
  await until('it writes again', () => database.write(note('after')).catch(() => false));
});

test('a closed database stays closed', async () => {
  const { threads, database } = await openNotes();
  await threads.endNewest();
  await database.close();
  const [error] = await Promise.allSettled([database.write(note('late'))]);
  expect(error).toMatchObject({ status: 'rejected', reason: { message: 'The database is closed.' } });
});

test('runs of a service outlive the thread that stores them', async () => {
  const threads = new WritingThreads();
  const service = await startService({
    // long ones: the main thread writes a short one itself
    agents: [agent({ id: 'a', model: scriptedModel((_, call) => `answer ${call} `.repeat(10_000)) })],
  });
  for (let round = 0; round < 3; round += 1) {
    const runs = Array.from({ length: 5 }, (_, at) =>
      service.run('a', { message: 'hi', run_id: `run-${round}-${at}` }),
    );
    await threads.endNewest();
    for (const { status, body } of await Promise.all(runs)) {
      expect([status, body.status]).toEqual([200, 'completed']);
      expect((await service.get(`/agents/a/runs/${body.run_id}`)).body.status).toBe('completed');
    }
  }
  expect(threads.started.length).toBeGreaterThan(2);
});
