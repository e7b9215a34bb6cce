import { lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../core/errors/error-code.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { makeFolder } from '../../platform/make-folder.js';
import { CommandFailure } from '../failure.js';
import type { FileFault, Thing, ThingFile } from './thing.js';

/** As large as the largest dataset may be, with room for its form. */
const mostBytes = 64 * 1024 * 1024;
const mostFiles = 100_000;
const longestName = 80;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface WrittenFiles {
  /** Files whose text is new or another one. */
  readonly changed: number;
  readonly unchanged: number;
  /** Files of things that the service does not have. */
  readonly stale: readonly string[];
}

/** Writes a file for each thing, except those that are `left`: a file that they have from before stays as it is. */
export async function writeThings(
  folder: string,
  kind: string,
  things: readonly Thing[],
  { left, prune }: { readonly left: ReadonlySet<Thing>; readonly prune: boolean },
): Promise<WrittenFiles> {
  const names = fileNames(things);
  const before = await filesOf(folder, kind);
  let changed = 0;
  for (const [index, thing] of things.entries()) {
    if (left.has(thing)) continue;
    const path = join(folder, kind, names[index] ?? '');
    const text = `${JSON.stringify(thing.content, null, 2)}\n`;
    if ((await textOf(path)) === text) continue;
    changed += 1;
    await written(path, text);
  }
  const stale = before.filter((name) => !names.includes(name)).map((name) => `${kind}/${name}`);
  if (prune) for (const path of stale) await accessing(path, rm(join(folder, path)));
  return { changed, unchanged: things.length - left.size - changed, stale };
}

/** The files of a kind, and what is wrong with those that cannot be read. */
export async function readThings(
  folder: string,
  kind: string,
): Promise<{ readonly files: readonly ThingFile[]; readonly faults: readonly FileFault[] }> {
  const files: ThingFile[] = [];
  const faults: FileFault[] = [];
  for (const name of await filesOf(folder, kind)) {
    const path = `${kind}/${name}`;
    const content = await read(join(folder, path));
    if (typeof content === 'string') faults.push({ path, message: content });
    else files.push({ path, content });
  }
  return { files, faults };
}

export function prepareFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw unusable(folder, error);
  }
}

export async function assertFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new CommandFailure(`There is no folder ${folder}. Create one with: runyard export ${folder}`);
}

/** The content of a file, or what is wrong with it. */
async function read(path: string): Promise<JsonObject | string> {
  try {
    const found = await lstat(path);
    // a link may lead out of the folder, and a device or a pipe has no end
    if (!found.isFile()) return 'is not a file. Links are not followed.';
    if (found.size > mostBytes) return `has ${found.size} bytes. At most ${mostBytes} are read.`;
    const value: unknown = JSON.parse(utf8.decode(await readFile(path)));
    return isJsonObject(value) ? value : 'does not hold a JSON object.';
  } catch (error) {
    if (error instanceof SyntaxError) return `is not JSON: ${error.message}`;
    return errorCode(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA'
      ? 'is not in UTF-8.'
      : `cannot be read (${errorCode(error) ?? String(error)}).`;
  }
}

async function filesOf(folder: string, kind: string): Promise<string[]> {
  const names = await readdir(join(folder, kind)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw unusable(join(folder, kind), error);
  });
  const files = names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort();
  if (files.length > mostFiles)
    throw new CommandFailure(`${kind} has ${files.length} files. At most ${mostFiles} are read.`);
  return files;
}

/** Whole or not at all: a file that was cut off would be another thing. */
async function written(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await accessing(path, mkdir(join(path, '..'), { recursive: true }));
  await accessing(path, writeFile(temporary, text));
  await accessing(path, rename(temporary, path));
}

async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

function accessing<T>(path: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw unusable(path, error);
  });
}

function unusable(path: string, error: unknown): CommandFailure {
  return new CommandFailure(`${path} cannot be used (${errorCode(error) ?? String(error)}).`);
}

/** A file name for each thing: its name in letters that every file system has, with a number where two are alike. */
function fileNames(things: readonly Thing[]): string[] {
  const taken = new Set<string>();
  return things.map(({ name }) => {
    const plain = name
      .normalize('NFC')
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[.-]+/, '')
      .slice(0, longestName);
    const wanted = plain === '' ? 'unnamed' : plain;
    let free = wanted;
    // file systems may not tell capital letters from small ones
    for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${wanted}-${number}`;
    taken.add(free.toLowerCase());
    return `${free}.json`;
  });
}
