import { createRequire, isBuiltin } from 'node:module';
import type { DatabaseSync } from '@photostructure/sqlite';
import { errorCode } from '../../../core/errors/error-code.js';
import { thrownError } from '../../../core/errors/thrown-error.js';
import { nativeTarget } from './native-target.js';

export type SqliteConnection = InstanceType<typeof DatabaseSync>;
export type SqliteStatement = ReturnType<SqliteConnection['prepare']>;

export interface SqliteLibrary {
  readonly DatabaseSync: typeof DatabaseSync;
}

const require = createRequire(import.meta.url);
const packageName = '@photostructure/sqlite';

let found: string | undefined;

/**
 * What `require` loads the library by, in any thread: Node's own module where it has a usable one, else native code with
 * the same interface.
 */
export function sqliteLibraryPath(): string {
  found ??= hasUsableModule() ? 'node:sqlite' : loadablePath();
  return found;
}

/** Node 20 has no such module, nor do some builds of later ones; that of Node 22.18 does not bind numbered parameters. */
function hasUsableModule(): boolean {
  if (!isBuiltin('node:sqlite')) return false;
  const { DatabaseSync }: SqliteLibrary = require('node:sqlite');
  const database = new DatabaseSync(':memory:');
  try {
    return database.prepare('SELECT ?1').get(1) !== undefined;
  } catch {
    return false;
  } finally {
    database.close();
  }
}

export function loadSqliteLibrary(): SqliteLibrary {
  return require(sqliteLibraryPath());
}

/**
 * The file of the bundle for this platform. Where there is none, or it does not load (it needs glibc 2.29, Node only
 * 2.28), an application can install the package that the files are from, which npm compiles there.
 */
function loadablePath(): string {
  const target = nativeTarget();
  const faults: string[] = [];
  let force = '';
  for (const name of [`#native/${target}`, packageName]) {
    try {
      const path = require.resolve(name);
      require(path);
      return path;
    } catch (error) {
      if (errorCode(error) !== 'MODULE_NOT_FOUND') faults.push(thrownError(error).message.trim());
      // npm refuses the package on platforms that it has no file for
      else if (name !== packageName) force = '--force ';
    }
  }
  const reason = faults.length === 0 ? '' : ` (${faults.join('; ')})`;
  throw new Error(
    `Runyard has no SQLite for ${target} that Node ${process.versions.node} can load${reason}. ` +
      `Use Node 22.20 or later, which contains SQLite, or PostgreSQL; or compile it: npm install ${force}${packageName}@1.2.1`,
  );
}
