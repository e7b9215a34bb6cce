import { existsSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire, register } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { type Application, isApplication } from './application.js';
import { readDotEnv } from './dot-env.js';
import { CommandFailure } from './failure.js';
import { importFailure } from './import-failure.js';
import { isOwnFile, shownPath, toPath } from './own-files.js';
import { canRegisterInThisThread, registerInThisThread } from './typescript/same-thread-hooks.js';
import { importWritten, writtenAddress } from './typescript/written-modules.js';
import type { HooksData } from './typescript-hooks.js';

const extensions = ['.ts', '.mts', '.js', '.mjs'];
const places = ['agents', 'src/agents', 'runyard', 'src/runyard', 'app', 'src/app'];

/** Where the entry is: the given file, or the first one of the usual places. */
export function findEntry(given: string | undefined, folder = process.cwd()): string {
  if (given !== undefined) {
    const path = resolve(folder, given);
    if (!existsSync(path))
      throw new CommandFailure(`${given} does not exist. Give the file that exports your Runyard.`);
    if (!statSync(path).isDirectory()) return realpathSync(path);
    return findEntry(undefined, path);
  }
  const candidates = places.flatMap((place) =>
    extensions.map((extension) => resolve(folder, place + extension)),
  );
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found) return realpathSync(found);
  throw new CommandFailure(
    `No entry found in ${folder}: looked for ${places.join(', ')}, each as ${extensions.join(', ')}. ` +
      'Name the file, as in: runyard start path/to/file.ts. Or create a project with: runyard init',
  );
}

/** Receives the path of each file that the entry imports, packages left out. */
export type OnImport = (path: string) => void;

/** Files that were loaded with `require`, which the hooks of imports do not see on every Node. */
export function requiredFiles(): string[] {
  return Object.keys(createRequire(import.meta.url).cache).filter(isOwnFile);
}

/** Imports the entry and returns the Runyard that it exports, under whatever name. */
export async function loadEntry(path: string, onImport?: OnImport): Promise<Application> {
  const shown = shownPath(path);
  readDotEnv(process.cwd());
  const exported = await importEntry(path, onImport);
  const found = [...new Set(Object.values(exported).filter(isApplication))];
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1)
    throw new CommandFailure(`${shown} exports ${found.length} Runyard instances. Export one.`);
  const names = Object.keys(exported);
  throw new CommandFailure(
    `${shown} exports no Runyard instance (it exports ${names.length > 0 ? names.join(', ') : 'nothing'}). ` +
      'Add: export const app = new Runyard({ agents: [/* … */] });',
  );
}

type Exports = Record<string, unknown>;

/** Whether a debugger may be attached. It would have to find its breakpoints in the folder of packages, which most skip. */
function isInspected(): boolean {
  const { inspector } = process.features;
  return inspector && createRequire(import.meta.url)('node:inspector').url() !== undefined;
}

/** Without hooks where those need a thread. Who asks for the imports needs it in any case: only hooks see them all. */
async function importEntry(path: string, onImport?: OnImport): Promise<Exports> {
  let loadsAgain = false;
  if (onImport === undefined && !canRegisterInThisThread && !isInspected()) {
    process.setSourceMapsEnabled(true);
    const address = await writtenAddress(path);
    const exported = address && (await orFailure(path, () => importWritten(address)));
    if (exported) return exported;
    loadsAgain = address !== undefined;
  }
  await prepareImport(path, onImport, loadsAgain);
  return importPrepared(path);
}

/** Imports a file of the application. After `prepareImport`, which is called once. */
export function importPrepared(path: string): Promise<Exports> {
  return orFailure(path, () => import(pathToFileURL(path).href));
}

async function orFailure<Result>(path: string, load: () => Promise<Result>): Promise<Result> {
  let onIdle = (): void => {};
  // Node would end the process as if all were well
  const unsettled = new Promise<never>((_, reject) => {
    const text = `${shownPath(path)} could not be loaded: a top-level await in it, or in what it imports, never settles.`;
    onIdle = () => reject(new CommandFailure(text));
  });
  process.once('beforeExit', onIdle);
  try {
    return await Promise.race([load(), unsettled]);
  } catch (error) {
    throw error instanceof CommandFailure ? error : await importFailure(error, path);
  } finally {
    process.off('beforeExit', onIdle);
  }
}

/** From here on, imports read TypeScript. `path` is what will be imported first. */
export async function prepareImport(path: string, onImport?: OnImport, loadsAgain = false): Promise<void> {
  await importRunyardAhead(path);
  // only now: maps are looked for in every module that is loaded from here on
  process.setSourceMapsEnabled(true);
  const onLoad = (url: string): void => {
    const path = url.startsWith('file:') ? toPath(url) : undefined;
    if (path !== undefined && isOwnFile(path)) onImport?.(path);
  };
  if (registerInThisThread(onLoad)) return;
  const hooks = new URL('../cli/typescript-hooks.js', import.meta.url);
  if (onImport === undefined) register(hooks, { data: { loadsAgain } satisfies HooksData });
  else registerWatched(hooks, onLoad);
}

function registerWatched(hooks: URL, onLoad: (url: string) => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.on('message', onLoad);
  port1.unref();
  register(hooks, { data: { loaded: port2 } satisfies HooksData, transferList: [port2] });
}

/**
 * Once hooks are registered every import makes a round trip to another thread. What the entry is about to import of
 * this package is by far the largest part, and needs no hook.
 */
async function importRunyardAhead(path: string): Promise<void> {
  try {
    const text = await readFile(path, 'utf8');
    const parts = Array.from(text.matchAll(/from\s+['"](runyard\/[\w-]+)['"]/g), ([, name = '']) => name);
    const { resolve } = createRequire(path);
    await Promise.all(['runyard', ...parts].map((name) => import(pathToFileURL(resolve(name)).href)));
  } catch {
    // The import of the entry itself will say what is wrong.
  }
}
