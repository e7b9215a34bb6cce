import { migrations } from './capabilities/capabilities.js';
import type { SpaceDatabase } from './capabilities/capability.js';
import type { Component } from './capabilities/components/service.js';
import { errors } from './core/errors/errors.js';
import { thrownError } from './core/errors/thrown-error.js';
import type { Log } from './core/log.js';
import type { Settings } from './platform/settings/config.js';
import type { Database } from './platform/storage/database.js';
import { plannedChange } from './platform/storage/migrations/change-schema.js';
import { migrate } from './platform/storage/migrations/migrate.js';
import { openDatabase } from './platform/storage/open.js';
import { reasonOf } from './platform/storage/reasons.js';
import { isOutage } from './platform/storage/transient.js';
import type { MigrateOptions, MigrationReport } from './runyard-options.js';

/** The id of the service's own database. */
const defaultDatabase = 'default';
/** What `/databases/all/migrate` stands for. */
const reservedId = 'all';

/** Opens all registered databases or none, the service's own first. */
export async function openDatabases(
  settings: Settings,
  log: Log,
  signal?: AbortSignal,
): Promise<readonly Database[]> {
  if (settings.databases[reservedId] !== undefined)
    throw errors.invalidConfig(
      `A database cannot have the id '${reservedId}': it stands for all databases. Register it under another id.`,
    );
  if (settings.redis !== undefined && databaseUrls(settings).every((url) => url.startsWith('sqlite:')))
    throw errors.invalidConfig(
      'The setting redis connects processes that share a PostgreSQL database, and this service stores in SQLite alone, which one process uses. Remove it, or set database to postgres://user:password@host:5432/name.',
    );
  const wanted = [
    {
      id: defaultDatabase,
      url: settings.database,
      durability: settings.durability,
      poolSize: settings.databasePoolSize,
      maxWaiting: settings.databaseMaxWaiting,
      pooler: settings.databasePooler,
      directUrl: settings.databaseDirectUrl,
      replicaUrl: settings.databaseReplicaUrl,
    },
    ...Object.entries(settings.databases).map(([id, given]) =>
      typeof given === 'string'
        ? { id, url: given, durability: settings.durability }
        : { id, ...given, durability: given.durability ?? settings.durability },
    ),
  ];
  const how = {
    log,
    migrations,
    startupMs: settings.databaseStartupMs,
    redis: settings.redis,
    ...(signal !== undefined && { signal }),
  };
  const opened = await Promise.allSettled(wanted.map((database) => openDatabase({ ...database, ...how })));
  const databases = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = opened.find((result) => result.status === 'rejected');
  if (failed === undefined) return databases;
  await closeDatabases(databases);
  throw failed.reason;
}

/** Where the registered databases are, the service's own first. */
export function databaseUrls({ database, databases }: Settings): readonly string[] {
  return [
    database,
    ...Object.values(databases).map((given) => (typeof given === 'string' ? given : given.url)),
  ];
}

export async function closeDatabases(databases: readonly Database[]): Promise<void> {
  await Promise.all(databases.map((database) => database.close()));
}

/** Brings the schema of those databases up to date that this service may migrate. */
export async function migrateOwnDatabases(databases: readonly Database[], settings: Settings): Promise<void> {
  for (const database of databases) {
    if (migratesItself(database.id, settings)) await migrateOrFail(database);
  }
}

/** Migrates one or all databases, one after the other. */
export async function migrateDatabases(
  all: readonly SpaceDatabase[],
  { database: wanted, ...change }: MigrateOptions,
): Promise<MigrationReport[]> {
  const chosen = wanted === undefined ? all : all.filter(({ database }) => database.id === wanted);
  if (chosen.length === 0)
    throw errors.databaseNotFound(
      wanted ?? '',
      all.map(({ database }) => database.id),
    );
  // one that would lose data is refused before another has changed
  for (const { database } of chosen) await plannedChange(database, change);
  const reports: MigrationReport[] = [];
  for (const one of chosen) reports.push({ database: one.database.id, ...(await one.change(change)) });
  return reports;
}

/** What ends the start when a database fails in the middle of it. */
export function startFailure(error: unknown, databases: readonly Database[]): unknown {
  const failed = databases.find(({ outage }) => outage !== undefined) ?? databases[0];
  if (!isOutage(error) || failed === undefined) return error;
  const { cause } = thrownError(error);
  const text = `Database '${failed.id}' cannot be used at ${failed.location}: ${reasonOf(cause)}`;
  return errors.databaseUnavailable(text, cause);
}

/** Refuses components that are to be stored where nothing is. */
export function checkDatabaseNames(components: readonly Component[], databases: readonly Database[]): void {
  const known = new Set(databases.map(({ id }) => id));
  for (const component of components) {
    const { database } = component.settings;
    if (database !== undefined && !known.has(database)) {
      throw errors.invalidConfig(
        `${kindInWords(component)} '${component.id}' names the database '${database}', which is not registered. Registered: ${[...known].join(', ')}.`,
      );
    }
  }
}

function migratesItself(databaseId: string, { databases, autoMigrate }: Settings): boolean {
  const given = databases[databaseId];
  if (databaseId === defaultDatabase || given === undefined) return autoMigrate;
  return typeof given === 'object' && given.autoMigrate !== undefined
    ? given.autoMigrate
    : (typeof given === 'string' ? given : given.url).startsWith('sqlite:');
}

async function migrateOrFail(database: Database): Promise<void> {
  const failed = (await migrate(database)).find(({ status }) => status === 'failed');
  if (failed !== undefined) {
    if (isOutage(failed.error)) throw failed.error;
    throw errors.migrationFailed(
      database.id,
      failed.name,
      failed.error instanceof Error ? failed.error.message : String(failed.error),
    );
  }
}

function kindInWords(component: Component): string {
  const kind = 'kind' in component ? component.kind : 'agent';
  return kind.charAt(0).toUpperCase() + kind.slice(1);
}
