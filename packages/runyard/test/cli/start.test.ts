import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import { entry, linkPackages, project, run, start, startUnderShell } from './support.js';

const anyPort = ['--port', '0'];

describe('runyard start', () => {
  test('serves agents.ts and prints where the console, the API, the docs, the interfaces and the data are', async () => {
    const options = "{ answer: 'hi', interfaces: ['mcp'], settings: { name: 'Shop' } }";
    const cwd = project({ 'agents.ts': entry(options) });
    const server = start(['start', ...anyPort], { cwd });
    const [, url] = await server.prints(/API +(http:\S+)/);
    await server.prints(/Data +\S+/);
    expect(server.stdout).toContain('Shop is up');
    expect(server.stdout).toContain(`Console ${url}/console`);
    expect(server.stdout).toContain(`Docs    ${url}/docs`);
    expect(server.stdout).toContain(`MCP     ${url}/mcp`);
    expect(server.stdout).toContain('Data    .runyard/runyard.db');
    expect(await (await fetch(url!)).text()).toBe('hi');
  });

  test.each([
    ['a security key', { securityKey: 'k'.repeat(32) }, /Docs .*\(needs the security key as "Authorization/],
    [
      'tokens',
      { authorization: true, jwtKeys: ['s'.repeat(32)] },
      /Docs .*\(needs a token as "Authorization/,
    ],
    ['tokens, /docs public', { jwtKeys: ['s'.repeat(32)], publicPaths: ['/docs'] }, /Docs .*\/docs\n/],
    ['nothing', {}, /Docs .*\/docs\n/],
  ])('says what /docs needs: %s', async (_name, settings, line) => {
    const cwd = project({ 'agents.ts': entry(JSON.stringify({ settings })) });
    const server = start(['start', ...anyPort], { cwd });
    await server.prints(/Data +\S+/);
    expect(server.stdout).toMatch(line);
  });

  test('loads TypeScript: types, enums, and imports of sources by their compiled name', async () => {
    const cwd = project({
      'src/agents.ts': `import { Word, type Words } from './words.js';\nimport { more } from './more.ts';
        const words: Words = [Word.Hello, more satisfies string];\n${entry("{ answer: words.join(' ') }", 'service')}`,
      'src/words.ts': "export enum Word { Hello = 'hello' }\nexport type Words = string[];\n",
      'src/more.ts': "export const more: string = 'there';\n",
    });
    const server = start(['start', ...anyPort], { cwd });
    const [, url] = await server.prints(/API +(http:\S+)/);
    expect(await (await fetch(url!)).text()).toBe('hello there');
  });

  test('the application shares zod with Runyard', async () => {
    const cwd = project({
      'agents.ts': `import * as zod from 'zod';\nimport { z } from 'zod/v4';
        const place: string = import.meta.resolve('zod');
        const has = [zod.z === z, z.string().safeParse(1).success, typeof z.locales.de, typeof z.core.$ZodType];
        ${entry("{ answer: [place, ...has].join(' ') }")}`,
    });
    linkPackages(cwd);
    const server = start(['start', ...anyPort], { cwd });
    const [, url] = await server.prints(/API +(http:\S+)/);
    expect(await (await fetch(url!)).text()).toMatch(/bundle\/zod\.js true false function function$/);
  });

  test('an application with another version of zod has that one', async () => {
    const cwd = project({
      'agents.ts': `import { z } from 'zod';\n${entry('{ answer: z }')}`,
      'node_modules/zod/package.json':
        '{ "name": "zod", "version": "4.0.0", "type": "module", "exports": "./index.js" }',
      'node_modules/zod/index.js': "export const z = 'another';\n",
    });
    const server = start(['start', ...anyPort], { cwd });
    const [, url] = await server.prints(/API +(http:\S+)/);
    expect(await (await fetch(url!)).text()).toBe('another');
  });

  test('settings come from code, file, environment and flags, later ones winning', async () => {
    const settings = "{ settings: { name: 'code', host: '127.0.0.1', dataDir: 'code-data', docs: false } }";
    const cwd = project({
      'agents.mjs': entry(settings),
      'runyard.json': '{ "name": "file", "dataDir": "file-data" }',
    });
    const server = start(['start', ...anyPort], {
      cwd,
      env: { RUNYARD_DATA_DIR: 'variable-data', PORT: '1' },
    });
    await server.prints(/Data +variable-data/);
    expect(server.stdout).toContain('file is up');
    expect(server.stdout).not.toContain('Docs');
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('%s stops it gracefully', async (signal) => {
    const server = start(['start', ...anyPort], { cwd: project({ 'agents.ts': entry() }) });
    await server.prints(/API/);
    server.signal(signal);
    expect(await server.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('closing') });
  });

  test('one Ctrl-C that arrives twice is graceful; a later second signal stops at once', async () => {
    const server = start(['start', ...anyPort], {
      cwd: project({ 'agents.ts': entry('{ neverCloses: true }') }),
    });
    await server.prints(/API/);
    server.signal('SIGINT');
    server.signal('SIGINT');
    await server.prints(/closing/);
    expect(server.hasEnded).toBe(false);
    await until('it has ended', () => {
      server.signal('SIGINT');
      return server.hasEnded;
    });
    expect((await server.ended).code).toBe(1);
  });
});

test('stops when the npm that started it is gone: npm passes signals to a shell, which keeps them', async () => {
  const cwd = project({ 'agents.ts': entry() });
  const shell = startUnderShell(['start', ...anyPort], { cwd, env: { npm_command: 'start' } });
  const [, url] = await shell.prints(/API +(http:\S+)/);
  shell.signal('SIGTERM');
  await shell.prints(/closing/);
  await until('nothing answers', () =>
    fetch(url!).then(
      () => false,
      () => true,
    ),
  );
});

describe('one clear line and a non-zero exit for', () => {
  const fails = async (
    files: Record<string, string>,
    words: string[] = [],
    env: Record<string, string> = {},
  ) => {
    const outcome = await run(['start', ...words], { cwd: project(files), env });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).not.toMatch(/^\s+at /m);
    expect(outcome.stderr.trim().split('\n')).toHaveLength(1);
    return outcome.stderr;
  };

  test('a wrong value of a flag', async () => {
    const text = await fails({ 'agents.ts': entry() }, ['--port', 'eighty']);
    expect(text).toBe('flag --port is "eighty"; allowed: a whole number from 0 to 65535.\n');
  });

  test('a settings file that does not exist', async () => {
    const text = await fails({ 'agents.ts': entry() }, ['--config', 'nope.json']);
    expect(text).toContain('settings file nope.json: it does not exist.');
  });

  test('no entry', async () => {
    expect(await fails({})).toMatch(
      /No entry found in .*: looked for agents, src\/agents, .* each as \.ts, \.mts, \.js, \.mjs\. .*runyard init/,
    );
    expect(await fails({}, ['other.ts'])).toContain('other.ts does not exist.');
  });

  test('an entry that exports no Runyard', async () => {
    const text = await fails({ 'agents.ts': 'export const assistant = { id: 1 };' });
    expect(text).toContain(
      'agents.ts exports no Runyard instance (it exports assistant). Add: export const app',
    );
  });

  test('an entry that exports two', async () => {
    const text = await fails({ 'agents.ts': `${entry()}export const other = new FixtureApplication();` });
    expect(text).toContain('agents.ts exports 2 Runyard instances. Export one.');
  });

  test('an entry that throws: with the file and the line of the source', async () => {
    const throwing =
      'interface Unused {\n  a: string;\n}\n\nconst key: string | undefined = undefined;\nif (!key) throw new TypeError("no key");\n';
    expect(await fails({ 'agents.ts': throwing })).toBe(
      'agents.ts:6 could not be loaded: TypeError: no key\n',
    );
  });

  test('a module of the entry that throws: with its own file', async () => {
    const text = await fails({
      'agents.ts': "import './tools.js';\n",
      'tools.ts': '\nconst tools: string[] = [];\ntools[0]!.trim();\n',
    });
    expect(text).toMatch(/^tools\.ts:3 could not be loaded: TypeError: /);
  });

  test.each([
    ['agents.ts', 'const a: string = 1;\nconst b = ;\n'],
    ['agents.mjs', 'const a = 1;\nconst b = ;\n'],
  ])('a syntax error in %s', async (name, text) => {
    expect(await fails({ [name]: text })).toMatch(
      new RegExp(`^${name}:2 could not be loaded: SyntaxError: `),
    );
  });

  test.each([
    ['a package', "// import 'none';\nimport {\n  one,\n} from 'none/part';\none();\n", 4, "package 'none'"],
    ['a file', "// of './none.js'\nawait import('./none.js');\n", 2, '/none.js'],
    ['a part of a package', "import 'runyard';\nimport 'runyard/none';\n", 2, "subpath './none'"],
  ])('an import of %s that does not exist: with its file and line', async (_what, text, line, missing) => {
    for (const name of ['tools.ts', 'tools.mjs']) {
      const files = { 'agents.ts': `import './${name}';\n`, [name]: text };
      // a package finds itself without being installed
      const own = {
        'package.json': '{ "name": "runyard", "exports": { ".": "./empty.js" } }',
        'empty.js': '',
      };
      const shown = await fails({ ...files, ...own });
      expect(shown.startsWith(`${name}:${line} could not be loaded: `)).toBe(true);
      expect(shown).toContain(missing);
    }
  });

  test('a file that cannot be loaded because of its extension: with those that can', async () => {
    expect(await fails({ 'agents.tsx': entry() }, ['agents.tsx'])).toMatch(
      /^agents\.tsx could not be loaded: .*extension ".tsx".* in \.ts, \.mts, \.js, \.mjs or \.cjs files\.$/m,
    );
    // no one can write the code of a package in another file
    const part = {
      'node_modules/part/package.json': '{ "type": "module", "exports": "./part.jsx" }',
      'node_modules/part/part.jsx': '',
    };
    expect(await fails({ 'agents.ts': "import 'part';\n", ...part })).toMatch(
      /^agents\.ts could not be loaded: .*extension ".jsx" for \S+part\.jsx$/m,
    );
  });

  test.each(['agents.ts', 'agents.mjs'])('a top-level await in %s that never settles', async (name) => {
    expect(await fails({ [name]: 'await new Promise(() => {});\n' })).toBe(
      `${name} could not be loaded: a top-level await in it, or in what it imports, never settles.\n`,
    );
  });
});

test('an unknown command or flag is answered with the nearest known one', async () => {
  const cwd = project({});
  expect((await run(['strat'], { cwd })).stderr).toContain('Did you mean start?');
  expect((await run(['start', '--prot', '1'], { cwd })).stderr).toContain('Did you mean --port?');
});

test('--help has examples', async () => {
  const { code, stdout } = await run(['--help'], { cwd: project({}) });
  expect(code).toBe(0);
  expect(stdout).toMatch(/Examples:\n +runyard init my-agents/);
});

test('the entry may be a folder', async () => {
  const cwd = project({ 'shop/agents.ts': entry() });
  const server = start(['start', 'shop', ...anyPort], { cwd });
  await server.prints(/API/);
  expect(server.stdout).toContain(join('.runyard', 'runyard.db'));
});
