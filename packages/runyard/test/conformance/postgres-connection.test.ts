import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import type { Database } from '../../src/platform/storage/database.js';
import { openDatabase } from '../../src/platform/storage/open.js';
import { isTransientStorageError } from '../../src/platform/storage/transient.js';
import { freshPostgres } from '../support/databases.js';
import { type LogLine, recordingLog } from '../support/http-server.js';
import { ServerBetween } from '../support/server-between.js';
import { until } from '../support/until.js';

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
  const database = await openDatabase({ id: 'test', url: server.url, log: silentLog });
  onTestFinished(() => database.close());
  const failure: unknown = await use(database, () => server.breakAll()).catch((error: unknown) => error);
  expect(isTransientStorageError(failure)).toBe(true);
  expect(await database.transaction((run) => run('SELECT 3 AS answer'))).toEqual([{ answer: 3 }]);
});

it('waits at the start for a server that is not there yet, and says so once', async () => {
  const server = await ServerBetween.before((await freshPostgres()).url);
  await server.refuse();
  const logged: LogLine[] = [];
  const log = recordingLog(logged);
  const opening = openDatabase({ id: 'test', url: server.url, log, startupMs: 600_000 });
  await until('it waits', () =>
    logged.some(({ message }) => message === 'waiting for the database to start'),
  );
  await server.open();
  const database = await opening;
  onTestFinished(() => database.close());
  expect(await database.transaction((run) => run('SELECT 1 AS answer'))).toEqual([{ answer: 1 }]);
  expect(logged.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

it('stops waiting when the service is told to stop', async () => {
  const server = await ServerBetween.before((await freshPostgres()).url);
  await server.refuse();
  const stop = new AbortController();
  const { signal } = stop;
  const opening = openDatabase({ id: 'test', url: server.url, log: silentLog, startupMs: 600_000, signal });
  stop.abort();
  await expect(opening).rejects.toMatchObject({ code: 'database_unavailable' });
});

it.each([
  ['a wrong password', (url: URL) => Object.assign(url, { username: 'nobody_here', password: 'wrong' })],
  ['an unknown database', (url: URL) => Object.assign(url, { pathname: '/there_is_none' })],
])('does not wait for what a person has to mend: %s', async (_, change) => {
  const url = change(new URL((await freshPostgres()).url)).href;
  const opening = openDatabase({ id: 'test', url, log: silentLog, startupMs: 600_000 });
  await expect(opening).rejects.toMatchObject({ code: 'database_unavailable' });
});
