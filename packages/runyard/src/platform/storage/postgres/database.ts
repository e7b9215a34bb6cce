import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type pg from 'pg';
import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';
import type { Log } from '../../../core/log.js';
import { fieldsOf } from '../../../core/objects.js';
import type { RunNotifications } from '../../../core/runs/notifications/run-notifications.js';
import type { RedisEngine } from '../../engine/redis/engine.js';
import { Availability } from '../availability.js';
import type { ListReads, Migration, PostgresDatabase } from '../database.js';
import { queryBuilder } from '../query-builder.js';
import { reasonOf } from '../reasons.js';
import type { Schema } from '../schema.js';
import { decodeRows, encodeParameter } from '../text.js';
import { completeTransaction } from '../transaction.js';
import { troubleOf } from '../transient.js';
import { type Connecting, Connections } from './connections.js';
import { postgresDialect } from './driver.js';
import { notify, PostgresNotifications } from './notifications.js';
import { dropIdle, newPool, useOf } from './pools.js';
import { Replica } from './replica.js';
import { ServerWatch } from './server-watch.js';
import { Servers } from './servers.js';
import { beginPostgresTransaction } from './transaction.js';

/** What is between this process and the server, as far as statements see it. */
export type Pooler = 'auto' | 'session' | 'transaction';

export interface OpenPostgresOptions {
  readonly id: string;
  readonly url: string;
  /** How many connections this process may open, and how many calls may wait for one. */
  readonly poolSize: number;
  readonly maxWaiting: number;
  /** The URL of a Redis that the processes of the database have in common. */
  readonly redis?: string | undefined;
  /** `auto`: a pooler that is noticed is taken for one that does not keep sessions. */
  readonly pooler: Pooler;
  /** Past the pooler, to listen for notifications. */
  readonly directUrl?: string | undefined;
  readonly replicaUrl?: string | undefined;
  readonly migrations: readonly Migration[];
  readonly log: Log;
  /** How long a server that is not there yet is waited for. Default: not at all. */
  readonly startupMs?: number | undefined;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
}

const hotPathTimeoutMs = 10_000;
const lookAgainMs = 500;

/**
 * Statements of the hot path find their rows by index, and are planned once per connection. Without these a plan
 * made while the tables were empty reads them from end to end, until the next ANALYZE.
 */
const hotPathSettings = `
  SET plan_cache_mode = force_generic_plan; SET jit = off; SET statement_timeout = ${hotPathTimeoutMs};
  SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`;

/** A list or a change waits as long for a table that another program locks. Migrations wait for each other. */
const listSettings = `SET lock_timeout = ${hotPathTimeoutMs}`;

