import type { Kysely } from 'kysely';
import type { RunyardError } from '../../core/errors/errors.js';
import type { EventRelay } from '../../core/runs/events/event-relay.js';
import type { RunNotifications } from '../../core/runs/notifications/run-notifications.js';
import type { RedisSpace } from '../engine/redis/space.js';
import type { SharedParts } from '../net/shared-parts.js';
import type { Schema } from './schema.js';

export type Dialect = 'sqlite' | 'postgres';

/** What a commit survives: `full` a power cut, `process` a killed process. Only SQLite offers the choice. */
export type Durability = 'power-cut' | 'process-crash';

/** A value that both databases take as a parameter. A list is an array to PostgreSQL and JSON text to SQLite. */
export type SqlValue = string | number | null | Uint8Array | readonly string[];

/**
 * One database that Runyard stores in. SQL is in the `store.ts` files and in the migrations; this is how
 * they reach it. Everything but the batched write of the hot path is the same for both kinds.
 */
export type Database = SqliteDatabase | PostgresDatabase;

/** A numbered change of the schema. Migrations are written once and never edited after a release. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /**
   * The statements of the change, and those that take it back. They run in their order in one transaction, and
   * are plain SQL: a start with a new data folder does not wait for the query builder.
   */
  up(dialect: Dialect): readonly string[];
  down(dialect: Dialect): readonly string[];
}

/**
 * Whether another version of the schema is to blame for a statement that fails; what callers are answered with, if that
 * is known. If so, the call fails like one in an outage, and is not taken for a fault of the code.
 */
export type BlamesSchema = () => RunyardError | boolean;

/** Reads that may be some seconds old. */
export type ListReads = Pick<DatabaseBase, 'query' | 'read'> & { readonly dialect: Dialect };

/** How many connections of a pool are there. */
export interface PoolUse {
  /** `runs`: what runs read and write; `lists`: lists, changes and migrations; `replica`: lists, where there is one. */
  readonly name: 'runs' | 'lists' | 'replica';
  readonly size: number;
  readonly open: number;
  readonly inUse: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
}

interface DatabaseBase {
  /** The id under which components and `/config` name it. */
  readonly id: string;
  /** The versions of its schema that this Runyard knows, in their order. */
  readonly migrations: readonly Migration[];
  /** The file, or the server and database, for people to read. Never holds a password. */
  readonly location: string;
  /** For breadth: lists, filters, rare writes. */
  readonly query: Kysely<Schema>;
  /** For lists, traces and statistics: a replica reads them, where there is one. What a caller has just stored may be missing. */
  readonly lists: ListReads;
  /** For the hot path: a prepared statement that only reads. */
  read<Row>(statement: Statement, parameters: readonly SqlValue[]): Promise<Row[]>;
  /**
   * A prepared statement that is a transaction of its own, in one round trip: it changes rows, and answers with those
   * that it returns.
   */
  change<Row>(statement: Statement, parameters: readonly SqlValue[]): Promise<Row[]>;
  /**
   * Writes several statements or none, without loading the query builder. Commits when the work resolves; when it
   * rejects, or one of its statements fails, all is undone and it rejects with the first error.
   */
  transaction<T>(work: (run: RunStatement) => Promise<T>): Promise<T>;
  /** What the last calls showed: that nothing reaches the database, or that it stores nothing. Undefined: neither. */
  readonly outage: 'lost' | 'unwritable' | undefined;
  /** The pools of connections; none on SQLite. */
  readonly pools: readonly PoolUse[];
  /**
   * Refuses work that would have to be stored while storing is known to fail. Makes no query, and waits only for a server
   * that has just gone away.
   */
  assertWritable(): Promise<void> | undefined;
  /** Sets who is asked when a statement names a table or column that is not there. */
  askAboutSchema(blamesSchema: BlamesSchema): void;
  /** Reach all processes that use the database. */
  readonly notifications: RunNotifications;
  /** Carries events to readers in other processes that use the database, sooner than it does. */
  readonly relay?: EventRelay | undefined;
  /** Left out where its processes do nothing together beside it. */
  readonly shared?: SharedParts | undefined;
  close(): Promise<void>;
}

