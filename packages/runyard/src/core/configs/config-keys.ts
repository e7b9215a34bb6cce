import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { fieldsOf } from '../objects.js';
import { inWords, shown } from '../options/faults.js';
import type { Kind } from '../options/kind.js';
import type { Reading } from './reading.js';
import type { Writing } from './writing.js';

/** What a value of a configuration stands for, in both directions. */
export interface ConfigValue {
  /** The setting; undefined for a faulty value, and for one that stands for something that is not looked up. */
  read(value: Json, at: Reading): unknown;
  /** The value of a setting; undefined for one that a configuration cannot hold. */
  write(setting: unknown, at: Writing): Json | undefined;
}

/** One setting, as configurations say it. */
export interface ConfigKey {
  /** The keys that it is read from. It is written under the first. */
  readonly keys: readonly string[];
  /** The setting; undefined when its keys are absent or faulty. */
  read(config: JsonObject, at: Reading): unknown;
  /** The keys of a setting that is given. */
  write(setting: unknown, at: Writing): JsonObject;
}

/** A key for each setting: a setting that is added and forgotten here does not compile. */
export type KeysOf<Settings> = { readonly [Name in keyof Settings]-?: ConfigKey };

/** An object of a configuration, and the settings that it stands for. */
export interface ConfigForm<Settings> {
  /** In words: `a loop`. */
  readonly what: string;
  readonly keys: KeysOf<Settings>;
  /** Keys of the wire that have no setting, with the values that change nothing. */
  readonly without?: Readonly<Record<string, readonly Json[]>>;
  /** Keys that are read elsewhere. */
  readonly others?: readonly string[];
}

/** A value that may be a function of the run in code, which no configuration can hold. */
export function fixed(of: ConfigValue): ConfigValue {
  return {
    read: of.read,
    write: (setting, at) =>
      typeof setting === 'function'
        ? at.fault('is a function of the run, which a configuration cannot hold. Give a value.')
        : of.write(setting, at),
  };
}

/** A setting under one key, or under one of several names. */
export function key(names: string | readonly [string, ...string[]], value: ConfigValue): ConfigKey {
  const keys: readonly string[] = typeof names === 'string' ? [names] : names;
  const [written = ''] = keys;
  return {
    keys,
    read: (config, at) => {
      const said = keys.filter((one) => !isAbsent(config[one]));
      const [first, ...others] = said;
      if (first === undefined) return undefined;
      for (const other of others) {
        if (!isSame(config[first], config[other]))
          at.within(other).fault(`is another name for ${first}, and the two differ. Give one of them.`);
      }
      return given(config[first], (one) => value.read(one, at.within(first)));
    },
    write: (setting, at) => {
      const one = value.write(setting, at.within(written));
      return one === undefined ? {} : { [written]: one };
    },
  };
}

/** A setting that is the same value in a configuration. */
export function plain(names: string | readonly [string, ...string[]], kind: Kind): ConfigKey {
  return key(names, plainValue(kind));
}

export function plainValue(kind: Kind): ConfigValue {
  return {
    read: (value, at) => at.checked(kind, value),
    // kinds of plain settings take nothing that JSON does not hold
    write: (setting) => setting as Json,
  };
}

/** The same where null is a value and not an absent key. */
export function nullable(name: string, kind: Kind): ConfigKey {
  return {
    keys: [name],
    read: (config, at) =>
      config[name] === undefined ? undefined : at.within(name).checked(kind, config[name]),
    // as that of a plain setting
    write: (setting) => ({ [name]: setting as Json }),
  };
}

/** A setting that cannot be left out. */
export function needed(of: ConfigKey, allowed: string): ConfigKey {
  return {
    ...of,
    read: (config, at) => (isGiven(of, config) ? of.read(config, at) : missing(of, at, allowed)),
  };
}

/** The same for one that a draft may lack: only what is built needs it, or what is built to run by itself. */
export function neededToBuild(of: ConfigKey, allowed: string, unless?: 'a member'): ConfigKey {
  const isNeeded = ({ site }: Reading) =>
    site !== undefined && !(site.isMember === true && unless === 'a member');
  return {
    ...of,
    read: (config, at) =>
      isGiven(of, config) || !isNeeded(at) ? of.read(config, at) : missing(of, at, allowed),
  };
}

