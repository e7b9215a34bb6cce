import { errorCode } from '../core/errors/error-code.js';
import { reasonOf } from '../platform/storage/reasons.js';
import type { MigrationReports, SchemaReports } from './application.js';
import { CommandFailure } from './failure.js';
import { findEntry, loadEntry } from './load-entry.js';
import { configure, type SettingFlags } from './setting-flags.js';

export interface MigrateFlags extends SettingFlags {
  readonly to?: string;
  readonly status?: boolean;
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
    showReports(await application.migrate({ to, database }));
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

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // callers of the service learn nothing about the database; the person at this terminal can fix it
  const isOutage = errorCode(error) === 'database_unavailable';
  return isOutage && error.cause !== undefined ? reasonOf(error.cause) : error.message;
}
