import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts the parsing thread from the file that belongs to this one: beside it in the sources and in the compiled
 * modules, at its own place in the bundle, whose other files have no fixed place.
 */
export function startParsingThread(options: WorkerOptions): Worker {
  const own = import.meta.url;
  const beside = new URL(`./parsing-thread${extname(own)}`, own);
  const bundle = new URL('bundle/', pathToFileURL(createRequire(own).resolve('runyard/package.json')));
  if (!existsSync(beside))
    return new Worker(new URL('platform/documents/parsing-thread.js', bundle), options);
  if (!own.endsWith('.ts')) return new Worker(beside, options);
  // Node runs no TypeScript by itself: the hooks of the command are used here too.
  const hooks = new URL('cli/typescript-hooks.js', bundle);
  const text = `require('node:module').register(${JSON.stringify(hooks)}); import(${JSON.stringify(beside)});`;
  return new Worker(text, { ...options, eval: true });
}
