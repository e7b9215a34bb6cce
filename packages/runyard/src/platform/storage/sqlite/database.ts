import { accessSync, constants, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Kysely } from 'kysely';
import { errors } from '../../../core/errors/errors.js';
import type { Log } from '../../../core/log.js';
import { InProcessNotifications } from '../../../core/runs/notifications/in-process-notifications.js';
import { makeFolder } from '../../make-folder.js';
import { Availability } from '../availability.js';
import type { Durability, Migration, SqliteDatabase, SqlValue } from '../database.js';
import { queryBuilder } from '../query-builder.js';
import { reasonOf } from '../reasons.js';
import type { Schema } from '../schema.js';
import { decodeRows, encodeForSqlite } from '../text.js';
import { completeTransaction } from '../transaction.js';
import { DirectWriter } from './direct-writer.js';
import { sqliteDialect } from './driver.js';
import { loadSqliteLibrary, type SqliteConnection, sqliteLibraryPath } from './library.js';
import { SqliteReader } from './reader.js';
import { SqliteTransaction } from './transaction.js';
import { SqliteWriter } from './writer.js';

export interface OpenSqliteOptions {
  readonly id: string;
  readonly path: string;
  readonly durability: Durability;
  readonly migrations: readonly Migration[];
  readonly log: Log;
}

/** How long a connection waits for another process that writes to the same file. */
const openingTimeout = 'PRAGMA busy_timeout = 10000';
const writingTimeout = 'PRAGMA busy_timeout = 4000';
/** For the connection of the main thread once it is open: `SqliteReader` waits for a busy file itself. */
const noTimeout = 'PRAGMA busy_timeout = 0';
/** A commit of the thread after which the log has so many pages moves them into the file. */
const logPages = 4_000;
const pageBytes = 4_096;

export async function openSqlite(options: OpenSqliteOptions): Promise<SqliteDatabase> {
  const { id, path, durability, migrations, log } = options;
  const availability = new Availability(id, log);
  const connection = openConnection(id, path);
  const reader = new SqliteReader(connection, availability);
  // SQLite has its log beside the file itself, not beside a link to it; a link may lead elsewhere when the thread starts
  const file = realpathSync(path);
  const direct = new DirectWriter(connection, {
    path: file,
    isSynced: durability === 'power-cut',
    logBytes: logPages * pageBytes,
  });
  const writer = new SqliteWriter({
    libraryPath: sqliteLibraryPath(),
    path: file,
    setup: writingSetup(durability),
    direct,
    databaseId: id,
    availability,
    log,
  });
  log.debug({ database: id, path, durability }, 'database opened');
  let query: Kysely<Schema> | undefined;
  let closing: Promise<void> | undefined;
  const database: SqliteDatabase = {
    id,
    dialect: 'sqlite',
    location: path,
    migrations,
    get query() {
      query ??= new (queryBuilder().Kysely)<Schema>({ dialect: sqliteDialect(reader, writer) });
      return query;
    },
    read: async (statement, parameters) => reader.read(statement, parameters),
    change: async <Row>(statement: { sqlite: string }, parameters: readonly SqlValue[]) =>
      decodeRows<Row>((await writer.query(statement.sqlite, parameters.map(encodeForSqlite))).rows),
    write: (units) => writer.write(units),
    script: (sql, unlessFound) => writer.script(sql, unlessFound),
    transaction: async (work) => completeTransaction(await SqliteTransaction.begin(writer), work),
    get outage() {
      return availability.outage;
    },
    get lists() {
      return database;
    },
    pools: [],
    askAboutSchema(blamesSchema) {
      availability.blamesSchema = blamesSchema;
    },
    // one writer, and readers that wait for nothing
    notifications: new InProcessNotifications(),
    assertWritable() {
      availability.assertWritable();
      return undefined;
    },
    close() {
      // The thread's connection last: the last one to close moves the log into the file, which waits for the disk.
      closing ??= writer.close(() => {
        direct.close();
        reader.close();
      });
      return closing;
    },
  };
  return database;
}

function writingSetup(durability: Durability): string {
  const synchronous = durability === 'power-cut' ? 'FULL' : 'NORMAL';
  return `${writingTimeout}; PRAGMA foreign_keys = ON; PRAGMA synchronous = ${synchronous};
    PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000;
    PRAGMA wal_autocheckpoint = ${logPages}; PRAGMA journal_size_limit = 67108864;`;
}

/** The connection of the main thread: it reads, and writes what is small. The log is the thread's to move into the file. */
function openConnection(id: string, path: string): SqliteConnection {
  let connection: SqliteConnection | undefined;
  try {
    makeFolder(dirname(path));
    const { DatabaseSync } = loadSqliteLibrary();
    connection = new DatabaseSync(path);
    connection.exec(`${openingTimeout}; PRAGMA journal_mode = WAL;`);
    // A file that may only be read opens without complaint, and would fail at the first write.
    accessSync(path, constants.W_OK);
    connection.exec(`PRAGMA cache_size = -8000; PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;
      PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0; ${noTimeout};`);
    return connection;
  } catch (cause) {
    connection?.close();
    throw errors.databaseUnavailable(
      `Database '${id}' cannot be opened at ${path}: ${reasonOf(cause)}`,
      cause,
    );
  }
}
