import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import { isInBundle, pathOfTypeScript, shared, sourcesOf } from './typescript/addresses.js';
import { stripTypes } from './typescript/strip-types.js';

/*
 * Module hooks that let Node import TypeScript: types are removed, nothing is checked (that is the editor's and
 * `tsc`'s work). They run on Node's own hooks thread. Newer versions of Node strip types themselves, but refuse
 * enums and parameter properties, and do not find `./tools.ts` when `./tools.js` is imported: with these hooks an
 * entry behaves the same on all of them.
 */

let loaded: HooksData['loaded'];
let loadsAgain = false;

export interface HooksData {
  /** Receives the address of each module of the application that is loaded. */
  readonly loaded?: import('node:worker_threads').MessagePort;
  /** Packages could not be loaded without hooks, which Node remembers by their addresses: they need others. */
  readonly loadsAgain?: boolean;
}

export const initialize: InitializeHook<HooksData | undefined> = (data) => {
  loaded = data?.loaded;
  loadsAgain = data?.loadsAgain ?? false;
};

const again = '?again';
const bundle = new URL('../', import.meta.url).href;

/** Not those of Runyard, which has been loaded: an application would get a second one. */
function readdressed<Resolved extends { url: string }>(
  found: Resolved,
  specifier: string,
  importer = '',
): Resolved {
  const isOfPackage = importer.endsWith(again) || /^[\w@]/.test(specifier);
  if (!loadsAgain || !isOfPackage || !/^file:[^?#]*$/.test(found.url)) return found;
  return [found.url, importer].some((url) => url.startsWith(bundle))
    ? found
    : { ...found, url: found.url + again };
}

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    const found = shared(await nextResolve(specifier, context));
    return readdressed(found, specifier, context.parentURL);
  } catch (error) {
    for (const source of sourcesOf(specifier)) {
      try {
        return readdressed(await nextResolve(source, context), specifier, context.parentURL);
      } catch {
        // The first error is the one that helps the reader.
      }
    }
    throw error;
  }
};

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!isInBundle(url)) loaded?.postMessage(url);
  const path = pathOfTypeScript(url);
  if (path === undefined) return nextLoad(url, context);
  return { format: 'module', shortCircuit: true, source: await stripTypes(path) };
};