function isGiven({ keys }: ConfigKey, config: JsonObject): boolean {
  return keys.some((one) => !isAbsent(config[one]));
}

function missing({ keys }: ConfigKey, at: Reading, allowed: string): undefined {
  return at.within(keys[0] ?? '').fault(`is missing. Give ${allowed}.`);
}

/** Milliseconds that the wire has in seconds. */
export function seconds(names: string | readonly [string, ...string[]], kind: Kind, least = 1): ConfigKey {
  return key(names, {
    read: (value, at) =>
      at.checked(kind, value) === undefined ? undefined : Math.max(least, Math.round(Number(value) * 1_000)),
    write: (setting) => Number(setting) / 1_000,
  });
}

/** A setting that is an object with keys of its own. */
export function object<Settings>(name: string, form: ConfigForm<Settings>): ConfigKey {
  return key(name, objectValue(form));
}

export function objectValue<Settings>(form: ConfigForm<Settings>): ConfigValue {
  return {
    read: (value, at) => readForm(form, value, at),
    write: (setting, at) => writeForm(form, setting, at),
  };
}

/** A list of such objects. */
export function objects<Settings>(name: string, form: ConfigForm<Settings>, most: number): ConfigKey {
  return key(name, listValue(objectValue(form), most));
}

/** A list, each entry of which stands for an entry of the setting. */
export function listValue(of: ConfigValue, most: number): ConfigValue {
  return {
    read: (value, at) => at.list(value, most)?.map((one, index) => of.read(one, at.entry(index))),
    write: (setting, at) => {
      // only settings that are lists have this value
      const list = setting as readonly unknown[];
      if (list.length > most) return at.fault(`has ${list.length} entries. At most ${most} are allowed.`);
      return list.map((one, index) => of.write(one, at.entry(index)) ?? null);
    },
  };
}

/** The settings of an object of a configuration. What is wrong with it is added to the faults. */
export function readForm<Settings>(
  form: ConfigForm<Settings>,
  value: Json,
  at: Reading,
): Record<string, unknown> | undefined {
  if (!isJsonObject(value)) return at.fault(`is ${shown(value)}. Give an object.`);
  checkKeys(form, value, at);
  const settings: Record<string, unknown> = {};
  for (const [name, one] of Object.entries<ConfigKey>(form.keys)) {
    const setting = one.read(value, at);
    if (setting !== undefined) settings[name] = setting;
  }
  return settings;
}

/** The keys of settings, in the order of the form. */
export function writeForm<Settings>(form: ConfigForm<Settings>, settings: unknown, at: Writing): JsonObject {
  const fields = fieldsOf(settings);
  const keys = Object.entries<ConfigKey>(form.keys).map(([name, one]) =>
    fields[name] === undefined ? {} : one.write(fields[name], at),
  );
  return Object.assign({}, ...keys);
}

function checkKeys<Settings>(form: ConfigForm<Settings>, config: JsonObject, at: Reading): void {
  const { without = {}, others = [], what } = form;
  const known = new Set([...Object.values<ConfigKey>(form.keys).flatMap(({ keys }) => keys), ...others]);
  for (const [name, value] of Object.entries(config)) {
    if (known.has(name) || isAbsent(value)) continue;
    const harmless = Object.hasOwn(without, name) ? without[name] : undefined;
    if (harmless === undefined) at.unknownKey(name, what, [...known, ...Object.keys(without)]);
    else if (!harmless.some((one) => isSame(one, value))) {
      const allowed = inWords(harmless.map((one) => JSON.stringify(one)));
      at.within(name).fault(
        `is ${shown(value)}, which Runyard does not support. Leave it out${allowed === '' ? '' : `, or give ${allowed}`}.`,
      );
    }
  }
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** null is as good as nothing: clients send keys without a value. */
export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

export function given<Made>(value: Json | undefined, make: (value: Json) => Made): Made | undefined {
  return isAbsent(value) ? undefined : make(value);
}
