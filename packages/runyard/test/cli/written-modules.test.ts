import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { project, run } from './support.js';

const written = 'node_modules/.cache/runyard/modules';

/** Where Node can run hooks in the thread of the application, it never needs written modules. */
const canWrite = !('registerHooks' in nodeModule);

/** Ends the load with a value, and with whether this is a written module. */
const report = (value: string) => `
const earlier = Error.prepareStackTrace;
Error.prepareStackTrace = (_error, places) => String(places[0]?.getFileName());
const place: string = new Error().stack as string;
Error.prepareStackTrace = earlier;
throw new Error(JSON.stringify({ value: ${value}, isWritten: place.includes('.cache') }));
`;

function installed(files: Record<string, string>): string {
  return realpathSync(project({ 'node_modules/.package-lock.json': '{}', ...files }));
}

async function loaded(cwd: string, env: Record<string, string> = {}): Promise<unknown> {
  const { stderr } = await run(['start'], { cwd, env });
  const [, message = stderr] = /^agents\.ts:\d+ could not be loaded: (\{.*\})\n$/m.exec(stderr) ?? [];
  return JSON.parse(message);
}

const tools = 'export const two: number = 2;\n';

test.each<[name: string, files: Record<string, string>, value: unknown]>([
  ['a source by its own name', { 'agents.ts': `import { two } from './tools.ts';${report('two')}` }, 2],
  ['a source by its compiled name', { 'agents.ts': `import { two } from './tools.js';${report('two')}` }, 2],
  [
    'what another module passes on, after a comment',
    {
      'agents.ts': `/*\nimport { no } from './no.ts';\n*/\nimport { two as a } from './lib';${report('a')}`,
      'lib/index.ts': "// all of it\nexport * from '../tools.ts';\n",
    },
    2,
  ],
  [
    'a package, and a module of Node',
    {
      'agents.ts': `import { sep } from 'node:path';\nimport { three } from 'three';${report('three + sep.length')}`,
      'node_modules/three/package.json': '{ "name": "three", "type": "module", "exports": "./main.js" }',
      'node_modules/three/main.js': 'export const three = 3;\n',
    },
    4,
  ],
  [
    'modules that declare names of the language',
    {
      'agents.ts': `import { two } from './tools.ts';\nimport { Symbol as four } from './symbol.ts';${report('two + four')}`,
      'symbol.ts': 'const globalThis: number = 4;\nexport const Symbol: number = globalThis;\n',
    },
    6,
  ],
  [
    'a source through a module of JavaScript',
    {
      'agents.ts': `import { two } from './plain.js';${report('two')}`,
      'plain.js': "export { two } from './tools.ts';\n",
      'package.json': '{ "type": "module" }',
    },
    2,
  ],
])('without hooks, an application imports %s', async (_name, files, value) => {
  const cwd = installed({ 'tools.ts': tools, ...files });
  for (const _start of ['first', 'second']) expect(await loaded(cwd)).toEqual({ value, isWritten: canWrite });
});

