import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../core/errors/error-code.js';
import { CommandFailure } from './failure.js';

export const dotEnvName = '.env';

/** Reads `.env` of a folder into the environment. What is set there already stays. */
export function readDotEnv(folder: string, environment: NodeJS.ProcessEnv = process.env): void {
  let text: string;
  try {
    text = readFileSync(join(folder, dotEnvName), 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'EISDIR') return;
    throw new CommandFailure(`.env cannot be read (${code}).`);
  }
  for (const [name, value] of parseDotEnv(text)) environment[name] ??= value;
}

const assignment = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*)$/;
const quoted = /^(["'`])((?:\\.|(?!\1).)*)\1\s*(?:#.*)?$/;

/** The variables of the text: a line for each, in quotes or without, `#` begins a comment. */
export function parseDotEnv(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name, rest] = assignment.exec(line) ?? [];
    const value = rest === undefined ? undefined : textOf(rest);
    if (name === undefined || value === undefined) {
      // the line itself may hold a secret
      throw new CommandFailure(
        `.env, line ${index + 1}: expected NAME=value, the value in one pair of quotes or none.`,
      );
    }
    variables.set(name, value);
  }
  return variables;
}

function textOf(text: string): string | undefined {
  const [, quote, inside] = quoted.exec(text) ?? [];
  if (inside !== undefined)
    return quote === '"' ? inside.replaceAll('\\n', '\n').replaceAll('\\"', '"') : inside;
  if (/^["'`]/.test(text)) return undefined;
  return text.replace(/\s+#.*$/, '').trim();
}
