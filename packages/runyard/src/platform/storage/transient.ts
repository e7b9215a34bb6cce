import { unreachableCodes } from '../../core/errors/driver-fault.js';
import { RunyardError } from '../../core/errors/errors.js';
import { fieldsOf } from '../../core/objects.js';
import { writerEndedCode } from './sqlite/thread-link.js';

/**
 * What keeps a call from succeeding that may succeed later, without a change to the call:
 * - `lost`: the connection broke, or none can be made. Whether a write was made is unknown;
 * - `unwritable`: reads may succeed, but nothing can be stored;
 * - `busy`: this one call lost a race, or found the database overloaded;
 * - `schema`: another process has migrated the database to a schema that this code does not know.
 */
export type StorageTrouble = 'lost' | 'unwritable' | 'busy' | 'schema';

const postgresTroubles: Readonly<Record<string, StorageTrouble>> = {
  '25006': 'unwritable', // a standby that is not the primary yet
  '25P03': 'lost', // a transaction was idle for too long
  '40001': 'busy', // serialization failure
  '40P01': 'busy', // deadlock
  '53000': 'busy', // insufficient resources
  '53100': 'unwritable', // the disk is full
  '53200': 'busy', // out of memory
  '53300': 'busy', // too many connections
  '53400': 'busy', // a limit of the server's configuration
  '55P03': 'busy', // lock not available
  '57014': 'busy', // the statement took too long
  '57P01': 'lost', // the server is being shut down
  '57P02': 'lost', // it crashed
  '57P03': 'lost', // it is starting
  '57P05': 'lost', // the session was idle for too long
  '58000': 'unwritable', // an error of the system around the server
  '58030': 'unwritable', // the disk fails
};
const sqliteTroubles: Readonly<Record<number, StorageTrouble>> = {
  5: 'busy', // another process writes
  6: 'busy', // locked
  7: 'busy', // out of memory
  8: 'unwritable', // read-only; also a file that was removed or replaced
  10: 'unwritable', // the disk fails
  11: 'unwritable', // corrupt
  13: 'unwritable', // full
  14: 'unwritable', // a file beside it cannot be opened
  26: 'unwritable', // replaced by something else
};
/** The fixed texts of these codes: a library may keep the number to itself. */
const sqliteCodes: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'database table is locked': 6,
  'out of memory': 7,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'file is not a database': 26,
};
const lostMessages =
  /^(Connection terminated|Client has encountered a connection error|Query read timeout|Client .*not queryable)/;
/** All connections of the pool are in use. */
const exhaustedMessage = 'timeout exceeded when trying to connect';

/** What an error of a driver means; undefined when the same call would fail again. */
export function troubleOf(error: unknown): StorageTrouble | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message } = fieldsOf(error);
  const sqliteCode = sqliteCodeOf(error);
  if (sqliteCode !== undefined) return sqliteTroubles[sqliteCode];
  if (typeof code === 'string') {
    // a statement that was prepared before a migration: the next connection prepares it anew
    if (code === '0A000' && String(message).startsWith('cached plan must not change')) return 'busy';
    if (code.startsWith('08') || unreachableCodes.has(code) || code === writerEndedCode) return 'lost';
    return Object.hasOwn(postgresTroubles, code) ? postgresTroubles[code] : undefined;
  }
  if (typeof message !== 'string') return undefined;
  if (message.startsWith(exhaustedMessage)) return 'busy';
  return lostMessages.test(message) ? 'lost' : undefined;
}

/** SQLite's own result code; undefined for the error of anything else. */
export function sqliteCodeOf(error: object): number | undefined {
  const { code, errcode, message } = fieldsOf(error);
  if (typeof errcode === 'number') return errcode & 0xff;
  return code === 'ERR_SQLITE_ERROR' && typeof message === 'string' ? sqliteCodes[message] : undefined;
}

/** Whether the same call may succeed later, judged by the error of a driver or by the response to callers. */
export function isTransientStorageError(error: unknown): boolean {
  return error instanceof RunyardError ? isOutage(error) : troubleOf(error) !== undefined;
}

/** Whether a call to a database was refused for a reason that passes: `errors.databaseOutage`, or another schema. */
export function isOutage(error: unknown): boolean {
  return error instanceof RunyardError && outageCodes.has(error.code) && error.isReported;
}

const outageCodes: ReadonlySet<string> = new Set([
  'database_unavailable',
  'schema_outdated',
  'schema_newer',
  'migration_in_progress',
]);

/** Whether a statement names something that the schema does not have: it is of another version, or the code is wrong. */
export function isSchemaFault(error: unknown): boolean {
  const { code, errcode, message } = fieldsOf(error);
  if (typeof errcode === 'number' || code === 'ERR_SQLITE_ERROR') {
    return typeof message === 'string' && missingInSqlite.test(message);
  }
  return typeof code === 'string' && missingInPostgres.has(code);
}

const missingInSqlite = /^(no such (table|column)|table \S+ has no column named|.*has no column named)/;
/** Column, table, function. */
const missingInPostgres: ReadonlySet<string> = new Set(['42703', '42P01', '42883']);

/** PostgreSQL undid the whole statement: running it again is safe. */
export function isUndoneByPostgres(error: unknown): boolean {
  const { code } = fieldsOf(error);
  return code === '40001' || code === '40P01';
}

/** Whether a row was refused because it breaks a constraint of its table, such as a unique name. */
export function isBrokenConstraint(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, errcode, message } = fieldsOf(error);
  if (typeof errcode === 'number') return (errcode & 0xff) === 19;
  if (code === 'ERR_SQLITE_ERROR') return String(message).startsWith('UNIQUE constraint failed');
  return code === '23505';
}
