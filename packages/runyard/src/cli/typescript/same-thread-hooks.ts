import { createRequire } from 'node:module';
import { isInBundle, pathOfTypeScript, shared, sourcesOf } from './addresses.js';
import { stripTypesAtOnce } from './strip-types.js';

/** Hooks of Node 22.15 and newer, as far as they are used here. */
interface SameThreadHooks {
  resolve(specifier: string, context: object, next: NextResolve): Resolved;
  load(url: string, context: object, next: (url: string, context: object) => Loaded): Loaded;
}

type NextResolve = (specifier: string, context: object) => Resolved;

interface Resolved {
  readonly url: string;
  readonly format?: string | null | undefined;
}

interface Loaded {
  readonly format: string | null | undefined;
  readonly shortCircuit?: boolean;
  readonly source?: string | ArrayBuffer | NodeJS.TypedArray | null | undefined;
}

const { registerHooks }: { registerHooks?: (hooks: SameThreadHooks) => void } = createRequire(
  import.meta.url,
)('node:module');

export const canRegisterInThisThread = registerHooks !== undefined;

/**
 * Registers what `typescript-hooks.ts` does in the thread of the application, where Node can do that: the start of a
 * thread of its own is a sixth of a start. Returns whether it can.
 */
export function registerInThisThread(onLoad: (url: string) => void): boolean {
  if (registerHooks === undefined) return false;
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return shared(next(specifier, context));
      } catch (error) {
        // The first error is the one that helps the reader.
        const found = firstFound(sourcesOf(specifier), context, next);
        if (found === undefined) throw error;
        return found;
      }
    },
    load(url, context, next) {
      if (!isInBundle(url)) onLoad(url);
      const path = pathOfTypeScript(url);
      if (path === undefined) return next(url, context);
      return { format: 'module', shortCircuit: true, source: stripTypesAtOnce(path) };
    },
  });
  return true;
}

function firstFound(names: readonly string[], context: object, next: NextResolve): Resolved | undefined {
  for (const name of names) {
    try {
      return next(name, context);
    } catch {
      // perhaps the next one
    }
  }
  return undefined;
}
