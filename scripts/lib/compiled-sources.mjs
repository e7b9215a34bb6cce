import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { root } from './setup.mjs';

const sources = join(root, 'packages/runyard/src') + sep;
const compiled = join(root, 'packages/runyard/dist') + sep;

/**
 * Gives tests that import a source file its compiled form. Node loads that by itself: nothing has to be transformed,
 * sent to each process that runs tests, and wrapped. Tests that are watched run against the sources themselves.
 */
export function compiledSources() {
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    resolveId(name, importer) {
      const path = name.startsWith('.') && importer ? join(dirname(importer), name) : name;
      if (!path.startsWith(sources)) return undefined;
      const found = compiled + path.slice(sources.length).replace(/\.ts$/, '.js');
      return found.endsWith('.js') && existsSync(found) ? found : undefined;
    },
  };
}

export const compiledFiles = /\/packages\/runyard\/dist\//;
