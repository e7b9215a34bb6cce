import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import pg from 'pg';
import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';
import type { Log } from '../../../core/log.js';
import type { RunNotifications } from '../../../core/runs/notifications/run-notifications.js';
import type { RedisEngine } from '../../engine/redis/engine.js';
import { Availability } from '../availability.js';
import type { Migration, PoolUse, PostgresDatabase } from '../database.js';
import { queryBuilder } from '../query-builder.js';
import { reasonOf } from '../reasons.js';
import type { Schema } from '../schema.js';
import { decodeRows, encodeParameter } from '../text.js';
import { completeTransaction } from '../transaction.js';
import { troubleOf } from '../transient.js';
import { Connections, ServerWatch } from './connections.js';
import { postgresDialect } from './driver.js';
import { notify, PostgresNotifications } from './notifications.js';
import { beginPostgresTransaction } from './transaction.js';

export interface OpenPostgresOptions {
  readonly id: string;
  readonly url: string;
  /** How many connections this process may open. */
  readonly poolSize: number;
  /** The URL of a Redis that the processes of the database have in common. */
  readonly redis?: string | undefined;
  readonly migrations: readonly Migration[];
  readonly log: Log;
  /** How long a server that is not there yet is waited for. Default: not at all. */
  readonly startupMs?: number | undefined;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
}

const int8 = 20;
const hotPathTimeoutMs = 10_000;
/** How long a call waits for a connection, also when all are in use. Whether the server is there shows sooner. */
const connectTimeoutMs = 15_000;
const lookAgainMs = 500;

/**
 * Statements of the hot path find their rows by index, and are planned once per connection. Without these a plan
 * made while the tables were empty reads them from end to end, until the next ANALYZE.
 */
const hotPathSettings = `
  SET plan_cache_mode = force_generic_plan; SET jit = off;
  SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`;

export async function openPostgres(options: OpenPostgresOptions): Promise<PostgresDatabase> {
  const { id, url, poolSize, migrations, log } = options;
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
  const availability = new Availability(id, log);
  const watch = new ServerWatch(url, availability, () => pools.forEach(dropIdle));
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  for (const pool of pools) pool.on('error', () => watch.suspect());
  await untilUsable(hotPool, location, options);
  log.debug({ database: id, location }, 'database opened');
  const hot = new Connections(hotPool, watch);
  const queries = new Connections(queryPool, watch);
  const hints = new PostgresNotifications(url, (sent) => hot.read({ ...notify, values: [sent] }));
  const redis = options.redis === undefined ? undefined : await openRedis(options.redis, hints, hotPool, log);
  const underWay = new Set<Promise<unknown>>();
  const written = async (statement: { name: string; text: string }, parameters: readonly unknown[]) => {
    const writing = hot.write({ ...statement, values: parameters.map(encodeParameter) });
    underWay.add(writing);
    try {
      return await writing;
    } finally {
      underWay.delete(writing);
    }
  };
  let query: Kysely<Schema> | undefined;
  let closing: Promise<void> | undefined;
  return {
    id,
    dialect: 'postgres',
    location,
    migrations,
    get query() {
      query ??= new (queryBuilder().Kysely)<Schema>({ dialect: postgresDialect(queries) });
      return query;
    },
    async read<Row>(statement: { name: string; postgres: string }, parameters: readonly unknown[]) {
      const values = parameters.map(encodeParameter);
      const { rows } = await hot.read({ name: statement.name, text: statement.postgres, values });
      return decodeRows<Row>(rows);
    },
    async change<Row>(statement: { name: string; postgres: string }, parameters: readonly unknown[]) {
      const { rows } = await written({ name: statement.name, text: statement.postgres }, parameters);
      return decodeRows<Row>(rows);
    },
    async write(statement, parameters) {
      await written(statement, parameters);
    },
    transaction: async (work) => completeTransaction(await beginPostgresTransaction(queries), work),
    get outage() {
      return availability.outage;
    },
    askAboutSchema(blamesSchema) {
      availability.blamesSchema = blamesSchema;
    },
    poolUse: () => [useOf('runs', hotPool), useOf('queries', queryPool)],
    notifications: redis?.notifications ?? hints,
    relay: redis?.relay,
    redis: redis?.space,
    async assertWritable() {
      await watch.ready();
      availability.assertWritable();
    },
    close() {
      closing ??= (async () => {
        // The pool forgets statements that wait for a connection.
        await Promise.allSettled(underWay);
        watch.close();
        redis?.close();
        hints.close();
        await Promise.all(pools.map((pool) => pool.end()));
      })();
      return closing;
    },
  };
}

