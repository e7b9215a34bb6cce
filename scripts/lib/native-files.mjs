import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * SQLite for Node versions without it: the native code of a package for each of its platforms, by the names that
 * `platform/storage/sqlite/native-target.ts` asks for, and the terms of what it was compiled from. Its sources and build
 * tools would be a fifth of an installation, and npm warns about its install script.
 */
export function nativeFiles(folder) {
  const manifest = createRequire(join(folder, 'package.json')).resolve('@photostructure/sqlite/package.json');
  const compiled = join(dirname(manifest), 'prebuilds');
  const files = readdirSync(compiled).flatMap((platform) =>
    readdirSync(join(compiled, platform)).map((name) => ({
      fileName: `native/${platform}${name.endsWith('.musl.node') ? '-musl' : ''}.node`,
      source: readFileSync(join(compiled, platform, name)),
    })),
  );
  const { resolve } = createRequire(manifest);
  return { files, moduleIds: [manifest, resolve('node-addon-api')], terms: [termsOfSqlite(manifest)] };
}

/** SQLite is in the public domain; its sources say so in place of a licence. */
function termsOfSqlite(manifest) {
  const { versions } = JSON.parse(readFileSync(manifest, 'utf8'));
  const header = readFileSync(join(dirname(manifest), 'src/upstream/sqlite3.h'), 'utf8');
  const [, lines] = /^\*\* (The author disclaims copyright [\s\S]*?)\n\*{9}/m.exec(header) ?? [];
  if (lines === undefined) throw new Error('The sources of SQLite do not state their terms');
  return { title: `SQLite ${versions.sqlite}`, text: lines.replace(/^\*\* ?/gm, '').trim() };
}
