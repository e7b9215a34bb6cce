import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface OwnEntry {
  readonly file: URL;
  /** What Node needs to execute the file. */
  readonly execArgv: readonly string[];
}

/**
 * A file that a process or thread of its own begins with, found from the module that starts it: beside that module in the
 * sources and in the compiled modules, at its own place in the bundle, whose other files have no fixed place.
 */
export function ownEntry(own: string, path: string): OwnEntry {
  const beside = new URL(`./${basename(path)}${extname(own)}`, own);
  const bundle = new URL('bundle/', pathToFileURL(createRequire(own).resolve('runyard/package.json')));
  const file = existsSync(beside) ? beside : new URL(`${path}.js`, bundle);
  // Node runs no TypeScript by itself: the hooks of the command are used here too.
  const hooks = `import { register } from 'node:module'; register('${new URL('cli/typescript-hooks.js', bundle)}');`;
  return {
    file,
    execArgv: file.pathname.endsWith('.ts') ? ['--import', `data:text/javascript,${hooks}`] : [],
  };
}
