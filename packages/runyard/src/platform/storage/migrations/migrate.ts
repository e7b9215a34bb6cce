import { performance } from 'node:perf_hooks';
import { errors } from '../../../core/errors/errors.js';
import { thrownError } from '../../../core/errors/thrown-error.js';
import { schemaChanged } from '../../../core/runs/notifications/run-notifications.js';
import {
  type Database,
  type Dialect,
  type Migration,
  type RunStatement,
  type Statement,
  statement,
} from '../database.js';
import { notifyInTransaction } from '../notify-channel.js';
import { isOutage, isSchemaFault } from '../transient.js';
import { withAddedColumns } from './added-columns.js';

export interface MigrationResult {
  readonly version: number;
  readonly name: string;
  readonly direction: 'up' | 'down';
  /** `not_run`: an earlier one failed. `planned`: nothing was executed. */
  readonly status: 'done' | 'failed' | 'not_run' | 'planned';
  readonly error?: unknown;
  readonly ms: number;
  /** The statements of a planned one. */
  readonly sql?: readonly string[];
}

export interface SchemaStatus {
  /** The version of the database; 0 is an empty one. */
  readonly current: number;
  /** The newest version that this Runyard knows. */
  readonly latest: number;
  readonly pending: readonly { readonly version: number; readonly name: string }[];
}

export interface MigrateOptions {
  /** The version to go to, up or down; 0 removes everything. Default: the newest. */
  readonly to?: number;
  /** The migrations to choose from; only tests give others than the database's. */
  readonly available?: readonly Migration[];
}

export async function schemaStatus(
  database: Database,
  available: readonly Migration[] = database.migrations,
): Promise<SchemaStatus> {
  const current = await storedVersion(database);
  return {
    current,
    latest: latestOf(available),
    pending: available
      .filter(({ version }) => version > current)
      .map(({ version, name }) => ({ version, name })),
  };
}

/**
 * Brings the schema to a version, each migration in a transaction of its own; an empty database gets all of them in one.
 * A failure ends it and is part of the answer; what was done before stays. When several processes migrate at once, one
 * does the work and the others wait, find it done, and answer with what was left for them: nothing.
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<MigrationResult[]> {
  const available = options.available ?? database.migrations;
  const latest = latestOf(available);
  const target = targetOf(available, options.to);
  const status = await schemaStatus(database, available);
  const results: MigrationResult[] = [];
  let current = status.current;
  if (current === 0 && target > 0) {
    const all = await fillEmpty(database, available, target);
    if (all !== undefined) return all;
  }
  // Nothing to do takes no lock: the usual start of a service.
  while (current !== target) {
    if (current > latest) throw newerSchema(database, current, latest);
    const step = await migrateOneStep(database, available, current, target);
    if (step.result) results.push(step.result);
    if (step.result?.status === 'failed') {
      return [...results, ...notRun(available, step.current, target).slice(1)];
    }
    current = step.current;
  }
  return results;
}

/** The version to go to; refused when there is none like it. */
export function targetOf(available: readonly Migration[], to: number | undefined): number {
  const latest = latestOf(available);
  if (to === undefined || to === 0 || available.some(({ version }) => version === to)) return to ?? latest;
  throw errors.invalidConfig(`There is no schema version ${to}. The versions are 0 to ${latest}.`);
}

/**
 * Commits, round trips and messages to a thread cost more than the statements, and an empty database keeps nothing of a
 * failure: all migrations go in one transaction. Undefined when that fails, or another process was faster: then they go
 * one by one, which reports more.
 */
async function fillEmpty(
  database: Database,
  available: readonly Migration[],
  target: number,
): Promise<MigrationResult[] | undefined> {
  const started = performance.now();
  const parts = route(available, 0, target);
  const statements = [
    ...parts.flatMap(({ migration }) => migration.up(database.dialect)),
    notedAtOnce(parts),
  ];
  try {
    const isEmpty =
      database.dialect === 'sqlite'
        ? await database.script(
            [tableOfMigrations, ...withAddedColumns(statements)].join(';\n'),
            findTable.sqlite,
          )
        : await database.transaction(async (run) => {
            await lock(run, 'postgres');
            if ((await versionUnderLock(run, 'postgres')) !== 0) return false;
            await run(statements.join(';\n'));
            await run(notifyInTransaction, [JSON.stringify(schemaChanged)]);
            return true;
          });
    if (!isEmpty) return undefined;
  } catch {
    return undefined;
  }
  const ms = Math.round((performance.now() - started) / parts.length);
  return parts.map(({ migration: { version, name }, direction }) => ({
    ...{ version, name, direction, status: 'done', ms },
  }));
}

interface Step {
  readonly current: number;
  /** Absent when another process had been here before. */
  readonly result?: MigrationResult;
}

