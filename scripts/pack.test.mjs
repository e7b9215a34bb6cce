import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pdfOf } from '../packages/runyard/test/support/files/pdf.js';
import { bundleDeclarations } from './lib/declarations.mjs';

const source = fileURLToPath(new URL('../packages/runyard/', import.meta.url));
const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
const run = promisify(execFile);

/** What the native code was compiled from. */
const inNative = ['@photostructure/sqlite', 'node-addon-api', 'SQLite'];

/** A project that has installed the package as it is published, and nothing else but what the package depends on. */
describe('the published package', () => {
  const project = mkdtempSync(join(tmpdir(), 'runyard-package-'));
  const installed = join(project, 'node_modules/runyard');
  let files = [];

  const install = (name) => {
    mkdirSync(join(project, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(join(modules, name), join(project, 'node_modules', name), 'dir');
  };

  beforeAll(async () => {
    for (const name of [...manifest.files, 'package.json', 'LICENSE', 'README.md'])
      if (name !== 'types') cpSync(join(source, name), join(installed, name), { recursive: true });
    await bundleDeclarations(source, join(installed, 'types'));
    files = filesBelow(installed);
    // MCP is a package that applications install
    for (const name of [...Object.keys(manifest.dependencies), '@modelcontextprotocol/server', '@types/node'])
      install(name);
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }\n');
  });

  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it('has few files, no maps and no notes of the compiler', () => {
    expect(files.length).toBeLessThan(200);
    expect(files.filter((name) => /\.map$|tsbuildinfo/.test(name))).toEqual([]);
    const code = files.filter((name) => /\.(js|cjs|mjs|ts)$/.test(name) && !name.includes('browser'));
    const mapped = code.filter((name) =>
      /^\/\/# sourceMappingURL=(?!data:)/m.test(readFileSync(join(installed, name), 'utf8')),
    );
    expect(mapped).toEqual([]);
    expect(bytesOf(installed, (name) => !isNative(name))).toBeLessThan(15_000_000);
  });

  it('takes less than 45 MB with what it depends on, and npm has no install script to run', () => {
    const folders = [installed, ...dependenciesOf(manifest).map((name) => join(modules, name))];
    expect(folders.length).toBeGreaterThan(Object.keys(manifest.dependencies).length + 1);
    expect(folders.reduce((sum, folder) => sum + bytesOf(folder), 0)).toBeLessThan(45_000_000);
    for (const folder of folders) {
      expect(Object.keys(manifestIn(folder).scripts ?? {})).not.toContainEqual(
        expect.stringMatching(/^(pre|post)?install$/),
      );
      // npm compiles such a package, with no script in its manifest
      expect(readdirSync(folder)).not.toContain('binding.gyp');
    }
  });

  it('has its licence and those of the packages in it', () => {
    expect(files).toContain('LICENSE');
    const texts = readFileSync(join(installed, 'bundle/LICENSES.txt'), 'utf8');
    for (const name of ['fastify', 'kysely', 'pino', 'swagger-ui-dist', 'zod', 'pg', 'mammoth', ...inNative])
      expect(texts).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'm'));
    expect(texts).toContain('The author disclaims copyright to this source code.');
  });

  describe('SQLite, where Node has none', () => {
    const native = join(installed, 'bundle/native');
    const own = `${process.platform}-${process.arch}`;
    const library = '@photostructure/sqlite';
    const version = process.versions.node.replaceAll('.', '\\.');
    const flag = 'experimental-sqlite';
    const without = process.allowedNodeEnvironmentFlags.has(`--${flag}`) ? [`--no-${flag}`] : [];
    const command = `${library}@${manifest.devDependencies[library]}`;

    /** The status of the health check, or why the service does not start. */
    async function started(changes = {}) {
      writeFileSync(
        join(project, 'sqlite.mjs'),
        `for (const [name, value] of Object.entries(${JSON.stringify(changes)})) Object.defineProperty(process, name, { value });
         const { agent, Runyard } = await import('runyard');
         const agents = [agent({ name: 'Assistant', model: 'offline' })];
         const app = new Runyard({ agents, port: 0, dataDir: 'sqlite', logLevel: 'silent' });
         const answer = await app.listen().then(({ url }) => fetch(url + '/health'), (error) => error);
         console.log(JSON.stringify(answer.status === 200 ? 200 : answer.message));
         process.exit(0);
        `,
      );
      return JSON.parse((await run(process.execPath, [...without, 'sqlite.mjs'], { cwd: project })).stdout);
    }

    it('is there for each platform that it was compiled for', () => {
      expect(readdirSync(native).sort()).toEqual(
        [
          'darwin-arm64',
          'darwin-x64',
          'linux-arm64',
          'linux-arm64-musl',
          'linux-x64',
          'linux-x64-musl',
          'win32-arm64',
          'win32-x64',
        ]
          .map((name) => `${name}.node`)
          .sort(),
      );
    });

    it('is the native code for this platform, and nothing else is installed', async () => {
      expect(await started()).toBe(200);
    });

    it('is nowhere on other platforms: the error says what to do', async () => {
      expect(await started({ arch: 'riscv64' })).toMatch(
        new RegExp(
          `Runyard has no SQLite for ${process.platform}-riscv64\\S* that Node ${version} can load\\. Use Node 22\\.20 or later, ` +
            `which contains SQLite, or PostgreSQL; or compile it: npm install --force ${command}$`,
        ),
      );
    });

    it.each([
      { fault: 'is missing', content: undefined, force: '--force ' },
      { fault: 'does not load', content: 'damaged', force: '' },
    ])('is a package that can be installed where the native code $fault', async ({ content, force }) => {
      for (const name of readdirSync(native).filter((one) => one.startsWith(own))) {
        renameSync(join(native, name), join(project, name));
        if (content !== undefined) writeFileSync(join(native, name), content);
      }
      const reason = content === undefined ? '' : ' \\(.+\\)';
      expect(await started()).toMatch(
        new RegExp(
          `for ${own}\\S* that Node ${version} can load${reason}\\. .*: npm install ${force}${command}$`,
          's',
        ),
      );
      install(library);
      expect(await started()).toBe(200);
    });

    afterEach(() => {
      rmSync(join(project, 'node_modules', library), { force: true });
      for (const name of readdirSync(project).filter(isNative))
        renameSync(join(project, name), join(native, name));
    });
  });

  it('reads pages and PDFs', async () => {
    writeFileSync(join(project, 'page.html'), '<main><h1>Mars</h1><p>Mars has <b>two</b> moons.</p></main>');
    writeFileSync(join(project, 'page.pdf'), pdfOf('Saturn has rings.'));
    writeFileSync(
      join(project, 'read.mjs'),
      `import { knowledge } from 'runyard';
       const paths = ['page.html', 'page.pdf'];
       const planets = knowledge({ name: 'planets', contents: paths.map((path) => ({ name: path, from: { path } })) });
       const found = await planets.search('What have Mars and Saturn?');
       console.log(JSON.stringify(found.map(({ content }) => content).sort()));
       process.exit(0);
      `,
    );
    const { stdout } = await run(process.execPath, ['read.mjs'], { cwd: project });
    expect(JSON.parse(stdout)).toEqual(['# Mars\n\nMars has **two** moons.', 'Saturn has rings.']);
  });

  it.each(['nodenext', 'bundler'])(
    'has types that compile, with all declarations checked (%s)',
    async (resolution) => {
      writeFileSync(
        join(project, 'agents.ts'),
        `import { agent, Runyard, tool } from 'runyard';
       import * as evals from 'runyard/evals';
       import * as guardrails from 'runyard/guardrails';
       import { mcp } from 'runyard/interfaces';
       import * as knowledge from 'runyard/knowledge';
       import * as models from 'runyard/models';
       import * as testing from 'runyard/testing';
       import * as tools from 'runyard/tools';
       import { z } from 'zod';
       export const all = { evals, guardrails, knowledge, models, testing, tools };
       const inputSchema = z.object({ value: z.number() });
       const double = tool({ name: 'double', description: 'Doubles', inputSchema, execute: ({ value }) => value * 2 });
       const assistant = agent({ name: 'Assistant', model: 'offline', tools: [double] });
       export const app = new Runyard({ agents: [assistant], interfaces: [mcp()], routes: (server) => server.get('/own', () => 'x') });
       // @ts-expect-error the name of the option is wrong
       agent({ name: 'Assistant', modle: 'offline' });
       // @ts-expect-error the input has another type
       tool({ name: 'double', description: 'Doubles', inputSchema, execute: ({ value }) => value.trim() });
      `,
      );
      const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
      const options = [
        '--singleThreaded',
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        'false',
        '--target',
        'es2022',
        '--types',
        'node',
      ];
      const words = [...options, '--module', module, '--moduleResolution', resolution, 'agents.ts'];
      const compiler = join(modules, 'typescript/bin/tsc');
      const { stdout } = await run(process.execPath, [compiler, ...words], { cwd: project }).catch(
        (error) => error,
      );
      expect(stdout).toBe('');
    },
  );

  it('starts without its sources, and loads on demand what the first requests do not need', async () => {
    writeFileSync(
      join(project, 'start.mjs'),
      `import { createRequire, register } from 'node:module';
       import { MessageChannel } from 'node:worker_threads';
       const { port1, port2 } = new MessageChannel();
       const loaded = [];
       port1.on('message', (url) => loaded.push(url));
       const hooks = new URL('./node_modules/runyard/bundle/cli/typescript-hooks.js', import.meta.url);
       register(hooks, { data: { loaded: port2 }, transferList: [port2] });
       const { agent, Runyard } = await import('runyard');
       const agents = [agent({ name: 'Assistant', model: 'offline' })];
       const app = new Runyard({ agents, port: 0, dataDir: 'data', logLevel: 'silent', mcp: true, a2a: true });
       const { url } = await app.listen();
       const files = () => [...loaded, ...Object.keys(createRequire(import.meta.url).cache)].filter((one) => !one.startsWith('node:'));
       const health = (await fetch(url + '/health')).status;
       const atStart = files();
       const page = (await (await fetch(url + '/docs/assets/swagger-ui.css')).text()).length;
       const mcp = (await fetch(url + '/mcp', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' } })).status;
       const sessions = (await fetch(url + '/sessions?user_id=ada')).status;
       const later = files();
       console.log(JSON.stringify({ health, mcp, page, sessions, atStart, later }));
       await app.close({ graceMs: 0 });
       process.exit(0);
      `,
    );
    const { stdout } = await run(process.execPath, ['start.mjs'], { cwd: project });
    const { health, mcp, page, sessions, atStart, later } = JSON.parse(stdout);
    expect({ health, mcp, sessions }).toEqual({ health: 200, mcp: 400, sessions: 200 });
    expect(page).toBeGreaterThan(1_000);
    const onDemand = /modelcontextprotocol|kysely|ajv|cel-js|postgres|[\\/]zod[\\/]|oxc-transform/;
    expect(atStart.filter((file) => onDemand.test(file))).toEqual([]);
    expect(atStart.length).toBeLessThan(60);
    for (const part of ['modelcontextprotocol', 'kysely']) expect(later.join('\n')).toContain(part);
  });

  it('keeps its compiled code for the next start, and starts without code that was damaged', async () => {
    const folder = join(installed, '.cache');
    rmSync(folder, { recursive: true, force: true });
    // it settles after two seconds with little work: loading the code may be the work of the first two or four
    const started = async (ms = 6_500) => {
      const text = `await import('runyard'); setTimeout(() => console.log('loaded'), ${ms});`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', text], { cwd: project });
      expect(stdout).toBe('loaded\n');
    };
    const kept = () => {
      const [name, ...others] = readdirSync(folder).filter((one) => one.startsWith('service-'));
      expect(others).toEqual([]);
      return { name, content: readFileSync(join(folder, name)) };
    };
    await started(0);
    const first = kept().content;
    await started(0);
    expect(kept().content).toEqual(first);
    // a process that settles has compiled more than one that ended at once
    await started();
    const { name, content } = kept();
    expect(content).not.toEqual(first);
    const written = () => statSync(join(folder, name)).mtimeMs;
    const before = written();
    await started();
    expect(written()).toBe(before);
    // an earlier version of the package has left one, too
    writeFileSync(join(folder, name.replace(/-[0-9a-f]+-/, '-earlier-')), content);
    const damaged = content.map((byte, at) => (at % 1_000 > 900 ? byte ^ 0xff : byte));
    writeFileSync(join(folder, name), damaged);
    await started(0);
    expect(kept().name).toBe(name);
    expect(kept().content).not.toEqual(damaged);
    // a folder that cannot be made
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    await started(0);
    rmSync(folder);
  });
});

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
}

function bytesOf(folder, isCounted = () => true) {
  return filesBelow(folder)
    .filter(isCounted)
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

function isNative(name) {
  return name.endsWith('.node');
}

function manifestIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** The names of all packages that npm installs with one, on this platform. */
function dependenciesOf({ dependencies = {}, optionalDependencies = {} }) {
  return Object.keys({ ...dependencies, ...optionalDependencies })
    .filter((name) => existsSync(join(modules, name)))
    .flatMap((name) => [name, ...dependenciesOf(manifestIn(join(modules, name)))]);
}
