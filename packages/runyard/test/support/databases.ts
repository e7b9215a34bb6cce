import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { startPgbouncer } from '../../../../scripts/lib/pgbouncer.mjs';
import { migrations } from '../../src/capabilities/capabilities.js';
import { silentLog } from '../../src/core/log.js';
import type { Database, Dialect } from '../../src/platform/storage/database.js';
import { migrate } from '../../src/platform/storage/migrations/migrate.js';
import { openDatabase } from '../../src/platform/storage/open.js';
import {
  dropSchema,
  makeSchema,
  onServer,
  PreparedSchemas,
  schemaPrefix,
  urlOf,
} from './prepared-postgres.js';

/** A place for one test's data that no other test uses, removed when the test has ended. */
export interface DatabasePlace {
  readonly url: string;
  /** A connection with the newest schema. Another one sees the same data, as another process would. */
  open(): Promise<Database>;
  /** A connection to whatever is there: nothing at first, in an empty place. `redis`: the URL of one beside it. */
  openUnprepared(redis?: string): Promise<Database>;
}

type MakePlace = () => Promise<DatabasePlace>;

/** Defines the same tests for every kind of database: with the newest schema in it, or with nothing. */
export function forEachDatabase(
  define: (dialect: Dialect, freshPlace: MakePlace, emptyPlace: MakePlace) => void,
): void {
  describe('on sqlite', () => define('sqlite', freshSqlite, emptySqlite));
  describe('on postgres', () => define('postgres', freshPostgres, emptyPostgres));
}

/** The same, and once more through a pooler that gives each transaction another connection. */
export function forEachDatabaseAndPooler(define: Parameters<typeof forEachDatabase>[0]): void {
  forEachDatabase(define);
  describe('on postgres, through a pooler', () => {
    let pooler: Awaited<ReturnType<typeof startPgbouncer>>;
    let prepared: string;
    const at = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
    const make = async (origin = '') => {
      const name = `${schemaPrefix()}${randomBytes(8).toString('hex')}`;
      await onServer(postgresServer(), `CREATE DATABASE ${name} ${origin}`);
      return name;
    };
    const drop = async (name: string) => {
      await onServer(postgresServer(), `DROP DATABASE ${name} WITH (FORCE)`);
    };
    beforeAll(async () => {
      pooler = await startPgbouncer(postgresServer(), new AbortController().signal);
      prepared = await make();
      await migrated(at(postgresServer(), prepared));
    });
    afterAll(async () => {
      await pooler.stop();
      await drop(prepared);
    });
    const placeIn = (name: string) => place(at(pooler.url, name), () => drop(name));
    const fresh = async () => placeIn(await make(`TEMPLATE ${prepared}`));
    const empty = async () => placeIn(await make());
    define('postgres', fresh, empty);
  });
}

/** A place in which the newest schema is ready. */
export async function freshSqlite(): Promise<DatabasePlace> {
  const { folder, url, remove } = sqliteFolder();
  writeFileSync(join(folder, 'runyard.db'), await preparedSqlite());
  return place(url, remove);
}

/** A place with nothing in it. */
export async function emptySqlite(): Promise<DatabasePlace> {
  const { url, remove } = sqliteFolder();
  return place(url, remove);
}

function sqliteFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-sqlite-'));
  const remove = async () => rmSync(folder, { recursive: true, force: true });
  return { folder, url: `sqlite://${folder}/runyard.db`, remove };
}

let prepared: Promise<Buffer> | undefined;

/** A database file with the newest schema. Hundreds of tests want one: a copy costs a hundredth of the migrations. */
export function preparedSqlite(): Promise<Buffer> {
  prepared ??= (async () => {
    const { folder, url, remove } = sqliteFolder();
    await migrated(url);
    const file = readFileSync(join(folder, 'runyard.db'));
    await remove();
    return file;
  })();
  return prepared;
}

/** A place in which the newest schema is ready. */
export async function freshPostgres(): Promise<DatabasePlace> {
  const server = postgresServer();
  const schemas =
    preparedSchemas.get(server) ?? new PreparedSchemas(server, (schema) => migrated(urlOf(server, schema)));
  preparedSchemas.set(server, schemas);
  const schema = await schemas.take();
  return place(urlOf(server, schema), () => schemas.giveBack(schema));
}

const preparedSchemas = new Map<string, PreparedSchemas>();

/** A place with nothing in it. */
export async function emptyPostgres(): Promise<DatabasePlace> {
  const server = postgresServer();
  const schema = await makeSchema(server);
  return place(urlOf(server, schema), () => dropSchema(server, schema));
}

function postgresServer(): string {
  const server = process.env.RUNYARD_TEST_POSTGRES_URL;
  if (!server)
    throw new Error('No PostgreSQL to test on: run through npm test, or set RUNYARD_TEST_POSTGRES_URL');
  return server;
}

async function migrated(url: string): Promise<void> {
  const database = await openDatabase({ id: 'test', url, migrations, log: silentLog });
  await migrateAll(database);
  await database.close();
}

async function migrateAll(database: Database): Promise<void> {
  const failed = (await migrate(database)).find(({ status }) => status === 'failed');
  if (failed) throw failed.error;
}

function place(url: string, remove: () => Promise<void>): DatabasePlace {
  const opened: Database[] = [];
  onTestFinished(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await remove();
  });
  const openUnprepared = async (redis?: string) => {
    const database = await openDatabase({ id: 'test', url, redis, migrations, log: silentLog });
    opened.push(database);
    return database;
  };
  return {
    url,
    openUnprepared,
    async open() {
      const database = await openUnprepared();
      await migrateAll(database);
      return database;
    },
  };
}
