import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { root } from './setup.mjs';

const packages = join(root, 'packages') + sep;
const source = /^(runyard|client)[\\/]src(?=[\\/])/;

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
      const below = path.startsWith(packages) ? path.slice(packages.length) : '';
      if (!source.test(below)) return undefined;
      const found = packages + below.replace(source, `$1${sep}dist`).replace(/\.ts$/, '.js');
      return found.endsWith('.js') && existsSync(found) ? found : undefined;
    },
  };
}

export const compiledFiles = /\/packages\/(runyard|client)\/dist\//;
