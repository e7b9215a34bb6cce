import { resolve } from 'node:path';
import { errors } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import type { Database, Durability, Migration } from './database.js';
import type { Pooler } from './postgres/database.js';
import { openSqlite } from './sqlite/database.js';

export interface OpenDatabaseOptions {
  readonly id: string;
  /** `sqlite:///absolute/path`, `sqlite:relative/path`, `postgres://…` or `postgresql://…`. */
  readonly url: string;
  /** SQLite only; PostgreSQL decides for itself. Default `power-cut`. */
  readonly durability?: Durability;
  /** PostgreSQL only: how many connections this process may open. Default 20. */
  readonly poolSize?: number | undefined;
  /** PostgreSQL only: the URL of a Redis that the processes of the database have in common. */
  readonly redis?: string | undefined;
  /** PostgreSQL only: how many calls may wait for a connection. Default 5,000. */
  readonly maxWaiting?: number | undefined;
  /** PostgreSQL only: whether a pooler is between, and of which kind. Default `auto`. */
  readonly pooler?: Pooler | undefined;
  /** PostgreSQL only: past the pooler, to listen for notifications. */
  readonly directUrl?: string | undefined;
  /** PostgreSQL only: a replica to read lists from. */
  readonly replicaUrl?: string | undefined;
  readonly migrations: readonly Migration[];
  readonly log: Log;
  /** PostgreSQL only: how long a server that is not there yet is waited for. Default: not at all. */
  readonly startupMs?: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

/** Opens a database, or fails with one error that names it and says why. The schema is not touched. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { id, url, migrations, log } = options;
  if (url.startsWith('sqlite:')) {
    const { durability = 'power-cut' } = options;
    return openSqlite({ id, path: sqlitePath(url), durability, migrations, log });
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    // Loaded only here: the embedded default never pays for the PostgreSQL driver.
    const { openPostgres } = await import('./postgres/database.js');
    const { poolSize = 20, maxWaiting = 5_000, pooler = 'auto' } = options;
    return openPostgres({ ...options, poolSize, maxWaiting, pooler });
  }
  throw errors.invalidConfig(
    `Database '${id}' has a URL of an unknown kind ('${url.split(':', 1)[0]}:'). Use sqlite:///absolute/path, sqlite:relative/path or postgres://user@host/database.`,
  );
}

/** The file that a URL of the form `sqlite:` names. */
export function sqlitePath(url: string): string {
  const rest = url.slice('sqlite:'.length);
  if (rest === ':memory:' || rest === '//:memory:' || rest === '///:memory:') {
    throw errors.invalidConfig(
      'sqlite::memory: is not supported: connections cannot share an in-memory database. Use a file in a temporary folder.',
    );
  }
  const path = rest.startsWith('///') ? rest.slice(2) : rest;
  if (path === '' || path === '/' || path.startsWith('//')) {
    throw errors.invalidConfig(
      `'${url}' does not name a file. Use sqlite:///absolute/path or sqlite:relative/path.`,
    );
  }
  return resolve(path);
}
