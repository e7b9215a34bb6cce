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
  /** Receives the address of each loaded module. */
  readonly loaded?: import('node:worker_threads').MessagePort;
}

export const initialize: InitializeHook<HooksData | undefined> = (data) => {
  loaded = data?.loaded;
};

/** TypeScript names the compiled file in an import; what is there is the source. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context);
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

export const load: LoadHook = async (url, context, nextLoad) => {
  loaded?.postMessage(url);
  if (!/^file:.*\.m?ts(\?.*)?$/.test(url)) return nextLoad(url, context);
  const path = fileURLToPath(url.replace(/\?.*$/, ''));
  return { format: 'module', shortCircuit: true, source: await stripTypes(path) };
};