async function migrateOneStep(
  database: Database,
  available: readonly Migration[],
  known: number,
  target: number,
): Promise<Step> {
  const started = performance.now();
  let from = known;
  let [next] = route(available, known, target);
  try {
    await database.transaction(async (run) => {
      await lock(run, database.dialect);
      // Read again under the lock: another process may have done it, or be ahead of what we know.
      from = await versionUnderLock(run, database.dialect);
      [next] = from > latestOf(available) ? [] : route(available, from, target);
      if (next) await apply(run, database.dialect, next);
    });
  } catch (error) {
    if (next === undefined) throw error;
    return { current: from, result: resultOf(next, 'failed', started, ownFault(error)) };
  }
  if (next === undefined) return { current: from };
  return { current: versionAfter(next, available), result: resultOf(next, 'done', started) };
}

/** What a statement of the migration itself lacks is no matter of another schema. */
function ownFault(error: unknown): unknown {
  const { cause } = thrownError(error);
  return isOutage(error) && isSchemaFault(cause) ? cause : error;
}

function resultOf(
  { migration: { version, name }, direction }: RoutePart,
  status: 'done' | 'failed',
  started: number,
  error?: unknown,
): MigrationResult {
  const ms = Math.round(performance.now() - started);
  return { version, name, direction, status, ms, ...(status === 'failed' ? { error } : {}) };
}

function versionAfter({ migration, direction }: RoutePart, available: readonly Migration[]): number {
  if (direction === 'up') return migration.version;
  return available.findLast(({ version }) => version < migration.version)?.version ?? 0;
}

const noteMigration = statement(
  'note_migration',
  'INSERT INTO runyard_migrations (version, name, applied_at) VALUES (?, ?, ?)',
);
const forgetMigration = statement('forget_migration', 'DELETE FROM runyard_migrations WHERE version = ?');

/** What `noteMigration` does for each of them. Names are those of the code, not of a person. */
function notedAtOnce(parts: readonly RoutePart[]): string {
  const rows = parts.map(({ migration: { version, name } }) => `(${version}, '${name}', ${Date.now()})`);
  return `INSERT INTO runyard_migrations (version, name, applied_at) VALUES ${rows.join(', ')}`;
}

/** Runs the migration and notes it. */
async function apply(
  run: RunStatement,
  dialect: Dialect,
  { migration, direction }: RoutePart,
): Promise<void> {
  const { version, name } = migration;
  for (const sql of migration[direction](dialect)) await run(sql);
  if (direction === 'up') await run(noteMigration[dialect], [version, name, Date.now()]);
  else await run(forgetMigration[dialect], [version]);
  // the processes that use the database learn it with the commit
  if (dialect === 'postgres') await run(notifyInTransaction, [JSON.stringify(schemaChanged)]);
}

export interface RoutePart {
  readonly migration: Migration;
  readonly direction: 'up' | 'down';
}

/** The migrations that lead from one version to another. */
export function route(available: readonly Migration[], current: number, target: number): RoutePart[] {
  if (target >= current) {
    return available
      .filter(({ version }) => version > current && version <= target)
      .map((migration) => ({ migration, direction: 'up' }));
  }
  return available
    .filter(({ version }) => version <= current && version > target)
    .reverse()
    .map((migration) => ({ migration, direction: 'down' }));
}

function notRun(available: readonly Migration[], current: number, target: number): MigrationResult[] {
  return route(available, current, target).map(({ migration: { version, name }, direction }) => ({
    version,
    name,
    direction,
    status: 'not_run',
    ms: 0,
  }));
}

/**
 * One migration at a time over all processes. SQLite's transaction holds the write lock since it began;
 * PostgreSQL needs one that ends with the transaction, apart for each schema.
 */
async function lock(run: RunStatement, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') {
    await run('SET LOCAL lock_timeout = 0');
    await run(`SELECT pg_advisory_xact_lock(hashtextextended('runyard_migrations:' || current_schema(), 0))`);
  }
  await run(tableOfMigrations);
}

const tableOfMigrations = `CREATE TABLE IF NOT EXISTS runyard_migrations (
    version integer PRIMARY KEY,
    name text NOT NULL,
    applied_at bigint NOT NULL
  )`;

const findTable: Statement = {
  name: 'migrations_table',
  sqlite: `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'runyard_migrations'`,
  postgres: `SELECT 1 WHERE to_regclass('runyard_migrations') IS NOT NULL`,
};

const readVersion = statement('schema_version', 'SELECT max(version) AS version FROM runyard_migrations');

interface VersionRow {
  /** Null when no migration is noted. */
  readonly version: number | null;
}

async function storedVersion(database: Database): Promise<number> {
  if ((await database.read(findTable, [])).length === 0) return 0;
  const [row] = await database.read<VersionRow>(readVersion, []);
  return row?.version ?? 0;
}

async function versionUnderLock(run: RunStatement, dialect: Dialect): Promise<number> {
  const [row] = await run<VersionRow>(readVersion[dialect]);
  return row?.version ?? 0;
}

function latestOf(available: readonly Migration[]): number {
  return available.at(-1)?.version ?? 0;
}

function newerSchema({ id }: Database, current: number, latest: number) {
  return errors.invalidConfig(
    `Database '${id}' has schema version ${current}; this Runyard knows versions up to ${latest}. Update Runyard.`,
  );
}
