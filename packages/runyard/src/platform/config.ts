import { resolve as resolvePath } from 'node:path';
import { z } from 'zod';
import { errors } from '../core/errors/errors.js';
import { nearestName } from '../core/nearest-name.js';
import { forEachName, keysOf } from '../core/objects.js';
import { authSettingsShape } from './auth/tokens/settings.js';
import { describeFault, type SourceValue } from './config-faults.js';
import { readEnvironment, readFlags, readSettingsFile } from './config-sources.js';
import { limitSettingsShape } from './http/limit-settings.js';
import { interfaceSettingsShape } from './interface-settings.js';
import { modelRateSettingsShape } from './model-rate-settings.js';
import { runLimitSettingsShape } from './run-limit-settings.js';
import { scheduleSettingsShape } from './schedule-settings.js';
import { shownSettingsShape } from './shown-settings.js';
import { storageSettingsShape } from './storage-settings.js';
import { telemetrySettingsShape } from './telemetry/settings.js';

const milliseconds = (minimum: number, maximum = 86_400_000) => z.int().min(minimum).max(maximum);
const bytes = () => z.int().min(1024).max(4_294_967_296);

/** Every setting of a service: its meaning, its allowed values and its default. */
const settingsSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('The address to listen on; loopback by default.'),
  port: z.int().min(0).max(65_535).default(7777).describe('The port to listen on; 0 selects a free port.'),
  probePort: z
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe(
      'A separate port for /health, /ready and /metrics, without tokens, for orchestrators; 0 selects a free port.',
    ),
  name: z.string().min(1).max(200).default('Runyard').describe('The name of this service that clients see.'),
  id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The identifier of this service; derived from the name when left out.'),
  description: z.string().max(2000).optional().describe('The description of this service that clients see.'),
  dataDir: z
    .string()
    .min(1)
    .default('.runyard')
    .describe('The folder of the embedded database and of other local data.'),
  ...storageSettingsShape,
  logLevel: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('How much is logged.'),
  logFormat: z
    .enum(['auto', 'pretty', 'json'])
    .default('auto')
    .describe('The format of log lines; auto is pretty on a terminal and json elsewhere.'),
  corsOrigins: z
    .array(z.string().regex(/^[a-z][a-z\d+.-]*:\/\/[^/*\s]+$/i))
    .max(1000)
    .optional()
    .meta({
      allowed: 'a list of origins such as https://app.example.com or tauri://localhost (no path, no *)',
    })
    .describe(
      'Origins whose pages may call this service from a browser; when left out, those of the usual development servers on the loopback address, and http://localhost:3000 alone elsewhere.',
    ),
  maxBodyBytes: bytes().default(1_048_576).describe('The largest request body without files.'),
  maxUploadBytes: bytes().default(52_428_800).describe('The largest request body with files.'),
  maxStreamedBytes: bytes()
    .default(1_073_741_824)
    .describe(
      'The largest request body whose files are stored while they arrive, such as content for knowledge.',
    ),
  maxFiles: z.int().min(0).max(10_000).default(20).describe('How many files one request may carry.'),
  maxFields: z.int().min(1).max(10_000).default(200).describe('How many form fields one request may carry.'),
  heartbeatMs: milliseconds(100)
    .default(15_000)
    .describe('How long a stream may be silent before the service sends a heartbeat.'),
  maxConcurrentRuns: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(1000)
    .describe('How many runs one process executes at once; further runs wait in a fair order.'),
  maxJobs: z
    .int()
    .min(1)
    .max(1000)
    .default(2)
    .describe(
      'How many jobs (long work of the service, such as ingesting content) one process executes at once. They take no slot of a run; further jobs wait in the database.',
    ),
  maxWaitingRuns: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(10_000)
    .describe(
      'How many runs may wait for their turn; beyond that, the service rejects new runs with 503 and Retry-After.',
    ),
  leaseMs: milliseconds(1000)
    .default(30_000)
    .describe('How long a run stays reserved for a process that does not renew its lease.'),
  orphanedRunsMs: milliseconds(0, 365 * 86_400_000)
    .default(86_400_000)
    .describe(
      'How long a run waits for a process that has its component before it ends with an error, up to a year; 0: forever.',
    ),
  drainMs: milliseconds(0, 600_000)
    .default(0)
    .describe(
      'How long the service still accepts everything after the signal to stop, while /ready answers 503: the time that a load balancer takes to notice.',
    ),
  stopGraceMs: milliseconds(0)
    .default(10_000)
    .describe('How long runs may continue after the service receives the signal to stop.'),
  onDisconnect: z
    .enum(['continue', 'cancel'])
    .default('continue')
    .describe('What happens to a streamed run when its client disconnects.'),
  compatibility: z
    .enum(['none', 'agentos'])
    .default('none')
    .describe('agentos: run bodies carry upper-case status and integer times.'),
  defaultModel: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'The model that the service itself uses, to optimize memories; the model of the first agent when left out.',
    ),
  evalJudge: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The model that judges in evals; the model of the evaluated component when left out.'),
  evalsNeedRunScope: z
    .boolean()
    .default(true)
    .describe(
      'Whether a caller who starts an eval needs the right to run the component; false: evals:write suffices, as for older tokens.',
    ),
  evalRetentionDays: z
    .int()
    .min(0)
    .max(36_500)
    .default(0)
    .describe('How many days the service keeps evals after their end, with their results; 0: forever.'),
  approvalsFourEyes: z
    .boolean()
    .optional()
    .describe(
      'Whether a person other than the requester must approve a call; on with userIsolation when left out.',
    ),
  serviceAccountCacheSeconds: z
    .int()
    .min(0)
    .max(3600)
    .default(30)
    .describe(
      'How long a process trusts a service account after checking it; 0: every request queries the database.',
    ),
  docs: z.boolean().default(true).describe('Whether the service serves the API browser at /docs.'),
  console: z.boolean().default(true).describe('Whether the service serves the web console at /console.'),
  eventRetentionHours: z
    .int()
    .min(0)
    .max(87_600)
    .default(24)
    .describe('How many hours the service keeps the events of a run after its end; 0: forever.'),
  runRetentionDays: z
    .int()
    .min(0)
    .max(36_500)
    .default(0)
    .describe(
      'How many days the service keeps runs after their end, with all that belongs to them; 0: forever.',
    ),
  ...telemetrySettingsShape,
  ...authSettingsShape,
  ...interfaceSettingsShape,
  ...limitSettingsShape,
  ...scheduleSettingsShape,
  ...shownSettingsShape,
  ...interfaceSettingsShape,
  ...runLimitSettingsShape,
  ...modelRateSettingsShape,
});

export type SettingName = keyof typeof settingsSchema.shape;
type SchemaSettings = z.output<typeof settingsSchema>;

/** Settings as the service uses them: nothing is left to be guessed, folders and SQLite files are absolute. */
export type Settings = Omit<SchemaSettings, DerivedSetting> & {
  readonly database: string;
  readonly autoMigrate: boolean;
  readonly userIsolation: boolean;
  readonly approvalsFourEyes: boolean;
};

/** Defaults that follow from other settings. */
type DerivedSetting = 'database' | 'autoMigrate' | 'userIsolation' | 'approvalsFourEyes';

/** Settings as an application writes them in code. */
export type SettingsInput = z.input<typeof settingsSchema>;

const settingNames = keysOf(settingsSchema.shape);

/**
 * Where settings come from. Later ones win: defaults, code, file, environment, flags. Nothing given for
 * `env` means that the environment is not read.
 */
export interface SettingsSources {
  /** What the application says in code: the settings among the options of `new Runyard({ … })`. */
  readonly code?: Readonly<Record<string, unknown>>;
  /** Options in `code` that are not settings (agents, routes, …). They are skipped, and suggested for typing errors. */
  readonly otherCodeNames?: readonly string[];
  /** A settings file named by the caller, which must exist. Without it `runyard.json` is read if it is there. */
  readonly file?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Command line flags by setting name, as typed; undefined means not given. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** The project folder: where `runyard.json` is looked for and what relative paths start from. */
  readonly cwd?: string;
}

export type SettingsSource = 'default' | 'code' | 'file' | 'environment' | 'flags';

export interface LoadedSettings {
  readonly settings: Settings;
  /** Which source each setting came from. */
  readonly origins: Readonly<Record<SettingName, SettingsSource>>;
  /** Things worth a line in the log, such as an unknown variable. */
  readonly warnings: readonly string[];
}

/** Reads all sources, checks every value with its source, and merges them. Throws one error that names all faults. */
export function loadSettings(sources: SettingsSources = {}): LoadedSettings {
  const cwd = resolvePath(sources.cwd ?? process.cwd());
  const environment = readEnvironment(sources.env ?? {}, settingsSchema.shape);
  const file = readSettingsFile(sources.file, cwd);
  const layers: readonly {
    readonly source: SettingsSource;
    readonly values: readonly SourceValue[];
    readonly folder: string;
  }[] = [
    { source: 'code', values: codeValues(sources), folder: cwd },
    { source: 'file', values: file.values, folder: file.folder },
    { source: 'environment', values: environment.values, folder: cwd },
    { source: 'flags', values: readFlags(sources.flags ?? {}, settingsSchema.shape), folder: cwd },
  ];

  const faults: string[] = [];
  const merged: Record<string, unknown> = {};
  const origins = forEachName(settingNames, (): SettingsSource => 'default');
  for (const layer of layers) {
    for (const given of layer.values) {
      const accepted = check(given, layer.source === 'code' ? (sources.otherCodeNames ?? []) : [], faults);
      if (!accepted) continue;
      merged[accepted.name] = fromFolder(accepted.name, accepted.value, layer.folder);
      origins[accepted.name] = layer.source;
    }
  }
  if (faults.length > 0) throw errors.invalidConfig(faults.join('\n'));
  // to compile the check of so many settings takes longer than to make it once
  const settings = settingsSchema.parse(merged, { jitless: true });
  return { settings: complete(settings, cwd), origins, warnings: environment.warnings };
}

/** Refuses settings in code that do not exist or cannot have their value, before other sources are known. */
export function checkCodeSettings(
  code: Readonly<Record<string, unknown>>,
  otherCodeNames: readonly string[],
): void {
  const faults: string[] = [];
  for (const given of codeValues({ code, otherCodeNames })) check(given, otherCodeNames, faults);
  if (faults.length > 0) throw errors.invalidConfig(faults.join('\n'));
}

function codeValues({ code = {}, otherCodeNames }: SettingsSources): SourceValue[] {
  const skipped = new Set(otherCodeNames);
  return Object.entries(code)
    .filter(([name, value]) => value !== undefined && !skipped.has(name))
    .map(([name, value]) => ({ name, value, label: `code, option "${name}"` }));
}

function check(
  given: SourceValue,
  otherNames: readonly string[],
  faults: string[],
): { name: SettingName; value: unknown } | undefined {
  const name = settingNames.find((known) => known === given.name);
  if (!name) {
    const near = nearestName(given.name, [...settingNames, ...otherNames]);
    faults.push(`${given.label} is not a setting.${near ? ` Did you mean "${near}"?` : ''}`);
    return undefined;
  }
  const schema = settingsSchema.shape[name];
  const parsed = schema.safeParse(given.value);
  if (parsed.success) return { name, value: parsed.data };
  faults.push(describeFault(given, schema, parsed.error));
  return undefined;
}

/** A relative path means: relative to where it was written. */
function fromFolder(name: SettingName, value: unknown, folder: string): unknown {
  if (typeof value === 'string') {
    if (name === 'dataDir' || name === 'jwksFile') return resolvePath(folder, value);
    if (name === 'database') return absoluteUrl(value, folder);
  }
  if (name !== 'databases') return value;
  const entries = Object.entries<SchemaSettings['databases'][string]>(Object(value)).map(([id, database]) => [
    id,
    typeof database === 'string'
      ? absoluteUrl(database, folder)
      : { ...database, url: absoluteUrl(database.url, folder) },
  ]);
  return Object.fromEntries(entries);
}

function absoluteUrl(url: string, folder: string): string {
  if (!url.startsWith('sqlite:') || url.startsWith('sqlite://')) return url;
  return sqliteUrl(resolvePath(folder, url.slice('sqlite:'.length)));
}

function sqliteUrl(path: string): string {
  const slashed = path.replaceAll('\\', '/');
  return slashed.startsWith('/') ? `sqlite://${slashed}` : `sqlite:///${slashed}`;
}

function complete(settings: SchemaSettings, cwd: string): Settings {
  const dataDir = resolvePath(cwd, settings.dataDir);
  // a service that demands tokens is meant to keep callers apart
  const userIsolation = settings.userIsolation ?? settings.authorization;
  return {
    ...settings,
    dataDir,
    database: settings.database ?? sqliteUrl(resolvePath(dataDir, 'runyard.db')),
    // The embedded file belongs to this process alone; a database that the operator set up is theirs to change.
    autoMigrate: settings.autoMigrate ?? settings.database === undefined,
    userIsolation,
    approvalsFourEyes: settings.approvalsFourEyes ?? userIsolation,
  };
}
