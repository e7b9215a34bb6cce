import { readFileSync } from 'node:fs';
import { dirname, relative, resolve as resolvePath } from 'node:path';
import type { z } from 'zod';
import { errorCode } from '../../core/errors/error-code.js';
import { errors } from '../../core/errors/errors.js';
import { thrownError } from '../../core/errors/thrown-error.js';
import { isJsonObject } from '../../core/json.js';
import { nearestName } from '../../core/nearest-name.js';
import { type SourceValue, schemaKind } from './config-faults.js';
import type { SettingTable } from './setting.js';

const settingsFileName = 'runyard.json';

/** It holds one key, whatever characters that has: its commas separate nothing. */
const oneKeyVariable = 'JWT_VERIFICATION_KEY';

/** Variables with other names than the derived ones. The first one that is set wins. */
const variableNames: Readonly<Record<string, readonly string[]>> = {
  // no HOST: some shells export it, and the service would leave loopback without being configured to
  host: ['RUNYARD_HOST'],
  port: ['RUNYARD_PORT', 'PORT'],
  database: ['RUNYARD_DATABASE_URL', 'RUNYARD_DATABASE'],
  redis: ['RUNYARD_REDIS_URL', 'RUNYARD_REDIS'],
  jwtKeys: ['RUNYARD_JWT_KEYS', oneKeyVariable],
  jwksFile: ['RUNYARD_JWKS_FILE', 'JWT_JWKS_FILE'],
  securityKey: ['RUNYARD_SECURITY_KEY', 'OS_SECURITY_KEY'],
};

/** Variables that other parts read themselves: model access, tests. */
const foreignVariables = /^RUNYARD_(MODEL|TEST|BENCH)_/;

function variablesOf(setting: string): readonly string[] {
  return (
    variableNames[setting] ?? [`RUNYARD_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`]
  );
}

export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  settings: SettingTable,
): { values: SourceValue[]; warnings: string[] } {
  const values: SourceValue[] = [];
  const known = new Set<string>();
  for (const [name, { schema }] of Object.entries(settings)) {
    const variables = variablesOf(name);
    for (const variable of variables) known.add(variable);
    // An empty variable is how many tools write "not set".
    const variable = variables.find((candidate) => env[candidate]?.trim());
    const text = variable && env[variable];
    if (!variable || !text) continue;
    const value = variable === oneKeyVariable ? [text.trim()] : fromText(text, schema());
    values.push({ name, value, label: `environment variable ${variable}` });
  }
  const warnings = Object.keys(env)
    .filter(
      (variable) =>
        variable.startsWith('RUNYARD_') && !known.has(variable) && !foreignVariables.test(variable),
    )
    .map((variable) => {
      const near = nearestName(variable, [...known]);
      return `environment variable ${variable} is not one that Runyard reads.${near ? ` Did you mean ${near}?` : ''}`;
    });
  return { values, warnings };
}

export function readFlags(flags: Readonly<Record<string, unknown>>, settings: SettingTable): SourceValue[] {
  return Object.entries(flags)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const defined = settings[name];
      const typed = typeof value === 'string' && defined ? fromText(value, defined.schema()) : value;
      return {
        name,
        value: typed,
        label: `flag --${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      };
    });
}

export function readSettingsFile(
  file: string | undefined,
  cwd: string,
): { values: SourceValue[]; folder: string } {
  const path = resolvePath(cwd, file ?? settingsFileName);
  const shown = relative(cwd, path).startsWith('..') ? path : relative(cwd, path);
  const text = readText(path, shown, file !== undefined);
  if (text === undefined) return { values: [], folder: cwd };
  const content = parseObject(text, shown);
  const values = Object.entries(content)
    // Editors find the schema of a JSON file by this key.
    .filter(([name]) => name !== '$schema')
    .map(([name, value]) => ({ name, value, label: `${shown}: "${name}"` }));
  return { values, folder: dirname(path) };
}

function readText(path: string, shown: string, required: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' && !required) return undefined;
    const reason = code === 'ENOENT' ? 'it does not exist' : `it cannot be read (${code})`;
    throw errors.invalidConfig(`settings file ${shown}: ${reason}.`);
  }
}

function parseObject(text: string, shown: string): Record<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw errors.invalidConfig(
      `settings file ${shown} is not valid JSON${jsonPosition(text, thrownError(error))}.`,
    );
  }
  if (!isJsonObject(content)) {
    throw errors.invalidConfig(`settings file ${shown} must hold one JSON object, such as { "port": 7777 }.`);
  }
  return content;
}

/** Where parsing stopped. The parser's own text quotes the file, which may hold a password. */
function jsonPosition(text: string, error: Error): string {
  const offset = /position (\d+)/.exec(error.message)?.[1];
  if (offset === undefined) return '';
  const before = text.slice(0, Number(offset)).split('\n');
  return `: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Environment and flags hold text only: turns it into the kind of value that the setting has. */
function fromText(text: string, schema: z.ZodType): unknown {
  const trimmed = text.trim();
  switch (schemaKind(schema)) {
    case 'integer':
      return /^-?\d+$/.test(trimmed) ? Number(trimmed) : text;
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : text;
    case 'boolean':
      if (/^(true|1|yes|on)$/i.test(trimmed)) return true;
      return /^(false|0|no|off)$/i.test(trimmed) ? false : text;
    case 'array':
      // a list whose items hold commas is written as JSON
      if (trimmed.startsWith('[')) return fromJson(trimmed);
      return trimmed
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
    case 'object':
      return fromJson(trimmed);
    default:
      return trimmed;
  }
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
