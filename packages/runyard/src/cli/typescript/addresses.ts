import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dependencyVersions } from '../../platform/version.js';

/** The files that an import may mean: TypeScript names the compiled file, and what is there is the source. */
export function sourcesOf(specifier: string): string[] {
  if (!/^\.{1,2}\//.test(specifier)) return [];
  if (/\.[cm]?js$/.test(specifier)) return [specifier.replace(/js$/, 'ts')];
  return /\.\w+$/.test(specifier) ? [] : [`${specifier}.ts`, `${specifier}/index.ts`];
}

/** The path of a module whose types have to be removed. */
export function pathOfTypeScript(url: string): string | undefined {
  return /^file:.*\.m?ts(\?.*)?$/.test(url) ? fileURLToPath(url.replace(/\?.*$/, '')) : undefined;
}

/** The copy of zod in the bundle. */
const bundledZod = new URL('../zod.js', import.meta.url);
const zodVersions = new Map<string, boolean>();

export function isInBundle(url: string): boolean {
  return url === bundledZod.href;
}

/**
 * What an application loads for a module: for the zod that the bundle has in it, of the same version, the bundle's. Its
 * own is a hundred files, a sixth of a start.
 */
export function shared<Resolved extends { readonly url: string }>(
  resolved: Resolved,
): Resolved | { url: string; format: 'module' } {
  return isBundledZod(resolved.url) ? { url: bundledZod.href, format: 'module' } : resolved;
}

function isBundledZod(url: string): boolean {
  const [, folder] = /^(file:.*\/zod\/)(?:v4\/)?index\.js$/.exec(url) ?? [];
  if (folder === undefined) return false;
  let isSame = zodVersions.get(folder);
  if (isSame === undefined) {
    isSame = existsSync(bundledZod) && versionIn(new URL('package.json', folder)) === dependencyVersions.zod;
    zodVersions.set(folder, isSame);
  }
  return isSame;
}

function versionIn(file: URL): string | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}
