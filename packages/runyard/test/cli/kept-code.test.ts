import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type KeptPlace, keepCode, keptCode, mostKept, placeOf } from '../../src/cli/typescript/kept-code.js';
import { entry, project, repository, run } from './support.js';

const kept = 'node_modules/.cache/runyard/stripped';
const stripper = new URL('../../dist/cli/typescript/strip-types.js', import.meta.url).href;

/** A project with packages of its own. */
function installed(files: Record<string, string>): string {
  return realpathSync(project({ 'node_modules/.package-lock.json': '{}', ...files }));
}

/** Strips a file in a process of its own: what is once loaded stays loaded. */
function strip(path: string, ...flags: string[]): { code: string; loadsCompiler: boolean } {
  const program = `import { createRequire } from 'node:module';
    const { stripTypes } = await import('${stripper}');
    const code = await stripTypes(process.argv[1]);
    const loadsCompiler = Object.keys(createRequire('/').cache).some((file) => file.includes('oxc-transform'));
    console.log(JSON.stringify({ code, loadsCompiler }));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '--eval', program, '--', path],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

function placeIn(cwd: string): KeptPlace {
  return placeOf(join(cwd, 'agents.ts'), readFileSync(join(cwd, 'agents.ts'), 'utf8'), 'test')!;
}

test('the compiler is loaded for what has changed, and the code is the same without it', () => {
  const cwd = installed({ 'agents.ts': 'export const a: number = 1;\n' });
  const path = join(cwd, 'agents.ts');
  const first = strip(path);
  expect(first.loadsCompiler).toBe(true);
  expect(strip(path)).toEqual({ code: first.code, loadsCompiler: false });
  writeFileSync(path, 'export const a: number = 2;\n');
  const changed = strip(path);
  expect(changed).toMatchObject({ loadsCompiler: true, code: expect.stringContaining('a = 2') });
  // nothing of the earlier one stays
  expect(readdirSync(join(cwd, kept))).toHaveLength(1);
  // another file with the same text has another source map
  renameSync(path, join(cwd, 'moved.ts'));
  expect(strip(join(cwd, 'moved.ts')).loadsCompiler).toBe(true);
});

test('a start from kept code reports the lines of the source', async () => {
  const cwd = installed({
    'agents.ts': `import './tools.ts';\n${entry()}`,
    'tools.ts':
      'interface Unused {\n  a: string;\n}\n\nconst key: string = "";\nif (!key) throw new TypeError("no key");\n',
  });
  const outcomes = [await run(['start'], { cwd }), await run(['start'], { cwd })];
  expect(readdirSync(join(cwd, kept))).toHaveLength(2);
  for (const { stderr } of outcomes)
    expect(stderr).toBe('tools.ts:6 could not be loaded: TypeError: no key\n');
});

test('processes that start at once keep one file, and a syntax error keeps none', async () => {
  const cwd = installed({ 'agents.ts': 'throw new Error("as always" as string);\n' });
  const starts = Array.from({ length: 4 }, () => run(['start'], { cwd }));
  for (const { stderr } of await Promise.all(starts)) expect(stderr).toContain('agents.ts:1 could not');
  expect(readdirSync(join(cwd, kept))).toHaveLength(1);
  const faulty = installed({ 'agents.ts': 'const b: string = ;\n' });
  expect((await run(['start'], { cwd: faulty })).stderr).toContain('agents.ts:1 could not be loaded');
  expect(existsSync(join(faulty, kept))).toBe(false);
});

test('damaged code is not executed, and is replaced', () => {
  const cwd = installed({ 'agents.ts': 'export const a: number = 1;\n' });
  const path = join(cwd, 'agents.ts');
  const { code } = strip(path);
  const [name = ''] = readdirSync(join(cwd, kept));
  truncateSync(join(cwd, kept, name), 100);
  expect(strip(path)).toEqual({ code, loadsCompiler: true });
  expect(strip(path)).toEqual({ code, loadsCompiler: false });
});

test('code that another user could have written is not executed', () => {
  const place = placeIn(installed({ 'agents.ts': '' }));
  const file = join(place.folder, place.name);
  keepCode(place, 'kept');
  expect(keptCode(place)).toBe('kept');
  expect(keptCode({ ...place, owners: new Set([-1]) })).toBeUndefined();
  for (const [path, open, closed] of [
    [place.folder, 0o777, 0o755],
    [place.folder, 0o775, 0o755],
    [file, 0o666, 0o644],
  ] as const) {
    chmodSync(path, open);
    expect(keptCode(place)).toBeUndefined();
    chmodSync(path, closed);
    expect(keptCode(place)).toBe('kept');
  }
  renameSync(file, join(place.folder, 'elsewhere'));
  symlinkSync('elsewhere', file);
  expect(keptCode(place)).toBeUndefined();
  renameSync(place.folder, `${place.folder}-moved`);
  symlinkSync(`${place.folder}-moved`, place.folder);
  renameSync(join(place.folder, 'elsewhere'), file);
  expect(keptCode(place)).toBeUndefined();
});

test('nothing is kept where it may not be, and the start does not mind', () => {
  const source = { 'agents.ts': 'export const a: number = 1;\n' };
  const blocked = installed({ ...source, 'node_modules/.cache': 'a file' });
  expect(strip(join(blocked, 'agents.ts')).code).toContain('const a = 1');
  // a link may lead to packages that several projects share
  const linked = realpathSync(project(source));
  symlinkSync(join(installed({}), 'node_modules'), join(linked, 'node_modules'), 'dir');
  expect(strip(join(linked, 'agents.ts')).code).toContain('const a = 1');
  expect(readdirSync(join(linked, 'node_modules'))).toEqual(['.package-lock.json']);
});

test('a process that may not look at the folders above its project strips the types', () => {
  const cwd = realpathSync(project({ 'agents.ts': 'export const a: number = 1;\n' }));
  const known = (flag: string) => process.allowedNodeEnvironmentFlags.has(flag);
  const flags = [
    known('--permission') ? '--permission' : '--experimental-permission',
    ...['--allow-addons'].filter(known),
    ...[cwd, repository, realpathSync(join(repository, 'node_modules'))].map(
      (folder) => `--allow-fs-read=${join(folder, '*')}`,
    ),
    '--no-warnings',
  ];
  expect(strip(join(cwd, 'agents.ts'), ...flags).code).toContain('const a = 1');
});

test('code that cannot be put in its place leaves nothing behind', () => {
  const place = placeIn(installed({ 'agents.ts': '' }));
  mkdirSync(join(place.folder, place.name), { recursive: true });
  keepCode(place, 'kept');
  expect(readdirSync(place.folder)).toEqual([place.name]);
});

test('the oldest are removed beyond the bound', () => {
  const place = placeIn(installed({ 'agents.ts': '' }));
  mkdirSync(place.folder, { recursive: true });
  for (let at = 0; at < mostKept + 2; at += 1) {
    const file = join(place.folder, `other-${at}.js`);
    writeFileSync(file, '');
    utimesSync(file, at, at);
  }
  keepCode(place, 'kept');
  const names = readdirSync(place.folder);
  expect(names).toHaveLength(mostKept);
  expect(names).toContain(place.name);
  expect(names).toContain(`other-${mostKept + 1}.js`);
  expect(names).not.toContain('other-2.js');
});
