import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import type { Database } from '../../src/platform/storage/database.js';
import { openDatabase } from '../../src/platform/storage/open.js';
import { isTransientStorageError } from '../../src/platform/storage/transient.js';
import { freshPostgres } from '../support/databases.js';
import { ServerBetween } from '../support/server-between.js';

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