test.each<[name: string, files: Record<string, string>, value: unknown]>([
  ['an import on demand', { 'agents.ts': `const { two } = await import('./tools.ts');${report('two')}` }, 2],
  [
    'an import below other code',
    { 'agents.ts': `const one: number = 1;\nimport { two } from './tools.ts';${report('one + two')}` },
    3,
  ],
  [
    'a text that looks like an import',
    { 'agents.ts': `const text: string = \`\nimport { two } from "./tools.ts";\`;${report('text.length')}` },
    34,
  ],
  [
    'a text that looks like the end of a comment and an import',
    {
      'agents.ts': `/* one */ const text: string = \` */\nimport { two } from "./tools.ts";\n\`;${report('text.length')}`,
    },
    38,
  ],
  [
    'a package that imports what it is given the place of',
    {
      'agents.ts': `import { load } from 'loader';\nconst { two } = await load(new URL('tools.ts', import.meta.url).href);${report('two')}`,
      'node_modules/loader/package.json': '{ "name": "loader", "type": "module", "exports": "./main.js" }',
      'node_modules/loader/main.js': 'export const load = (url) => import(url);\n',
    },
    2,
  ],
  [
    'a package of TypeScript, behind one of JavaScript',
    {
      'agents.ts': `import { two } from 'plain';${report('two')}`,
      'node_modules/plain/package.json': '{ "name": "plain", "type": "module", "exports": "./main.js" }',
      'node_modules/plain/main.js': "export * from 'typed';\n",
      'node_modules/typed/package.json': '{ "name": "typed", "type": "module", "exports": "./main.ts" }',
      'node_modules/typed/main.ts': "export * from './tools.js';\n",
      'node_modules/typed/tools.ts': tools,
    },
    2,
  ],
  [
    'modules that import each other',
    {
      'agents.ts': `import { four } from './four.ts';\nexport const own = (): number => 1;${report('four()')}`,
      'four.ts': "import { own } from './agents.ts';\nexport const four = (): number => own() + 3;\n",
    },
    4,
  ],
  [
    'a name of the package itself',
    {
      'agents.ts': `import { two } from '#tools';${report('two')}`,
      'package.json': '{ "type": "module", "imports": { "#tools": "./tools.ts" } }',
    },
    2,
  ],
  [
    'the address of another module',
    {
      'agents.ts': `const url: string = import.meta.resolve('./tools.ts');${report('url.split("/").pop()')}`,
    },
    'tools.ts',
  ],
])('with hooks, an application has %s', async (_name, files, value) => {
  expect(await loaded(installed({ 'tools.ts': tools, ...files }))).toEqual({ value, isWritten: false });
});

/** The same in JavaScript; `hasHooks`: whether an import that no parser sees reads TypeScript. */
const reportInJavaScript = (value: string) => `
const hasHooks = await eval('imp' + 'ort("./tools.ts")').then(() => true, () => false);
throw new Error(JSON.stringify({ value: ${value}, place: new URL(import.meta.url).pathname.split('/').pop(), hasHooks }));
`;

async function loadedJavaScript(cwd: string): Promise<unknown> {
  const { stderr } = await run(['start'], { cwd });
  const [, message = stderr] = /^agents\.m?js:\d+ could not be loaded: (\{.*\})\n$/m.exec(stderr) ?? [];
  return JSON.parse(message);
}

const ofModules = { 'package.json': '{ "type": "module" }', 'tools.ts': tools };
const plain = { 'plain.js': 'export const two = 2;\n' };

test.each<[name: string, files: Record<string, string>, value: unknown]>([
  [
    'imports no TypeScript',
    {
      ...plain,
      'agents.js': `import { sep } from 'node:path';\nimport {\n  two,\n} from './plain.js'\n${reportInJavaScript('two + sep.length')}`,
    },
    3,
  ],
  [
    'compares what reads like arguments of a type',
    { 'agents.js': `const [f, a, b, c] = [1, 2, 3, 4];${reportInJavaScript('[f < a, b > (c)]')}` },
    [true, false],
  ],
  [
    'has a name that says so',
    {
      ...plain,
      'package.json': '{}',
      'agents.mjs': `import { two } from './two.mjs';${reportInJavaScript('two')}`,
      'two.mjs': 'export const two = 2;\n',
    },
    2,
  ],
  [
    'imports a source that has no other import',
    { 'agents.js': `import { two } from './tools.js';\nimport './tools.ts';${reportInJavaScript('two')}` },
    2,
  ],
])('without hooks, a module of JavaScript %s', async (_name, files, value) => {
  const cwd = installed({ ...ofModules, ...files });
  const place = Object.keys(files).find((name) => name.startsWith('agents.'));
  for (const _start of ['first', 'second'])
    expect(await loadedJavaScript(cwd)).toEqual({ value, place, hasHooks: !canWrite });
});

test('with hooks, a module of JavaScript imports a package of TypeScript, or is CommonJS because its package says so', async () => {
  const imported = {
    ...ofModules,
    'agents.js': `import { two } from 'typed';${reportInJavaScript('two')}`,
    'node_modules/typed/package.json': '{ "name": "typed", "type": "module", "exports": "./main.ts" }',
    'node_modules/typed/main.ts': tools,
  };
  expect(await loadedJavaScript(installed(imported))).toMatchObject({ value: 2, hasHooks: true });
  const unnamed = { 'tools.ts': tools, 'agents.js': `import './tools.ts';${reportInJavaScript('2')}` };
  expect(await loadedJavaScript(installed(unnamed))).toMatchObject({ value: 2, hasHooks: true });
});

