import { execFileSync } from 'node:child_process';
import fs, {
  copyFileSync,
  existsSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SqliteDatabase, WriteUnit } from '../../src/platform/storage/database.js';
import { loadSqliteLibrary } from '../../src/platform/storage/sqlite/library.js';
import { encodeText } from '../../src/platform/storage/text.js';
import { isTransientStorageError } from '../../src/platform/storage/transient.js';
import { emptySqlite } from '../support/databases.js';
import { gate, until } from '../support/until.js';
import { WritingThreads } from '../support/writing-threads.js';

/** Until the end of the test, the disk syncs in this way. */
function syncWith(sync: (done: (error: Error | null) => void) => void) {
  const spy = vi.spyOn(fs, 'fdatasync').mockImplementation((_, done) => sync(done));
  syncBuiltinESMExports();
  const restore = () => {
    spy.mockRestore();
    syncBuiltinESMExports();
  };
  onTestFinished(restore);
  return { spy, restore };
}

const insert = 'INSERT INTO notes (id, text) VALUES (?, ?)';
const note = (id: string, text = '') => [[{ sql: insert, parameters: [id, text] }]];

/** A database with two rows, whose thread has ended: only the main thread writes. */
async function openNotes({ endsThread = true } = {}) {
  const threads = new WritingThreads();
  const place = await emptySqlite();
  const path = place.url.replace('sqlite://', '');
  const database = (await place.openUnprepared()) as SqliteDatabase;
  await database.transaction((run) => run('CREATE TABLE notes (id text PRIMARY KEY, text text)'));
  for (const id of ['first', 'second']) await database.write(note(id));
  if (endsThread) await threads.endNewest();
  const all = async () => {
    const ids = { name: 'ids', sqlite: 'SELECT id FROM notes ORDER BY rowid', postgres: '' };
    return (await database.read<{ id: string }>(ids, [])).map(({ id }) => id).slice(2);
  };
  return { threads, database, path, all };
}

test('a small write needs no thread, and is over when the disk has it', async () => {
  const { threads, database, all } = await openNotes();
  const slow = gate();
  const { spy } = syncWith((done) => void slow.opened.then(() => done(null)));
  let isOver = false;
  const writing = database.write(note('small')).then((refusals) => {
    isOver = true;
    return refusals;
  });
  await until('the log is being synced', () => spy.mock.calls.length > 0);
  expect(isOver).toBe(false);
  slow.open();
  expect(await writing).toEqual([-1]);
  expect(await all()).toEqual(['small']);
  expect(threads.started).toHaveLength(1);
});

test('a log that cannot be synced fails the write as a database that accepts none, until it can', async () => {
  const { database } = await openNotes();
  const { restore } = syncWith((done) => done(Object.assign(new Error('i/o error'), { code: 'EIO' })));
  await expect(database.write(note('unsure'))).rejects.toSatisfy(isTransientStorageError);
  expect(database.outage).toBe('unwritable');
  restore();
  await database.write(note('after'));
  await until('the database accepts writes', async () => {
    await database.write([[{ sql: 'UPDATE notes SET text = ?', parameters: ['again'] }]]);
    return database.outage === undefined;
  });
});

test('after a log that could not be synced nothing is written before the file itself has what the log holds', async () => {
  const { database, path } = await openNotes();
  const { restore } = syncWith((done) => done(Object.assign(new Error('i/o error'), { code: 'EIO' })));
  await expect(database.write(note('unsure'))).rejects.toSatisfy(isTransientStorageError);
  restore();
  const { DatabaseSync } = loadSqliteLibrary();
  const other = new DatabaseSync(path);
  other.exec('BEGIN; SELECT * FROM notes');
  await expect(database.write(note('refused'))).rejects.toSatisfy(isTransientStorageError);
  other.exec('COMMIT');
  other.close();
  await database.write(note('after'));
  // in another process: to close the file here would end the locks of this one
  execFileSync(process.execPath, ['-e', `fs.copyFileSync(...process.argv.slice(1))`, path, `${path}.copy`]);
  const copy = new DatabaseSync(`${path}.copy`);
  expect(copy.prepare('SELECT id FROM notes').all()).toContainEqual({ id: 'unsure' });
  copy.close();
});

test('nor is a new schema made before that', async () => {
  const { threads, path, database } = await openEmpty();
  await database.script(createNotes, findNotes);
  const { restore } = syncWith((done) => done(Object.assign(new Error('i/o error'), { code: 'EIO' })));
  await expect(database.write(note('unsure'))).rejects.toSatisfy(isTransientStorageError);
  restore();
  expect(await database.script('CREATE TABLE other (id text)', 'SELECT 1 WHERE 0')).toBe(true);
  expect(threads.started).toHaveLength(1);
  // as above
  execFileSync(process.execPath, ['-e', `fs.copyFileSync(...process.argv.slice(1))`, path, `${path}.copy`]);
  expect(notesIn(`${path}.copy`)).toEqual([{ id: 'unsure' }]);
});

