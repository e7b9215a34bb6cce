import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../packages/console/', import.meta.url));
const built = join(folder, 'dist');

/** Written last by the build of the console: which modules are in its files. */
const modulesFile = '.modules.json';

/** Where the build says that it is fresh. */
export const consoleBuild = join(built, modulesFile);

/** Builds the static files of the console, unless they are fresh. */
export async function buildConsole() {
  if (changedAt(consoleBuild) >= Math.max(...sources().map(changedAt))) return;
  const { build } = await import('vite');
  // a test run has another one, with which React would be that of its developers
  const { NODE_ENV: before } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    await build({ root: folder, configFile: join(folder, 'vite.config.ts'), logLevel: 'error' });
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

/** The files as parts of the bundle, and the modules that they are made of. */
export function consoleFiles() {
  const names = readdirSync(built, { recursive: true }).filter(
    (name) => name !== modulesFile && statSync(join(built, name)).isFile(),
  );
  return {
    files: names.map((name) => ({
      fileName: `console/${name.replaceAll('\\', '/')}`,
      source: readFileSync(join(built, name)),
    })),
    moduleIds: JSON.parse(readFileSync(consoleBuild, 'utf8')),
  };
}

/** Folders too: what is removed changes only them. */
function sources() {
  const below = ['src', 'public'].flatMap((name) => [
    join(folder, name),
    ...readdirSync(join(folder, name), { recursive: true }).map((path) => join(folder, name, path)),
  ]);
  return [
    ...below,
    ...['index.html', 'vite.config.ts', 'package.json'].map((name) => join(folder, name)),
    join(folder, '../client/dist/.tsbuildinfo'),
    join(folder, '../../node_modules/.package-lock.json'),
  ];
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
