import { errors, isReported, RunyardError } from '../../core/errors/errors.js';
import { thrownError } from '../../core/errors/thrown-error.js';
import type { Log } from '../../core/log.js';
import type { Database } from '../../platform/storage/database.js';
import type { SchemaChange } from '../../platform/storage/migrations/change-schema.js';
import { type SchemaStatus, schemaStatus } from '../../platform/storage/migrations/migrate.js';
import { tableVersions } from '../../platform/storage/migrations/statements.js';
import type { SpaceDatabase, Spaces } from '../capability.js';

export interface MigrateRequest {
  /** A version as the caller names it; empty: the latest. */
  readonly target: string;
  readonly dryRun: boolean;
  readonly force: boolean;
}

export interface DatabaseStatus {
  readonly databaseId: string;
  /** Undefined: the database does not answer. */
  readonly schema: SchemaStatus | undefined;
  readonly latest: number;
  readonly tables: ReadonlyMap<string, number>;
}

/** What happened in each database, and why some were not migrated. */
export interface AllMigrated {
  readonly changes: ReadonlyMap<string, SchemaChange>;
  readonly failed: ReadonlyMap<string, string>;
  readonly total: number;
}

/** Versions of the contract's reference. Its migrations concern tables that are not ours: there is nothing to do. */
const foreignVersions: ReadonlySet<string> = new Set(['2.0.0', '2.3.0', '2.5.0', '2.5.6']);

/** The schemas of the databases of a service. */
export class DatabasesService {
  constructor(
    private readonly spaces: Pick<Spaces, 'databases'>,
    private readonly log: Log,
  ) {}

  list(): Promise<DatabaseStatus[]> {
    return Promise.all(this.spaces.databases().map(({ database }) => statusOf(database)));
  }

  /** Migrates one database. A step that fails is part of the answer. */
  async migrate(databaseId: string, request: MigrateRequest): Promise<SchemaChange> {
    const found = this.spaces.databases().find(({ database }) => database.id === databaseId);
    if (found === undefined) throw errors.databaseUnknown(databaseId);
    return this.#migrated(found, request);
  }

  /** Migrates one database after the other. One that fails keeps no other from its turn. */
  async migrateAll(request: MigrateRequest): Promise<AllMigrated> {
    const changes = new Map<string, SchemaChange>();
    const failed = new Map<string, string>();
    const all = this.spaces.databases();
    for (const one of all) {
      const { id } = one.database;
      try {
        const change = await this.#migrated(one, request);
        changes.set(id, change);
        const failure = failureOf(change);
        if (failure !== undefined) failed.set(id, failure);
      } catch (error) {
        failed.set(id, this.#reasonOf(error, id));
      }
    }
    return { changes, failed, total: all.length };
  }

  async #migrated(one: SpaceDatabase, { target, dryRun, force }: MigrateRequest): Promise<SchemaChange> {
    const { database } = one;
    if (foreignVersions.has(target)) {
      const { current } = await schemaStatus(database);
      return { from: current, to: current, results: [], losses: [] };
    }
    const change = await one.change({ to: versionOf(target, database), dryRun, force });
    const facts = { database: database.id, from: change.from, to: change.to };
    for (const { status, name, direction, error } of change.results)
      if (status === 'failed')
        this.log.error({ ...facts, migration: name, direction, err: error }, 'a migration failed');
    if (!dryRun && change.from !== change.to) this.log.info(facts, 'a database was migrated');
    return change;
  }

  #reasonOf(error: unknown, database: string): string {
    if (error instanceof RunyardError)
      return error.code === 'schema_version_unknown' ? shortened(error.message) : error.message;
    if (!isReported(error)) this.log.error({ database, err: thrownError(error) }, 'a migration failed');
    return 'Internal error. The log has the details.';
  }
}

/** Why a database has not the version that was asked for. */
export function failureOf({ results, to }: SchemaChange): string | undefined {
  const failed = results.find(({ status }) => status === 'failed');
  if (failed === undefined) return undefined;
  const { version, name, direction } = failed;
  return `Migration ${version} (${name}, ${direction}) failed and was rolled back. The database has version ${to}. The log has the details.`;
}

function versionOf(target: string, { migrations }: Database): number | undefined {
  if (target === '') return undefined;
  const version = /^\d{1,9}$/.test(target) ? Number(target) : Number.NaN;
  if (version === 0 || migrations.some((migration) => migration.version === version)) return version;
  throw errors.schemaVersionUnknown(target, migrations.at(-1)?.version ?? 0);
}

/** In a report, the database stands before it. */
function shortened(text: string): string {
  return text.replace('Failed to migrate database: ', '');
}

async function statusOf(database: Database): Promise<DatabaseStatus> {
  const { id: databaseId, dialect, migrations } = database;
  const latest = migrations.at(-1)?.version ?? 0;
  try {
    const schema = await schemaStatus(database);
    return { databaseId, schema, latest, tables: tableVersions(migrations, dialect, schema.current) };
  } catch (error) {
    if (!isReported(error)) throw error;
    return { databaseId, schema: undefined, latest, tables: new Map() };
  }
}
