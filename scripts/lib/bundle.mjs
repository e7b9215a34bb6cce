import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What is imported by name, and what Node loads by its path. */
const entries = [
  'index',
  'models',
  'tools',
  'guardrails',
  'interfaces',
  'evals',
  'knowledge',
  'testing',
  'cli/main',
  'cli/typescript-hooks',
  'platform/documents/parsing-process',
  'platform/embedders/sentence-thread',
];

/**
 * Joins the compiled modules of a package into a few files, because Node spends a quarter of a start on opening and
 * resolving hundreds of small ones. Modules that load on demand stay apart. Does nothing when the files are fresh.
 */
export async function bundle(folder) {
  const target = join(folder, 'bundle');
  // Written last: its time says that all of them are fresh.
  const last = join(target, 'index.js');
  if (changedAt(last) >= changedAt(join(folder, 'dist/.tsbuildinfo'))) return;
  const output = await bundledFiles(folder);
  const files = new Map(output.map((file) => [join(target, file.fileName), file.code ?? file.source]));
  for (const [path, text] of files) if (path !== last) replace(path, text);
  for (const name of readdirSync(target, { recursive: true })) {
    const path = join(target, name);
    if (!files.has(path) && statSync(path, { throwIfNoEntry: false })?.isFile())
      rmSync(path, { force: true });
  }
  replace(last, files.get(last));
}

/** What a bundle consists of. The bench leaves parts out with a plugin, to learn what they cost. */
export async function bundledFiles(folder, plugins = []) {
  const { rolldown } = await import('rolldown');
  const input = Object.fromEntries(entries.map((entry) => [entry, join(folder, 'dist', `${entry}.js`)]));
  const build = await rolldown({
    input,
    platform: 'node',
    logLevel: 'silent',
    external: /^(?![A-Za-z]:[\\/])[^./]/,
    plugins,
  });
  // As deep as the modules that they come from: some find the package by its place.
  const names = { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' };
  const { output } = await build.generate({ format: 'esm', sourcemap: true, comments: false, ...names });
  await build.close();
  return output;
}

/** Other processes may be loading the file: they see the old one or the new one. */
function replace(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
