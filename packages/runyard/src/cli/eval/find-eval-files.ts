import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { CommandFailure, usageError } from '../failure.js';

const evalFile = /\.eval\.(ts|mts|js|mjs)$/;
const ignored = new Set(['node_modules', 'dist']);
/** A folder with more entries than this is hardly a project. */
const mostEntries = 200_000;

/**
 * The files with evals: those of the folder, or those that are named. A name is a file, a folder to look through, or a
 * pattern with `*`, `**`, `?` and `{a,b}`. In the order of their paths, each once.
 */
export function findEvalFiles(named: readonly string[], folder = process.cwd()): string[] {
  const found = named.length === 0 ? evalFilesBelow(folder) : named.flatMap((one) => filesOf(one, folder));
  if (found.length > 0) return [...new Set(found)].sort();
  throw new CommandFailure(
    `No evals found ${named.length === 0 ? `below ${folder}` : `in ${named.join(', ')}`}: looked for files that end ` +
      'with .eval.ts, .eval.mts, .eval.js or .eval.mjs, outside of node_modules, dist and folders that begin with a dot.',
    usageError,
  );
}

function filesOf(named: string, folder: string): string[] {
  const path = resolve(folder, named);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return evalFilesBelow(path);
  // a file that is named is one with evals, whatever its name
  if (stats?.isFile()) return [realpathSync(path)];
  if (!/[*?{]/.test(named)) throw new CommandFailure(`${named} does not exist.`, usageError);
  const pattern = patternOf(named.replace(/^\.\//, ''));
  return filesBelow(folder).filter((file) => pattern.test(relative(folder, file).split(sep).join('/')));
}

function evalFilesBelow(folder: string): string[] {
  return filesBelow(folder).filter((file) => evalFile.test(file));
}

function filesBelow(folder: string): string[] {
  const files: string[] = [];
  const folders = [realpathSync(folder)];
  let entries = 0;
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      entries += 1;
      if (entries > mostEntries)
        throw new CommandFailure(
          `${folder} has more than ${mostEntries} entries. Name the files or folders with evals.`,
          usageError,
        );
      const path = join(next, entry.name);
      if (entry.isFile()) files.push(path);
      else if (entry.isDirectory() && !ignored.has(entry.name) && !entry.name.startsWith('.'))
        folders.push(path);
    }
  }
  return files;
}

/** A pattern of paths as an expression: `*` stays within a folder, `**` does not. */
export function patternOf(pattern: string): RegExp {
  const parts = pattern.match(/\*\*\/|\*\*|\*|\?|\{[^{}]*\}|[^*?{]+|\{/g) ?? [];
  return new RegExp(`^${parts.map(expressionOf).join('')}$`);
}

function expressionOf(part: string): string {
  if (part === '**/') return '(?:[^/]+/)*';
  if (part === '**') return '.*';
  if (part === '*') return '[^/]*';
  if (part === '?') return '[^/]';
  if (part.startsWith('{') && part.endsWith('}'))
    return `(?:${part.slice(1, -1).split(',').map(literal).join('|')})`;
  return literal(part);
}

function literal(text: string): string {
  return text.replace(/[.+^$()|[\]\\{}]/g, '\\$&');
}
