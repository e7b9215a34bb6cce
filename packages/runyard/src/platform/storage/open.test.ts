import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { RunyardError } from '../../core/errors/errors.js';
import { silentLog } from '../../core/log.js';
import { openDatabase } from './open.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-open-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

async function failureOf(url: string): Promise<RunyardError> {
  const error = await openDatabase({ id: 'main', migrations: [], url, log: silentLog }).then(
    (database) => database.close().then(() => undefined),
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(RunyardError);
  return error as RunyardError;
}

it('creates the folders of a SQLite file', async () => {
  const path = join(folder, 'deep', 'er', 'runyard.db');
  const database = await openDatabase({
    id: 'main',
    migrations: [],
    url: `sqlite://${path}`,
    log: silentLog,
  });
  expect(database).toMatchObject({ id: 'main', dialect: 'sqlite', location: path });
  await database.close();
});

it('takes a relative path from the working folder', async () => {
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(folder);
  const database = await openDatabase({
    id: 'main',
    migrations: [],
    url: 'sqlite:data/runyard.db',
    log: silentLog,
  });
  expect(database.location).toBe(join(process.cwd(), 'data/runyard.db'));
  await database.close();
});

it('refuses a database in memory, which no second connection can see', async () => {
  const error = await failureOf('sqlite::memory:');
  expect(error.code).toBe('invalid_config');
  expect(error.message).toContain('sqlite::memory: is not supported');
});

it.each(['sqlite:', 'sqlite://runyard.db', 'sqlite:///'])('refuses %s, which names no file', async (url) => {
  expect((await failureOf(url)).message).toContain('does not name a file');
});

it('refuses a kind of database that it does not know', async () => {
  const { message } = await failureOf('mysql://root:secret@localhost/app');
  expect(message).toContain("unknown kind ('mysql:')");
  expect(message).not.toContain('secret');
});

it('says that a file is not a database', async () => {
  const path = join(folder, 'notes.txt');
  writeFileSync(path, 'these are notes, '.repeat(500));
  const error = await failureOf(`sqlite://${path}`);
  expect(error.code).toBe('database_unavailable');
  expect(error.message).toBe(
    `Database 'main' cannot be opened at ${path}: the file is not an SQLite database. Choose another file.`,
  );
});

it('says that a part of the path is a file', async () => {
  writeFileSync(join(folder, 'file'), '');
  const path = join(folder, 'file', 'runyard.db');
  expect((await failureOf(`sqlite://${path}`)).message).toContain(`${path}: a part of the path is a file`);
});

it('says that the path is a folder', async () => {
  const path = join(folder, 'folder');
  mkdirSync(path);
  expect((await failureOf(`sqlite://${path}`)).message).toContain(`${path}: the file cannot be opened`);
});

it('says that a folder cannot be written', async () => {
  chmodSync(folder, 0o500);
  // The superuser may write anywhere but here.
  const path = join(process.getuid?.() === 0 ? '/sys/kernel' : folder, 'new', 'runyard.db');
  const error = await failureOf(`sqlite://${path}`);
  expect(error.code).toBe('database_unavailable');
  expect(error.message).toContain(`${path}: it cannot be written. Choose another place`);
});

it('says which server refuses, without the password', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const error = await failureOf(`postgres://ada:hunter2@127.0.0.1:${port}/app`);
  expect(error.code).toBe('database_unavailable');
  expect(error.message).toBe(
    `Database 'main' cannot be used at postgres://127.0.0.1:${port}/app: the server refuses the connection. Is it running, and is the port right?`,
  );
});

it('says that a PostgreSQL URL cannot be read, without repeating it', async () => {
  const { message } = await failureOf('postgres://ada:hunter2@host:port/app');
  expect(message).toContain('cannot be read');
  expect(message).not.toContain('hunter2');
});
