import { createRequire } from 'node:module';
import type { DatabaseSync } from '@photostructure/sqlite';

export type SqliteConnection = InstanceType<typeof DatabaseSync>;
export type SqliteStatement = ReturnType<SqliteConnection['prepare']>;

export interface SqliteLibrary {
  readonly DatabaseSync: typeof DatabaseSync;
}

const require = createRequire(import.meta.url);

/**
 * What `require` loads the library by, in any thread: Node's own module where it needs no flag, else the package
 * with the same interface.
 */
export function sqliteLibraryPath(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const builtIn = major > 22 || (major === 22 && minor >= 13);
  return builtIn ? 'node:sqlite' : require.resolve('@photostructure/sqlite');
}

export function loadSqliteLibrary(): SqliteLibrary {
  return require(sqliteLibraryPath());
}
