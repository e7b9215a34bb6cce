import pg from 'pg';
import type { PoolUse } from '../database.js';
import type { Servers } from './servers.js';

const int8 = 20;
/** How long a call waits for a connection, also when all are in use. Whether the server is there shows sooner. */
const connectTimeoutMs = 15_000;

export function newPool(servers: Servers, max: number, more: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({
    Client: servers.Client,
    max,
    ...more,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: typeParser },
  });
  // A connection in use that breaks fails its query and says so once more as an event. The pool listens to that
  // only while the connection is idle, and without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Takes each idle connection in order to end it. */
export function dropIdle(pool: pg.Pool): void {
  for (let left = pool.idleCount; left > 0; left--) {
    pool.connect().then(
      (client) => client.release(true),
      () => {},
    );
  }
}

export function useOf(name: PoolUse['name'], pool: pg.Pool): PoolUse {
  const { totalCount, idleCount, waitingCount, options } = pool;
  return { name, size: options.max, open: totalCount, inUse: totalCount - idleCount, waiting: waitingCount };
}

/** Counts and times are well within what a number holds exactly; the driver's default for them is text. */
function typeParser(oid: number, format?: 'text' | 'binary') {
  // its two signatures differ in the format alone
  return oid === int8 ? Number : pg.types.getTypeParser(oid, format as 'text');
}
