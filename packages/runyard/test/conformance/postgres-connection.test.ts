import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import type { Database } from '../../src/platform/storage/database.js';
import { openDatabase } from '../../src/platform/storage/open.js';
import { isTransientStorageError } from '../../src/platform/storage/transient.js';
import { type LogLine, recordingLog } from '../support/clients/http-server.js';
import { freshPostgres } from '../support/databases.js';
import { ServerBetween } from '../support/server-between.js';
import { gate, until } from '../support/until.js';

const uses: Record<string, (database: Database, breakAll: () => void) => Promise<unknown>> = {
  query: (database, breakAll) =>
    database.query.connection().execute(async (connection) => {
      await sql`SELECT 1`.execute(connection);
      breakAll();
      await sql`SELECT 2`.execute(connection);
    }),
  transaction: (database, breakAll) =>
    database.transaction(async (run) => {
      await run('SELECT 1');
      breakAll();
      await run('SELECT 2');
    }),
};

// Without care a connection that breaks while it is in use ends the process.
it.each(Object.entries(uses))('survives a %s whose connection breaks', async (_, use) => {
  const server = await ServerBetween.before((await freshPostgres()).url);
  const database = await openDatabase({ id: 'test', migrations: [], url: server.url, log: silentLog });
  onTestFinished(() => database.close());
  const failure: unknown = await use(database, () => server.breakAll()).catch((error: unknown) => error);
  expect(isTransientStorageError(failure)).toBe(true);
  expect(await database.transaction((run) => run('SELECT 3 AS answer'))).toEqual([{ answer: 3 }]);
});

