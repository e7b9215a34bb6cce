import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages whose types an application has only if it installs them. Without them, their types are `any`. */
const optional = ['fastify'];

/** In this repository, the types of the package are those of its compiled modules: editors find the sources by them. */
export function linkDeclarations(folder) {
  const links = publicEntries(folder).map((name) => [
    `${name}.d.ts`,
    `export * from '../dist/${name}.js';\n`,
  ]);
  replaceAll(join(folder, 'types'), links);
}

/** In the published package, they are a few files that contain what users can name, and nothing else. */
export async function bundleDeclarations(folder, target = join(folder, 'types')) {
  const entries = publicEntries(folder).map((name) => [name, join(folder, 'dist', `${name}.d.ts`)]);
  const output = await joinedDeclarations(Object.fromEntries(entries));
  replaceAll(
    target,
    output.map(({ fileName, code }) => [fileName, withOptionalPackages(code)]),
  );
}

/** Declarations of modules together with those that they import, without what is not used. */
export async function joinedDeclarations(input) {
  const [{ rolldown }, { dts }] = await Promise.all([import('rolldown'), import('rolldown-plugin-dts')]);
  const build = await rolldown({
    input,
    logLevel: 'silent',
    external: /^(?![A-Za-z]:[\\/])[^./]/,
    plugins: [dts({ dtsInput: true, generator: 'oxc', tsconfig: false, sourcemap: false })],
  });
  const names = { entryFileNames: '[name].ts', chunkFileNames: '[name].ts' };
  const { output } = await build.generate({ format: 'esm', ...names });
  await build.close();
  return output;
}

/** The compiler would report a package that is not installed, in the lines that name it. */
function withOptionalPackages(code) {
  const named = new RegExp(`^(?=(?:import .* from|declare module) ["'](?:${optional.join('|')})["'])`, 'gm');
  return code.replace(named, '// @ts-ignore: the package may not be installed\n');
}

/** What can be imported by name. */
function publicEntries(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.values(exports).flatMap(
    ({ types }) => /^\.\/types\/(.*)\.d\.ts$/.exec(types ?? '')?.[1] ?? [],
  );
}

/** Writes only the files that differ: another command may be reading them. */
function replaceAll(folder, files) {
  mkdirSync(folder, { recursive: true });
  const names = new Set(files.map(([name]) => name));
  for (const name of readdirSync(folder))
    if (!names.has(name)) rmSync(join(folder, name), { recursive: true });
  for (const [name, text] of files) {
    const file = join(folder, name);
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
  }
}