test('a refused unit reports its guard, and one that fails leaves nothing', async () => {
  const { database, threads, all } = await openNotes();
  const find = { sql: 'SELECT 1 FROM notes WHERE id = ?', parameters: ['nobody'], guard: 'found' } as const;
  const [row] = note('one')[0]!;
  expect(await database.write([[row!, find, row!]])).toEqual([1]);
  expect(threads.started).toHaveLength(1);
  const taken: WriteUnit = [...note('two')[0]!, ...note('one')[0]!];
  await expect(database.write([taken])).rejects.toThrow(/UNIQUE/);
  await database.write(note('three'));
  expect(await all()).toEqual(['one', 'three']);
});

test.each([1, 2])('values that SQLite does not hold are encoded, in %i units', async (count) => {
  const { database } = await openNotes();
  const values = ['plain', 'nul \0', '\ud800', '\u0001', null, 7, ['a', 'nul \0'], new Uint8Array([1, 0])];
  for (const [index, value] of values.entries())
    await database.write(
      Array.from({ length: count }, (_, unit) => [
        { sql: insert, parameters: [`${index} ${unit}`, value as string] },
      ]),
    );
  const stored = { name: 'texts', sqlite: 'SELECT id, text FROM notes ORDER BY rowid', postgres: '' };
  const rows = (await database.read<{ id: string; text: unknown }>(stored, [])).slice(2);
  expect(rows).toEqual(
    values.flatMap((value, index) =>
      Array.from({ length: count }, (_, unit) => ({
        id: `${index} ${unit}`,
        text: Array.isArray(value) ? JSON.stringify(value.map(encodeText)) : value === 7 ? '7' : value,
      })),
    ),
  );
});

test('a write waits in the thread while another process writes, and the main thread does not', async () => {
  const { threads, database, path, all } = await openNotes();
  const { DatabaseSync } = loadSqliteLibrary();
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const writing = database.write(note('patient'));
  // the thread has begun to wait when it has been started again
  await until('the thread is started again', () => threads.started.length === 2);
  expect(await all()).toEqual([]);
  other.exec('COMMIT');
  other.close();
  await writing;
  expect(await all()).toEqual(['patient']);
});

test('the thread makes large writes and several at once, and a few among many small ones when the log is long', async () => {
  const { database, path } = await openNotes({ endsThread: false });
  const posted = vi.spyOn(Worker.prototype, 'postMessage');
  onTestFinished(() => posted.mockRestore());
  const madeByThread = async (write: () => Promise<unknown>) => {
    posted.mockClear();
    await write();
    return posted.mock.calls.filter(([{ kind }]) => kind === 'batches').length;
  };
  const rows = Array.from({ length: 40 }, (_, at) => note(`row ${at}`)[0]![0]!);
  expect(await madeByThread(() => database.write(note('small')))).toBe(0);
  expect(await madeByThread(() => database.write(note('large', 'x'.repeat(70_000))))).toBe(1);
  expect(await madeByThread(() => database.write([rows]))).toBe(1);
  expect(await madeByThread(() => database.write([...note('a'), ...note('b')]))).toBe(1);
  expect(await madeByThread(() => Promise.all(['c', 'd'].map((id) => database.write(note(id)))))).toBe(1);
  const many = async (name: string) => {
    for (let at = 0; at < 100; at += 1) await database.write(note(`${name} ${at}`));
  };
  expect(await madeByThread(() => many('short log'))).toBe(0);
  truncateSync(`${path}-wal`, 20_000_000);
  expect(await madeByThread(() => many('long log'))).toBe(2);
});

/** An empty database, and the threads that were started since it was opened. */
async function openEmpty() {
  const threads = new WritingThreads();
  const place = await emptySqlite();
  const path = place.url.replace('sqlite://', '');
  const database = (await place.openUnprepared()) as SqliteDatabase;
  return { threads, place, path, database };
}

const createNotes = 'CREATE TABLE notes (id text PRIMARY KEY, text text); CREATE INDEX texts ON notes (text)';
const findNotes = `SELECT 1 FROM sqlite_master WHERE name = 'notes'`;

test('a new schema, reads and small writes need no thread, and the next connection finds all of it', async () => {
  const { threads, place, path, database } = await openEmpty();
  expect(await database.script(createNotes, findNotes)).toBe(true);
  expect(await database.script(createNotes, findNotes)).toBe(false);
  for (let at = 0; at < 250; at += 1) await database.write(note(`small ${at}`));
  await database.close();
  expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  const reopened = await place.openUnprepared();
  const count = { name: 'count', sqlite: 'SELECT count(*) AS count FROM notes', postgres: '' };
  expect(await reopened.read(count, [])).toEqual([{ count: 250 }]);
  expect(threads.started).toHaveLength(0);
  await (reopened as SqliteDatabase).write([...note('a'), ...note('b')]);
  expect(threads.started).toHaveLength(1);
});

function notesIn(path: string): unknown[] {
  const { DatabaseSync } = loadSqliteLibrary();
  const connection = new DatabaseSync(path);
  const notes = connection.prepare('SELECT id FROM notes ORDER BY id').all();
  connection.close();
  return notes;
}

