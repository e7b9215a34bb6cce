import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import type { Database } from '../../src/platform/storage/database.js';
import { openDatabase } from '../../src/platform/storage/open.js';
import { isTransientStorageError } from '../../src/platform/storage/transient.js';
import { freshPostgres } from '../support/databases.js';

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
  const server = await breakableServer(new URL((await freshPostgres()).url));
  const database = await openDatabase({ id: 'test', url: server.url, log: silentLog });
  onTestFinished(() => database.close());
  const failure: unknown = await use(database, server.breakAll).catch((error: unknown) => error);
  expect(isTransientStorageError(failure)).toBe(true);
  expect(await database.transaction((run) => run('SELECT 3 AS answer'))).toEqual([{ answer: 3 }]);
});

/** Stands between the process and the database, and can break all connections at once. */
async function breakableServer(target: URL): Promise<{ url: string; breakAll(): void }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const side of [socket, upstream]) side.on('error', () => {});
    socket.pipe(upstream).pipe(socket);
    socket.on('close', () => upstream.destroy());
    sockets.push(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    breakAll() {
      for (const socket of sockets.splice(0)) socket.resetAndDestroy();
    },
  };
}