export async function openPostgres(options: OpenPostgresOptions): Promise<PostgresDatabase> {
  const { id, url, poolSize, maxWaiting, migrations, log, directUrl, replicaUrl } = options;
  const servers = new Servers(id, url);
  const { location } = servers;
  const direct = directUrl === undefined ? undefined : new Servers(id, directUrl);
  const replicas = replicaUrl === undefined ? undefined : new Servers(id, replicaUrl);
  let keepsSession = false;
  // Lists and migrations must not make the hot path wait for a connection.
  const hotConnections = Math.ceil(poolSize / 2);
  const hotPool = newPool(servers, hotConnections, {
    // what a pooler hands to the next client is left as it is
    onConnect: (client) => (keepsSession ? client.query(hotPathSettings) : undefined),
    // a connection that went silent must not hold up every run: the write is tried again on another one
    query_timeout: hotPathTimeoutMs,
  });
  const queryPool = newPool(servers, Math.max(1, poolSize - hotConnections), {
    onConnect: (client) => (keepsSession ? client.query(listSettings) : undefined),
  });
  const pools = [hotPool, queryPool];
  const availability = new Availability(id, log);
  let listenAnew = () => {};
  const watch = new ServerWatch(servers, availability, () => {
    pools.forEach(dropIdle);
    listenAnew();
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  for (const pool of pools) pool.on('error', () => watch.suspect());
  const usable = await untilUsable(queryPool, servers, options);
  if (usable.isReadOnly) watch.noteReadOnly(new Error('it is a standby'));
  keepsSession = usable.keepsSession;
  // it has no settings yet
  dropIdle(queryPool);
  log.debug({ database: id, location }, 'database opened');
  if (!keepsSession && direct === undefined)
    log.info({ database: id }, 'a pooler is between: processes find out about each other by polls');
  const hot = new Connections(hotPool, watch, maxWaiting);
  const queries = new Connections(queryPool, watch, maxWaiting);
  /** A statement that is prepared is there for the whole session. */
  const prepared = (name: string, text: string, parameters: readonly unknown[]): pg.QueryConfig => {
    const values = parameters.map(encodeParameter);
    return keepsSession ? { name, text, values } : { text, values };
  };
  const listened = direct ?? (keepsSession ? servers : undefined);
  const hints = new PostgresNotifications(
    () => listened?.url,
    (sent) => hot.read(prepared(notify.name, notify.text, [sent])),
  );
  listenAnew = () => hints.renew();
  const redis =
    usable.identity === undefined
      ? undefined
      : await openRedis(usable.identity, hints, options).catch(async (error: unknown) => {
          await Promise.all(pools.map((pool) => pool.end()));
          throw error;
        });
  const replicaPool =
    replicas && newPool(replicas, queryPool.options.max, { query_timeout: hotPathTimeoutMs });
  const lookPool = replicas && newPool(replicas, 1);
  const replica =
    replicaPool &&
    lookPool &&
    new Replica({
      database: id,
      pool: replicaPool,
      lookPool,
      primary: queries,
      position: async () => (await hot.read({ text: 'SELECT pg_current_wal_lsn()::text AS at' })).rows[0]?.at,
      log,
    });
  for (const pool of [replicaPool, lookPool]) pool?.on('error', () => {});
  replica?.start();
  const replicaLists = replica && listReads(replica);
  const underWay = new Set<Promise<unknown>>();
  const written = async (statement: { name: string; text: string }, parameters: readonly unknown[]) => {
    const writing = hot.write(prepared(statement.name, statement.text, parameters));
    underWay.add(writing);
    try {
      return await writing;
    } finally {
      underWay.delete(writing);
    }
  };
  let query: Kysely<Schema> | undefined;
  let closing: Promise<void> | undefined;
  const database: PostgresDatabase = {
    id,
    dialect: 'postgres',
    location,
    migrations,
    get query() {
      query ??= new (queryBuilder().Kysely)<Schema>({ dialect: postgresDialect(queries) });
      return query;
    },
    get lists() {
      return replicaLists ?? database;
    },
    async read<Row>(statement: { name: string; postgres: string }, parameters: readonly unknown[]) {
      const { rows } = await hot.read(prepared(statement.name, statement.postgres, parameters));
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
    get pools() {
      const replicaUse = replicaPool ? [useOf('replica', replicaPool)] : [];
      return [useOf('runs', hotPool), useOf('lists', queryPool), ...replicaUse];
    },
    askAboutSchema(blamesSchema) {
      availability.blamesSchema = blamesSchema;
    },
    notifications: redis?.notifications ?? hints,
    relay: redis?.relay,
    shared: redis?.shared,
    redis: redis?.space,
    assertWritable() {
      const returning = watch.ready();
      if (returning !== undefined) return returning.then(() => watch.assertWritable());
      watch.assertWritable();
      return undefined;
    },
    close() {
      closing ??= (async () => {
        // The pool forgets statements that wait for a connection.
        await Promise.allSettled(underWay);
        await replica?.close();
        watch.close();
        redis?.close();
        hints.close();
        await Promise.all(pools.map((pool) => pool.end()));
      })();
      return closing;
    },
  };
  return database;
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

async function identityOf(pool: pg.Pool): Promise<string> {
  const identified = (server: string) => pool.query<{ identity: string }>(identify(server));
  const { rows } = await identified(ownServer).catch(() => identified(ownAddress));
  return rows[0]?.identity ?? '';
}

async function openRedis(
  identity: string,
  hints: RunNotifications,
  { redis: url = '', log }: OpenPostgresOptions,
): Promise<RedisEngine> {
  // loaded only here: PostgreSQL alone does not pay for it
  const { openRedisEngine } = await import('../../engine/redis/engine.js');
  return openRedisEngine({ url, identity, hints, log });
}

/** Reads that are not prepared: they go to whichever server has the connection. */
function listReads(connecting: Connecting): ListReads {
  let query: Kysely<Schema> | undefined;
  return {
    dialect: 'postgres',
    get query() {
      query ??= new (queryBuilder().Kysely)<Schema>({ dialect: postgresDialect(connecting) });
      return query;
    },
    async read<Row>(statement: { postgres: string }, parameters: readonly unknown[]) {
      const client = await connecting.connect();
      try {
        const values = parameters.map(encodeParameter);
        const { rows } = await client.query({ text: statement.postgres, values });
        return decodeRows<Row>(rows);
      } finally {
        client.release();
      }
    },
  };
}

/** Waits for a server that is starting or restarting. What a person has to fix ends the start at once. */
async function untilUsable(
  pool: pg.Pool,
  servers: Servers,
  options: OpenPostgresOptions,
): Promise<{ keepsSession: boolean; isReadOnly: boolean; identity: string | undefined }> {
  const { id, startupMs = 0, log, signal, pooler } = options;
  const { location } = servers;
  const until = performance.now() + startupMs;
  for (let waits = false; ; waits = true) {
    try {
      if (servers.urls.length > 1) servers.choose(await servers.find());
      const { isDirect, isReadOnly } = await probe(pool);
      const identity = options.redis === undefined ? undefined : await identityOf(pool);
      return { keepsSession: pooler === 'auto' ? isDirect : pooler === 'session', isReadOnly, identity };
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

/**
 * Whether the server itself answers: a pooler gives its clients numbers of its own for the processes of the server. And
 * whether it takes no writes, as a standby.
 */
async function probe(pool: pg.Pool): Promise<{ isDirect: boolean; isReadOnly: boolean }> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ encoding: string; process: number; read_only: boolean }>(
      `SELECT current_setting('server_encoding') AS encoding, pg_backend_pid() AS process,
        current_setting('transaction_read_only') = 'on' AS read_only`,
    );
    const [row] = rows;
    if (row?.encoding !== 'UTF8')
      throw new Error(`its encoding is ${row?.encoding}. Create it with ENCODING 'UTF8'.`);
    return { isDirect: row.process === fieldsOf(client).processID, isReadOnly: row.read_only };
  } finally {
    client.release();
  }
}