test('the thread writes to the file of the start, wherever a link leads later', async () => {
  const place = await emptySqlite();
  const path = place.url.replace('sqlite://', '');
  const [first, other] = [`${path}.first`, `${path}.other`];
  writeFileSync(first, '');
  symlinkSync(first, path);
  const database = (await place.openUnprepared()) as SqliteDatabase;
  await database.script(createNotes, findNotes);
  rmSync(path);
  symlinkSync(other, path);
  await database.write([...note('a'), ...note('b')]);
  await database.close();
  expect(notesIn(first)).toEqual([{ id: 'a' }, { id: 'b' }]);
  expect(existsSync(other)).toBe(false);
});

test('the thread neither creates a file that was removed, nor writes to one that replaced it', async () => {
  const { path, database } = await openEmpty();
  await database.script(createNotes, findNotes);
  const write = () => database.write([...note('a'), ...note('b')]);
  renameSync(path, `${path}.moved`);
  await expect(write()).rejects.toMatchObject({ code: 'database_unavailable' });
  expect(existsSync(path)).toBe(false);
  copyFileSync(`${path}.moved`, path);
  await expect(write()).rejects.toMatchObject({ code: 'database_unavailable' });
  rmSync(path);
  renameSync(`${path}.moved`, path);
  await write();
  expect(notesIn(path)).toEqual([{ id: 'a' }, { id: 'b' }]);
});

test('a new schema is there when the disk has it, and one that cannot be synced is refused', async () => {
  const { database } = await openEmpty();
  const slow = gate();
  const { spy, restore } = syncWith((done) => void slow.opened.then(() => done(null)));
  let isOver = false;
  const creating = database.script(createNotes, findNotes).finally(() => {
    isOver = true;
  });
  await until('the log is being synced', () => spy.mock.calls.length > 0);
  expect(isOver).toBe(false);
  slow.open();
  expect(await creating).toBe(true);
  restore();
  syncWith((done) => done(Object.assign(new Error('i/o error'), { code: 'EIO' })));
  await expect(database.script('CREATE TABLE other (id text)', 'SELECT 1 WHERE 0')).rejects.toThrow();
});

test('a new schema waits in the thread while another process writes', async () => {
  const { threads, path, database } = await openEmpty();
  const { DatabaseSync } = loadSqliteLibrary();
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE; CREATE TABLE notes (id text)');
  const creating = database.script(createNotes, findNotes);
  await until('the thread is started', () => threads.started.length === 1);
  other.exec('COMMIT');
  other.close();
  expect(await creating).toBe(false);
});

test('a database without a thread closes at once beside another process, which finds the last write', async () => {
  const { threads, path, database } = await openEmpty();
  await database.script(createNotes, findNotes);
  await database.write(note('last'));
  const { DatabaseSync } = loadSqliteLibrary();
  const other = new DatabaseSync(path);
  other.exec('BEGIN; SELECT * FROM notes');
  const before = performance.now();
  await database.close();
  // a connection waits for others up to a second where it may wait
  expect(performance.now() - before).toBeLessThan(900);
  other.exec('COMMIT');
  expect(other.prepare('SELECT id FROM notes').all()).toEqual([{ id: 'last' }]);
  other.close();
  expect(threads.started).toHaveLength(0);
});

test('the log stays short under small writes alone', async () => {
  const { database, path } = await openNotes({ endsThread: false });
  syncWith((done) => setImmediate(done, null));
  const text = 'x'.repeat(60_000);
  let most = 0;
  for (let at = 0; at < 900; at += 1) {
    await database.write(note(`at ${at}`, text));
    most = Math.max(most, statSync(`${path}-wal`).size);
  }
  // 900 of them are 55 MB
  expect(most).toBeLessThan(35_000_000);
  expect(statSync(path).size).toBeGreaterThan(30_000_000);
});

test('a database that closes finishes the write under way and leaves nothing in the log', async () => {
  const { database, path } = await openNotes({ endsThread: false });
  const writing = database.write(note('last'));
  await database.close();
  expect(await writing).toEqual([-1]);
  expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  const { DatabaseSync } = loadSqliteLibrary();
  const reopened = new DatabaseSync(path);
  expect(reopened.prepare('SELECT count(*) AS count FROM notes').get()).toEqual({ count: 3 });
  reopened.close();
});

test('a small write to a database that is closed is refused', async () => {
  const { database } = await openNotes({ endsThread: false });
  await database.close();
  await expect(database.write(note('late'))).rejects.toThrow('The database is closed.');
});

test('small writes to a database behind a symbolic link are synced where its log is', async () => {
  const place = await emptySqlite();
  const path = place.url.replace('sqlite://', '');
  writeFileSync(`${path}.real`, '');
  symlinkSync(`${path}.real`, path);
  const database = (await place.openUnprepared()) as SqliteDatabase;
  await database.transaction((run) => run('CREATE TABLE notes (id text PRIMARY KEY, text text)'));
  for (const id of ['a', 'b', 'c', 'd']) expect(await database.write(note(id))).toEqual([-1]);
});