test('a module of JavaScript that throws is executed once', async () => {
  const cwd = installed({
    ...ofModules,
    'agents.js': "import './said.js';\nthrow new RangeError('once');\n",
    'said.js': "console.error('executed');\n",
  });
  expect((await run(['start'], { cwd })).stderr).toBe(
    'executed\nagents.js:2 could not be loaded: RangeError: once\n',
  );
});

test('a process that a debugger can attach to uses hooks', async () => {
  const cwd = installed({ 'agents.ts': report('2') });
  const inspected = await loaded(cwd, { NODE_OPTIONS: '--inspect=127.0.0.1:0' });
  expect(inspected).toEqual({ value: 2, isWritten: false });
});

test('a package of TypeScript that is linked from a workspace needs hooks', async () => {
  const cwd = installed({
    'agents.ts': `import { two } from 'tools';${report('two')}`,
    'packages/tools/package.json': '{ "name": "tools", "type": "module", "exports": "./main.ts" }',
    'packages/tools/main.ts': tools,
  });
  symlinkSync(join(cwd, 'packages/tools'), join(cwd, 'node_modules/tools'), 'junction');
  expect(await loaded(cwd)).toEqual({ value: 2, isWritten: false });
});

test('a module knows the address of its source', async () => {
  const cwd = installed({
    'agents.ts': report('[import.meta.url, import.meta.filename, import.meta.dirname]'),
  });
  const path = join(cwd, 'agents.ts');
  expect(await loaded(cwd)).toEqual({
    // older ones of Node 20 know no more than the URL
    value: [pathToFileURL(path).href, ...('filename' in import.meta ? [path, dirname(path)] : [null, null])],
    isWritten: canWrite,
  });
});

test('a changed module is written anew, also below one that has not changed', async () => {
  const cwd = installed({
    'agents.ts': `import { two } from './tools.ts';${report('two')}`,
    'tools.ts': tools,
  });
  expect(await loaded(cwd)).toMatchObject({ value: 2 });
  writeFileSync(join(cwd, 'tools.ts'), 'export const two: number = 22;\n');
  expect(await loaded(cwd)).toEqual({ value: 22, isWritten: canWrite });
  if (canWrite) expect(readdirSync(join(cwd, written))).toHaveLength(2);
});

test('what cannot be imported is named as in the source, and no code has been executed before', async () => {
  const cwd = installed({
    'agents.ts':
      "import { three } from './tools.ts';\nimport './said.ts';\nexport const a: number = three;\n",
    'tools.ts': tools,
    'said.ts': "console.error('executed' as string);\n",
  });
  expect((await run(['start'], { cwd })).stderr).toContain(
    "could not be loaded: SyntaxError: The requested module './tools.ts' does not provide an export named 'three'",
  );
  writeFileSync(join(cwd, 'agents.ts'), "import './said.ts';\nthrow new RangeError('once' as string);\n");
  expect((await run(['start'], { cwd })).stderr).toBe(
    'executed\nagents.ts:2 could not be loaded: RangeError: once\n',
  );
});

test('a package that throws is executed once', async () => {
  const cwd = installed({
    'agents.ts': "import 'careless';\n",
    'node_modules/careless/package.json': '{ "name": "careless", "main": "main.cjs" }',
    'node_modules/careless/main.cjs': "console.error('executed');\nthrow new RangeError('no key');\n",
  });
  expect((await run(['start'], { cwd })).stderr).toBe(
    'executed\nagents.ts could not be loaded: RangeError: no key\n',
  );
});

test('a folder is not a file', async () => {
  const cwd = installed({
    'agents.ts': `import { two } from './tools.ts/';${report('two')}`,
    'tools.ts': tools,
  });
  expect((await run(['start'], { cwd })).stderr).toContain('Directory import');
});

test('nothing is written where it may not be', async () => {
  const cwd = installed({ 'agents.ts': report('1') });
  mkdirSync(join(cwd, 'node_modules/.cache/runyard'), { recursive: true });
  writeFileSync(join(cwd, written), 'a file');
  expect(await loaded(cwd)).toEqual({ value: 1, isWritten: false });
  expect(existsSync(join(cwd, 'node_modules/.cache/runyard/stripped'))).toBe(true);
});
