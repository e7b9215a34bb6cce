import { existsSync, readFileSync } from 'node:fs';
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';
import { stripTypes } from './strip-types.js';

/*
 * Module hooks that let Node import TypeScript: types are removed, nothing is checked (that is the editor's and
 * `tsc`'s work). They run on Node's own hooks thread. Newer versions of Node strip types themselves, but refuse
 * enums and parameter properties, and do not find `./tools.ts` when `./tools.js` is imported: with these hooks an
 * entry behaves the same on all of them.
 */

let loaded: HooksData['loaded'];

export interface HooksData {
  /** Receives the address of each module of the application that is loaded. */
  readonly loaded?: import('node:worker_threads').MessagePort;
}

export const initialize: InitializeHook<HooksData | undefined> = (data) => {
  loaded = data?.loaded;
};

/** TypeScript names the compiled file in an import; what is there is the source. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    const resolved = await nextResolve(specifier, context);
    return isBundledZod(resolved.url) ? { url: bundledZod.href, format: 'module' } : resolved;
  } catch (error) {
    const sources = /^\.{1,2}\//.test(specifier) ? sourceNames(specifier) : [];
    for (const source of sources) {
      try {
        return await nextResolve(source, context);
      } catch {
        // The first error is the one that helps the reader.
      }
    }
    throw error;
  }
};

function sourceNames(specifier: string): string[] {
  if (/\.[cm]?js$/.test(specifier)) return [specifier.replace(/js$/, 'ts')];
  return /\.\w+$/.test(specifier) ? [] : [`${specifier}.ts`, `${specifier}/index.ts`];
}

/** The copy of zod in the bundle. */
const bundledZod = new URL('../zod.js', import.meta.url);
const zodVersions = new Map<string, boolean>();

/**
 * Whether this is the zod that the bundle has in it, of the same version. The application uses that one: its own is a
 * hundred files, a sixth of a start.
 */
function isBundledZod(url: string): boolean {
  const [, folder] = /^(file:.*\/zod\/)(?:v4\/)?index\.js$/.exec(url) ?? [];
  if (folder === undefined) return false;
  let isSame = zodVersions.get(folder);
  if (isSame === undefined) {
    isSame = existsSync(bundledZod) && versionIn(new URL('package.json', folder)) === ownZodVersion();
    zodVersions.set(folder, isSame);
  }
  return isSame;
}

function versionIn(file: URL): string | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** The dependency has one version, and no range. */
function ownZodVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).dependencies.zod;
}

export const load: LoadHook = async (url, context, nextLoad) => {
  if (url !== bundledZod.href) loaded?.postMessage(url);
  if (!/^file:.*\.m?ts(\?.*)?$/.test(url)) return nextLoad(url, context);
  const path = fileURLToPath(url.replace(/\?.*$/, ''));
  return { format: 'module', shortCircuit: true, source: await stripTypes(path) };
};
