import { errors } from '../../../core/errors/errors.js';
import type { Database, Migration } from '../database.js';
import { type MigrationResult, migrate, type RoutePart, route, schemaStatus, targetOf } from './migrate.js';
import { type LostData, lostData } from './statements.js';

export interface SchemaChangeOptions {
  /** The version to go to, up or down; 0 removes everything. Default: the newest. */
  readonly to?: number | undefined;
  /** Executes nothing, and answers with the statements. */
  readonly dryRun?: boolean | undefined;
  /** Also deletes data. */
  readonly force?: boolean | undefined;
  /** The migrations to choose from; only tests give others than the database's. */
  readonly available?: readonly Migration[] | undefined;
}

/** What was done to the schema of a database, or would be done. */
export interface SchemaChange {
  readonly from: number;
  /** The version that it has now; of a dry run, the one that it would have. */
  readonly to: number;
  readonly results: readonly MigrationResult[];
  /** What was deleted, or would be deleted. */
  readonly losses: readonly LostData[];
}

export interface PlannedChange {
  readonly from: number;
  readonly to: number;
  readonly parts: readonly RoutePart[];
  readonly losses: readonly LostData[];
}

/** What leads to a version. A downgrade that deletes data is refused, unless it is forced or nothing is executed. */
export async function plannedChange(
  database: Database,
  { to: wanted, dryRun, force, available = database.migrations }: SchemaChangeOptions,
): Promise<PlannedChange> {
  const to = targetOf(available, wanted);
  const { current: from, latest } = await schemaStatus(database, available);
  if (from > latest) throw errors.schemaNewer(database.id, from, latest);
  const parts = route(available, from, to);
  const losses = await lostData(database, parts);
  if (losses.length > 0 && force !== true && dryRun !== true)
    throw errors.downgradeLosesData(database.id, to, losses.map(lossInWords), backupHints[database.dialect]);
  return { from, to, parts, losses };
}

/** Brings the schema to a version, or says what that would do. */
export async function changeSchema(database: Database, options: SchemaChangeOptions): Promise<SchemaChange> {
  return carryOut(database, await plannedChange(database, options), options);
}

/** Carries out what was planned. Another process may have been faster: then less is left to do. */
export async function carryOut(
  database: Database,
  { from, to, parts, losses }: PlannedChange,
  { dryRun, available }: SchemaChangeOptions,
): Promise<SchemaChange> {
  if (dryRun) return { from, to, losses, results: parts.map((part) => planned(database, part)) };
  const results = await migrate(database, { to, ...(available !== undefined && { available }) });
  const { current } = await schemaStatus(database, available);
  return { from, to: current, losses, results };
}

function planned({ dialect }: Database, { migration, direction }: RoutePart): MigrationResult {
  const { version, name } = migration;
  return { version, name, direction, status: 'planned', ms: 0, sql: migration[direction](dialect) };
}

/** Such as `sessions (3 rows)`. */
export function lossInWords({ table, column, rows, more }: LostData): string {
  const what = column === undefined ? table : `${table}.${column}`;
  return `${what} (${more ? 'more than ' : ''}${rows} ${rows === 1 ? 'row' : 'rows'})`;
}

const backupHints = {
  sqlite: `sqlite3 FILE "VACUUM INTO 'backup.db'"`,
  postgres: 'pg_dump --format=custom --file=backup.dump DATABASE_URL',
} as const;