/**
 * The same for all processes that use a database, whatever they call its server; another one for each copy of it.
 * `server`: what distinguishes servers.
 */
const identify = (server: string) => `
  SELECT md5(concat_ws('/', ${server}, oid, datname, current_schema())) AS identity
  FROM pg_database WHERE datname = current_database()`;
const ownServer = '(SELECT system_identifier FROM pg_control_system())';
/** For servers that do not show who they are: where they think they are. */
const ownAddress = `inet_server_addr()::text, current_setting('port')`;

async function openRedis(
  url: string,
  hints: RunNotifications,
  pool: pg.Pool,
  log: Log,
): Promise<RedisEngine> {
  try {
    const identified = (server: string) => pool.query<{ identity: string }>(identify(server));
    const { rows } = await identified(ownServer).catch(() => identified(ownAddress));
    // loaded only here: PostgreSQL alone does not pay for it
    const { openRedisEngine } = await import('../../engine/redis/engine.js');
    return await openRedisEngine({ url, identity: rows[0]?.identity ?? '', hints, log });
  } catch (error) {
    await pool.end();
    throw error;
  }
}

function useOf(name: string, pool: pg.Pool): PoolUse {
  const { totalCount, idleCount: idle, waitingCount: waiting, options } = pool;
  return { pool: name, inUse: totalCount - idle, idle, waiting, max: options.max };
}

/** Takes each idle connection in order to end it. */
function dropIdle(pool: pg.Pool): void {
  for (let left = pool.idleCount; left > 0; left--) {
    pool.connect().then(
      (client) => client.release(true),
      () => {},
    );
  }
}

function newPool(url: string, max: number, more: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
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

/** Counts and times are well within what a number holds exactly; the driver's default for them is text. */
function typeParser(oid: number, format?: 'text' | 'binary') {
  // its two signatures differ in the format alone
  return oid === int8 ? Number : pg.types.getTypeParser(oid, format as 'text');
}

/** Waits for a server that is starting or restarting. What a person has to fix ends the start at once. */
async function untilUsable(pool: pg.Pool, location: string, options: OpenPostgresOptions): Promise<void> {
  const { id, startupMs = 0, log, signal } = options;
  const until = performance.now() + startupMs;
  for (let waits = false; ; waits = true) {
    try {
      return await probe(pool);
    } catch (cause) {
      if (!mayStartLater(cause) || performance.now() >= until || signal?.aborted) {
        await pool.end();
        throw errors.databaseUnavailable(
          `Database '${id}' cannot be used at ${location}: ${reasonOf(cause)}`,
          cause,
        );
      }
      if (!waits) {
        const facts = {
          database: id,
          location,
          reason: reasonOf(cause),
          seconds: Math.ceil(startupMs / 1000),
        };
        log.warn(facts, 'waiting for the database to start');
      }
      await sleep(lookAgainMs, undefined, { ...(signal && { signal }) }).catch(() => {});
    }
  }
}

function mayStartLater(cause: unknown): boolean {
  if (errorCode(cause) === 'ENOTFOUND') return false;
  const trouble = troubleOf(cause);
  return trouble === 'lost' || trouble === 'busy';
}

async function probe(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ encoding: string }>(
    `SELECT current_setting('server_encoding') AS encoding`,
  );
  if (rows[0]?.encoding === 'UTF8') return;
  throw new Error(`its encoding is ${rows[0]?.encoding}. Create it with ENCODING 'UTF8'.`);
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
