import { resolve as resolvePath } from 'node:path';
import { errors } from '../../core/errors/errors.js';
import { nearestName } from '../../core/nearest-name.js';
import { forEachName, keysOf } from '../../core/objects.js';
import { describeFault, type SourceValue } from './config-faults.js';
import { readEnvironment, readFlags, readSettingsFile } from './config-sources.js';
import { serviceSettings } from './service-settings.js';
import { defaultsOf, type Setting, type SettingsInputOf, type SettingsOf } from './setting.js';

export type SettingName = keyof typeof serviceSettings;
type GivenSettings = SettingsOf<typeof serviceSettings>;

/** Settings as the service uses them: nothing is left to be guessed, folders and SQLite files are absolute. */
export type Settings = Omit<GivenSettings, DerivedSetting> & {
  readonly database: string;
  readonly autoMigrate: boolean;
  readonly userIsolation: boolean;
  readonly approvalsFourEyes: boolean;
};

/** Defaults that follow from other settings. */
type DerivedSetting = 'database' | 'autoMigrate' | 'userIsolation' | 'approvalsFourEyes';

/** Settings as an application writes them in code. */
export type SettingsInput = SettingsInputOf<typeof serviceSettings>;

const settingNames = keysOf(serviceSettings);

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

interface LoadedSettings {
  readonly settings: Settings;
  /** Which source each setting came from. */
  readonly origins: Readonly<Record<SettingName, SettingsSource>>;
  /** Things worth a line in the log, such as an unknown variable. */
  readonly warnings: readonly string[];
}

/** Reads all sources, checks every value with its source, and merges them. Throws one error that names all faults. */
export function loadSettings(sources: SettingsSources = {}): LoadedSettings {
  const cwd = resolvePath(sources.cwd ?? process.cwd());
  const environment = readEnvironment(sources.env ?? {}, serviceSettings);
  const file = readSettingsFile(sources.file, cwd);
  const layers: readonly {
    readonly source: SettingsSource;
    readonly values: readonly SourceValue[];
    readonly folder: string;
  }[] = [
    { source: 'code', values: codeValues(sources), folder: cwd },
    { source: 'file', values: file.values, folder: file.folder },
    { source: 'environment', values: environment.values, folder: cwd },
    { source: 'flags', values: readFlags(sources.flags ?? {}, serviceSettings), folder: cwd },
  ];

  const faults: string[] = [];
  const merged: Record<string, unknown> = defaultsOf(serviceSettings);
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
  // each given value has been checked by its schema, and the others are the defaults
  const settings = merged as GivenSettings;
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
  const defined: Setting = serviceSettings[name];
  const schema = defined.schema();
  const parsed = schema.safeParse(given.value);
  if (parsed.success) return { name, value: parsed.data };
  faults.push(describeFault(given, { schema, allowed: defined.allowed }, parsed.error));
  return undefined;
}

/** A relative path means: relative to where it was written. */
function fromFolder(name: SettingName, value: unknown, folder: string): unknown {
  if (typeof value === 'string') {
    if (name === 'dataDir' || name === 'jwksFile') return resolvePath(folder, value);
    if (name === 'database') return absoluteUrl(value, folder);
  }
  if (name !== 'databases') return value;
  const entries = Object.entries<GivenSettings['databases'][string]>(Object(value)).map(([id, database]) => [
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

function complete(settings: GivenSettings, cwd: string): Settings {
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