/**
 * Runs a statement of a transaction, in the words and with the placeholders of the database. One at a time: the
 * next one begins when this one has answered.
 */
export type RunStatement = <Row>(sql: string, parameters?: readonly SqlValue[]) => Promise<Row[]>;

/**
 * SQLite has one writer at a time, and a statement costs no round trip: a batch is a list of units of prepared
 * rows, and concurrent batches share one commit.
 */
export interface SqliteDatabase extends DatabaseBase {
  readonly dialect: 'sqlite';
  /** One process uses it. */
  readonly redis?: undefined;
  /**
   * Runs all units in their order in one transaction, durable when it resolves. Returns for each unit
   * which of its rows refused it (an index), or -1.
   */
  write(units: readonly WriteUnit[]): Promise<readonly number[]>;
  /**
   * Runs statements that have no parameters, one after another in one transaction and in one message, unless the query
   * `unlessFound` finds a row in that transaction. Returns whether it ran them.
   */
  script(sql: string, unlessFound: string): Promise<boolean>;
}

/** PostgreSQL pays for round trips: a batch is one statement, which is its own transaction. */
export interface PostgresDatabase extends DatabaseBase {
  readonly dialect: 'postgres';
  /** What its processes have in common beside it. It may be away at any time, and holds nothing that is needed again. */
  readonly redis: RedisSpace | undefined;
  /** Runs the statement, again if it lost a deadlock or a race that PostgreSQL undid. */
  write(
    statement: { readonly name: string; readonly text: string },
    parameters: readonly unknown[],
  ): Promise<void>;
}

/** A statement in the words of each database. `name` is unique: prepared statements are kept under it. */
export interface Statement {
  readonly name: string;
  readonly sqlite: string;
  readonly postgres: string;
}

/**
 * Rows that are written together. A guard that finds nothing ends the unit there: what stands before it stays
 * written, so guards come first, or refuse without having changed anything.
 */
export type WriteUnit = readonly WriteRow[];

export interface WriteRow {
  /** SQL for one row, with `?` placeholders. */
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** `changed`: the row must change something; `found`: the query must find something. */
  readonly guard?: 'changed' | 'found';
}

/**
 * The database's own time, in milliseconds. Processes on several machines meet in one database, and their clocks
 * differ: what they have to agree on is decided by this one.
 */
export const databaseNow: Readonly<Record<Dialect, string>> = {
  sqlite: `CAST(unixepoch('subsec') * 1000 AS integer)`,
  postgres: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
};

/** The same for conditions: it stays the same within a statement, so that an index can be searched for it. */
export const statementNow: Readonly<Record<Dialect, string>> = {
  sqlite: databaseNow.sqlite,
  postgres: '(extract(epoch FROM statement_timestamp()) * 1000)::bigint',
};

/** A statement that compares with the database's own time. */
export function timedStatement(name: string, sql: (now: string) => string): Statement {
  return {
    name,
    sqlite: statement(name, sql(statementNow.sqlite)).sqlite,
    postgres: statement(name, sql(statementNow.postgres)).postgres,
  };
}

const readNow = timedStatement('database_now', (now) => `SELECT ${now} AS now`);

/** The database's own time, for what is compared or stored outside a statement that reads it itself. */
export async function timeOf(database: Pick<Database, 'read'>): Promise<number> {
  const [row] = await database.read<{ now: number }>(readNow, []);
  return row?.now ?? Date.now();
}

/** A statement that reads the same in both databases, written with `?` placeholders. */
export function statement(name: string, sql: string): Statement {
  let position = 0;
  return { name, sqlite: sql, postgres: sql.replace(/\?/g, () => `$${++position}`) };
}
