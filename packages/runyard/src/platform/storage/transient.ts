import { unreachableCodes } from '../../core/failures/driver-fault.js';
import { writerEndedCode } from './sqlite/thread-link.js';

const transientPostgresCodes = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '25006', // a standby that is not the primary yet
  '53300', // too many connections
  '55P03', // lock not available
  '57014', // the statement took too long
  '57P01', // the server is being shut down
  '57P02', // it crashed
  '57P03', // it is starting
]);
const sqliteBusy = 5;
const sqliteLocked = 6;

interface StorageFailure {
  readonly code?: unknown;
  readonly errcode?: unknown;
  readonly message?: unknown;
}

/**
 * Whether the same call may succeed later: a lost connection, a lost race, a busy database. After a lost
 * connection it is unknown whether the write was made.
 */
export function isTransientStorageError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, errcode, message } = error as StorageFailure;
  if (typeof errcode === 'number')
    return (errcode & 0xff) === sqliteBusy || (errcode & 0xff) === sqliteLocked;
  if (typeof code === 'string') {
    return (
      code.startsWith('08') ||
      transientPostgresCodes.has(code) ||
      unreachableCodes.has(code) ||
      code === writerEndedCode
    );
  }
  return (
    typeof message === 'string' &&
    /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client .*not queryable)/.test(
      message,
    )
  );
}

/** PostgreSQL undid the whole statement: running it again is safe. */
export function isUndoneByPostgres(error: unknown): boolean {
  const code = (error as StorageFailure | null)?.code;
  return code === '40001' || code === '40P01';
}
