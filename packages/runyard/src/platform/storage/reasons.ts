import { fieldsOf } from '../../core/objects.js';
import { sqliteCodeOf } from './transient.js';

const full = 'the disk is full. Free some space, or choose another place.';
const unwritable = 'it cannot be written. Choose another place, or change its permissions.';
const badLogin = 'the user or the password is wrong, or may not connect from here.';
const unknownHost = 'the host name is unknown.';

const byCode: Readonly<Record<string, string>> = {
  EACCES: unwritable,
  EPERM: unwritable,
  EROFS: unwritable,
  ENOENT: unwritable,
  ENOTDIR: 'a part of the path is a file, not a folder.',
  EEXIST: 'a part of the path is a file, not a folder.',
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full,
  ECONNREFUSED: 'the server refuses the connection. Is it running, and is the port right?',
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  '25006': 'the server accepts no writes: it is a standby. Use the URL of the primary.',
  '28P01': badLogin,
  '28000': badLogin,
  '3D000': 'there is no such database. Create it, or correct the URL.',
  '53100': 'the disk of the server is full. Free some space there.',
  '53300': 'the server has no connection left. Raise its max_connections, or stop other clients.',
  '57P03': 'the server is starting, or shutting down.',
};

/** By SQLite's own result codes. */
const bySqliteCode: Readonly<Record<number, string>> = {
  5: 'another process keeps it locked. Stop that process, or wait for it.',
  8: 'the file may only be read. Change its permissions.',
  10: 'the disk cannot be read or written. Is it full, or broken?',
  11: 'the file is damaged. Restore it from a backup.',
  13: full,
  14: 'the file cannot be opened. Check the path and its permissions.',
  26: 'the file is not an SQLite database. Choose another file.',
};

/** Why a database cannot be used, and what to do, for the person who runs the service. */
export function reasonOf(cause: unknown): string {
  const { code, message } = fieldsOf(cause);
  const sqliteCode = typeof cause === 'object' && cause !== null ? sqliteCodeOf(cause) : undefined;
  const known = sqliteCode === undefined ? byCode[String(code)] : bySqliteCode[sqliteCode];
  return known ?? String(message ?? cause);
}
