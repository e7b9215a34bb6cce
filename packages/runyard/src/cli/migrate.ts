import { errorCode } from '../core/errors/error-code.js';
import { lossInWords } from '../platform/storage/migrations/change-schema.js';
import { reasonOf } from '../platform/storage/reasons.js';
import type { MigrationReports, SchemaReports } from './application.js';
import { CommandFailure } from './failure.js';
import { findEntry, loadEntry } from './load-entry.js';
import { configure, type SettingFlags } from './setting-flags.js';

export interface MigrateFlags extends SettingFlags {
  readonly to?: string;
  readonly status?: boolean;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** Brings the databases of the application to the newest schema, or to the given version. */
export async function migrate(entry: string | undefined, flags: MigrateFlags): Promise<void> {
  const to = version(flags.to);
  const application = await loadEntry(findEntry(entry));
  // `--database` names one of the registered databases here; a URL is still taken as the setting of that name.
  const isUrl = flags.database?.includes(':') ?? false;
  configure(application, isUrl ? flags : { ...flags, database: undefined });
  const database = isUrl ? undefined : flags.database;
  try {
    if (flags.status) return showStatus(await application.schemaStatus(), database);
    const { dryRun, force } = flags;
    const reports = await application.migrate({ to, database, dryRun, force });
    if (dryRun) showPlans(reports);
    else showReports(reports);
  } finally {
    await application.close({ graceMs: 0 });
  }
}

function version(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text))
    throw new CommandFailure(`flag --to is "${text}"; allowed: the number of a migration, such as 1.`);
  return Number(text);
}

function showStatus(all: SchemaReports, database: string | undefined): void {
  const chosen = database === undefined ? all : all.filter((report) => report.database === database);
  if (chosen.length === 0) {
    throw new CommandFailure(
      `There is no database '${database}'. Registered: ${all.map((report) => report.database).join(', ')}.`,
    );
  }
  for (const { database: id, status } of chosen) {
    const { current, latest, pending } = status;
    const state =
      pending.length === 0
        ? 'up to date'
        : `${pending.length} to run: ${pending.map((step) => step.name).join(', ')}`;
    console.log(`${id}: version ${current} of ${latest}, ${state}`);
  }
}

function showReports(reports: MigrationReports): void {
  let failed = false;
  for (const { database, results } of reports) {
    if (results.length === 0) console.log(`${database}: nothing to do`);
    for (const { name, direction, status, ms, error } of results) {
      failed ||= status === 'failed';
      const outcome =
        status === 'done'
          ? `done in ${Math.round(ms)} ms`
          : status === 'failed'
            ? `failed: ${reason(error)}`
            : 'not run';
      console.log(`${database}: ${name} ${direction}: ${outcome}`);
    }
  }
  if (failed)
    throw new CommandFailure(
      'The migration failed. Completed steps were kept; the failed step was rolled back.',
    );
}

/** The SQL that would be executed, ready to be read or fed to a client of the database. */
function showPlans(reports: MigrationReports): void {
  for (const { database, results, losses = [] } of reports) {
    if (results.length === 0) console.log(`-- ${database}: nothing to do`);
    for (const { name, direction, sql = [] } of results) {
      console.log(`-- ${database}: ${name} ${direction}`);
      for (const statement of sql) console.log(`${withoutIndent(statement)};`);
    }
    if (losses.length > 0) console.log(`-- ${database}: deletes ${losses.map(lossInWords).join(', ')}`);
  }
}

/** The statements are indented as they stand in the source. */
function withoutIndent(sql: string): string {
  const lines = sql.trim().split('\n');
  const indents = lines.slice(1).flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  const least = Math.max(0, Math.min(...indents) - 2);
  return lines
    .map((line, at) => (at === 0 ? line : line.slice(Number.isFinite(least) ? least : 0)))
    .join('\n');
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // callers of the service learn nothing about the database; the person at this terminal can fix it
  const isOutage = errorCode(error) === 'database_unavailable';
  return isOutage && error.cause !== undefined ? reasonOf(error.cause) : error.message;
}
