import type { Kysely } from 'kysely';
import pg from 'pg';
import { errors } from '../../../core/errors.js';
import type { Log } from '../../../core/log.js';
import type { PostgresDatabase } from '../database.js';
import { queryBuilder } from '../query-builder.js';
import type { Schema } from '../schema.js';
import { decodeRows, encodeParameter } from '../text.js';
import { completeTransaction } from '../transaction.js';
import { isUndoneByPostgres } from '../transient.js';
import { postgresDialect } from './driver.js';
import { beginPostgresTransaction } from './transaction.js';

export interface OpenPostgresOptions {
  readonly id: string;
  readonly url: string;
  /** How many connections this process may open. */
  readonly poolSize: number;
  readonly log: Log;
}

const int8 = 20;
const maximumTries = 5;
const hotPathTimeoutMs = 10_000;

/**
 * Statements of the hot path find their rows by index, and are planned once per connection. Without these a plan
 * made while the tables were empty reads them from end to end, until the next ANALYZE.
 */
const hotPathSettings = `
  SET plan_cache_mode = force_generic_plan; SET jit = off;
  SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`;

export async function openPostgres({
  id,
  url,
  poolSize,
  log,
}: OpenPostgresOptions): Promise<PostgresDatabase> {
  const location = locationOf(id, url);
  // Lists and migrations must not make the hot path wait for a connection.
  const hotConnections = Math.ceil(poolSize / 2);
  const hotPool = newPool(url, hotConnections, {
    onConnect: (client) => client.query(hotPathSettings),
    // a connection that went silent must not hold up every run: the write is tried again on another one
    query_timeout: hotPathTimeoutMs,
    statement_timeout: hotPathTimeoutMs,
  });
  const queryPool = newPool(url, Math.max(1, poolSize - hotConnections));
  const pools = [hotPool, queryPool];
  for (const pool of pools) {
    // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
    pool.on('error', (error) =>
      log.warn({ database: id, reason: error.message }, 'database connection lost'),
    );
  }
  await probe(hotPool, id, location);
  log.debug({ database: id, location }, 'database opened');
  const underWay = new Set<Promise<void>>();
  let query: Kysely<Schema> | undefined;
  let closing: Promise<void> | undefined;
  return {
    id,
    dialect: 'postgres',
    location,
    get query() {
      query ??= new (queryBuilder().Kysely)<Schema>({ dialect: postgresDialect(queryPool) });
      return query;
    },
    async read<Row>(statement: { name: string; postgres: string }, parameters: readonly unknown[]) {
      const result = await hotPool.query({
        name: statement.name,
        text: statement.postgres,
        values: parameters.map(encodeParameter),
      });
      return decodeRows(result.rows as Row[]);
    },
    async write(statement, parameters) {
      const written = writeUntilKept(hotPool, { ...statement, values: parameters.map(encodeParameter) });
      underWay.add(written);
      try {
        await written;
      } finally {
        underWay.delete(written);
      }
    },
    transaction: async (work) => completeTransaction(await beginPostgresTransaction(queryPool), work),
    close() {
      closing ??= (async () => {
        // The pool forgets statements that wait for a connection.
        await Promise.allSettled(underWay);
        await Promise.all(pools.map((pool) => pool.end()));
      })();
      return closing;
    },
  };
}

async function writeUntilKept(pool: pg.Pool, query: pg.QueryConfig): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await pool.query(query);
      return;
    } catch (error) {
      if (!isUndoneByPostgres(error) || tries === maximumTries) throw error;
    }
  }
}

function newPool(url: string, max: number, more: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    ...more,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types: { getTypeParser: typeParser },
  });
  // A connection in use that breaks fails its query and says so once more as an event. The pool listens to that
  // only while the connection is idle, and without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Counts and times are well within what a number holds exactly; the driver's default for them is text. */
function typeParser(oid: number, format?: 'text' | 'binary') {
  return oid === int8 ? Number : pg.types.getTypeParser(oid, format as 'text');
}

async function probe(pool: pg.Pool, id: string, location: string): Promise<void> {
  try {
    const { rows } = await pool.query<{ encoding: string }>(
      `SELECT current_setting('server_encoding') AS encoding`,
    );
    if (rows[0]?.encoding === 'UTF8') return;
    throw new Error(`its encoding is ${rows[0]?.encoding}. Create it with ENCODING 'UTF8'.`);
  } catch (cause) {
    await pool.end();
    throw errors.databaseUnavailable(
      `Database '${id}' cannot be used at ${location}: ${reason(cause)}`,
      cause,
    );
  }
}

function reason(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  switch (code) {
    case 'ECONNREFUSED':
      return 'the server refuses the connection. Is it running, and is the port right?';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host name is unknown.';
    case '28P01':
    case '28000':
      return 'the user or the password is wrong, or may not connect from here.';
    case '3D000':
      return 'there is no such database. Create it, or correct the URL.';
    default:
      return message;
  }
}

/** Server and database of a URL, and nothing else of it: it may hold a password. */
function locationOf(id: string, url: string): string {
  try {
    const { hostname, port, pathname, searchParams } = new URL(url);
    const host = hostname || searchParams.get('host') || 'localhost';
    return `postgres://${host}:${port || searchParams.get('port') || '5432'}${pathname}`;
  } catch {
    throw errors.invalidConfig(
      `Database '${id}' has a URL that cannot be read. Use postgres://user:password@host:port/database, with special characters percent-encoded.`,
    );
  }
}