it('waits at the start for a server that is not up yet, and logs that once', async () => {
  const server = await ServerBetween.before((await freshPostgres()).url);
  await server.refuse();
  const logged: LogLine[] = [];
  const log = recordingLog(logged);
  const opening = openDatabase({ id: 'test', migrations: [], url: server.url, log, startupMs: 600_000 });
  await until('it waits', () =>
    logged.some(({ message }) => message === 'waiting for the database to start'),
  );
  await server.open();
  const database = await opening;
  onTestFinished(() => database.close());
  expect(await database.transaction((run) => run('SELECT 1 AS answer'))).toEqual([{ answer: 1 }]);
  expect(logged.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

it('stops waiting when the service stops', async () => {
  const server = await ServerBetween.before((await freshPostgres()).url);
  await server.refuse();
  const stop = new AbortController();
  const { signal } = stop;
  const opening = openDatabase({
    id: 'test',
    migrations: [],
    url: server.url,
    log: silentLog,
    startupMs: 600_000,
    signal,
  });
  stop.abort();
  await expect(opening).rejects.toMatchObject({ code: 'database_unavailable' });
});

it.each([
  ['a wrong password', (url: URL) => Object.assign(url, { username: 'nobody_here', password: 'wrong' })],
  ['an unknown database', (url: URL) => Object.assign(url, { pathname: '/there_is_none' })],
])('does not wait for what a person has to fix: %s', async (_, change) => {
  const url = change(new URL((await freshPostgres()).url)).href;
  const opening = openDatabase({ id: 'test', migrations: [], url, log: silentLog, startupMs: 600_000 });
  await expect(opening).rejects.toMatchObject({ code: 'database_unavailable' });
});

/** Stops everything in this process for a while, and costs nothing. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it('is not taken for lost by a process that was itself held up', async () => {
  const database = await openDatabase({
    id: 'test',
    migrations: [],
    url: (await freshPostgres()).url,
    log: silentLog,
  });
  onTestFinished(() => database.close());
  const slow = database.transaction((run) => run('SELECT pg_sleep(8)::text'));
  slow.catch(() => {});
  // a call that takes so long makes it look whether the server is there
  await new Promise((resolve) => setTimeout(resolve, 1_600));
  for (let times = 0; times < 3; times += 1) {
    standStill(2_100);
    await new Promise((resolve) => setTimeout(resolve));
  }
  await expect(slow).resolves.toHaveLength(1);
});

it('is not considered lost while it answers, however long a new connection takes', async () => {
  const server = await ServerBetween.before((await freshPostgres()).url);
  const database = await openDatabase({ id: 'test', migrations: [], url: server.url, log: silentLog });
  onTestFinished(() => database.close());
  const look = { name: 'look', sqlite: 'SELECT 1 AS seen', postgres: 'SELECT 1 AS seen' };
  await database.read(look, []);
  server.holdNew();
  const begun = performance.now();
  const waiting = database.transaction((run) => run('SELECT 2 AS seen'));
  waiting.catch(() => {});
  await until('it has waited for long', async () => {
    expect(await database.read(look, [])).toEqual([{ seen: 1 }]);
    return performance.now() - begun > 6_000;
  });
  await server.open();
  expect(await waiting).toEqual([{ seen: 2 }]);
});

it('refuses calls at once when too many wait for a connection, and shows how many do', async () => {
  const { url } = await freshPostgres();
  const options = { id: 'test', migrations: [], url, log: silentLog, poolSize: 2, maxWaiting: 3 };
  const database = await openDatabase(options);
  onTestFinished(() => database.close());
  const rest = gate();
  const lists = () => database.pools.find(({ name }) => name === 'lists');
  const holding = database.transaction(async (run) => {
    await run('SELECT 1');
    await rest.opened;
  });
  await until('the connection is taken', () => lists()?.inUse === 1);
  const waiting = [1, 2, 3].map((seen) => database.transaction((run) => run(`SELECT ${seen} AS seen`)));
  await until('three wait', () => lists()?.waiting === 3);
  expect(lists()).toEqual({ name: 'lists', size: 1, open: 1, inUse: 1, waiting: 3 });
  const refused = database.transaction((run) => run('SELECT 4'));
  await expect(refused).rejects.toMatchObject({ code: 'database_unavailable' });
  // what runs need is not held up by it
  const look = { name: 'look', sqlite: '', postgres: 'SELECT 5 AS seen' };
  expect(await database.read(look, [])).toEqual([{ seen: 5 }]);
  rest.open();
  await holding;
  expect(await Promise.all(waiting)).toEqual([[{ seen: 1 }], [{ seen: 2 }], [{ seen: 3 }]]);
});

it('does not wait for long for a table that another program locks', async () => {
  const { url } = await freshPostgres();
  const options = { id: 'test', migrations: [], url, log: silentLog };
  const [database, other] = await Promise.all([openDatabase(options), openDatabase(options)]);
  onTestFinished(async () => {
    await Promise.all([database.close(), other.close()]);
  });
  const [locked, rest] = [gate(), gate()];
  const holding = other.transaction(async (run) => {
    await run('LOCK TABLE sessions');
    locked.open();
    await rest.opened;
  });
  await locked.opened;
  const list = database.query.selectFrom('sessions').select('session_id').execute();
  await expect(list).rejects.toMatchObject({ code: 'database_unavailable' });
  rest.open();
  await holding;
  expect(await database.query.selectFrom('sessions').select('session_id').execute()).toEqual([]);
});

it.each([
  ['postgres://a:1,b:/name?target_session_attrs=standby', 'The service writes: use read-write'],
  ['postgres://a:one,b:2/name', 'has a URL that cannot be read'],
])('refuses %s, which it cannot use', async (url, text) => {
  const opening = openDatabase({ id: 'test', migrations: [], url, log: silentLog });
  await expect(opening).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining(text),
  });
});

it('names the servers of a URL that cannot be used, and not its password', async () => {
  const url = 'postgres://me:secret@127.0.0.1:1,localhost:2/name?target_session_attrs=read-write';
  const opening = openDatabase({ id: 'test', migrations: [], url, log: silentLog });
  const failure: Error = await opening.then(
    () => new Error('it was opened'),
    (error) => error,
  );
  expect(failure.message).toContain('postgres://127.0.0.1:1,localhost:2/name');
  expect(failure.message).not.toContain('secret');
});
