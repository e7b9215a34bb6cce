import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { consoleBuild, consoleFiles } from './console.mjs';
import { licences } from './licences.mjs';
import { nativeFiles } from './native-files.mjs';
import { loaderFile, splitModule, splitRequired } from './split-module.mjs';

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
];

/**
 * What begins a thread or a process of its own. They share no files with the service: it would load many small ones, and
 * they would load what only a service needs.
 */
const threadEntries = [
  'cli/typescript-hooks',
  'platform/documents/parsing-process',
  'platform/embedders/sentence-thread',
];

/** Packages that are loaded by `require` at their first use. Each is a file of its own, which the start does not read. */
const onDemand = [
  'kysely',
  '@marcbachmann/cel-js',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
  'ws',
];

/** What every start of a service loads, and those of applications that use zod, the built-in tools or an interface. */
const startFiles = [
  'chunks/command.js',
  'chunks/service.js',
  'zod.js',
  'tools.js',
  'chunks/interface.js',
  'chunks/a2a.js',
  'chunks/websocket.js',
];

/** The files of the API browser. */
const browserFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Packages that a bundled one asks for and can do without. */
const neverInstalled = ['pg-native', 'canvas'];

/** Packages that a bundled one loads and that ours never calls: turndown gets parsed pages, no text to parse. */
const neverCalled = ['@mixmark-io/domino'];

/** Its source is minified, and the bundler would write it a quarter larger. */
const minifiedFile = 'threads/pdfjs.js';

/** Packages that applications import too, or need the types of: the bundle has its own copy all the same. */
const bundledAnyway = ['zod', 'fastify'];

/** Parts of zod that only applications use: all of it as one value, and all languages. */
const forApplications =
  /[\\/]zod[\\/]v4[\\/](?:core[\\/](?:index|compile)|classic[\\/](?:external|from-json-schema)|locales[\\/](?!en\b))/;

/** The embedders and rerankers of providers. */
const providerEmbedders =
  /[\\/]dist[\\/]core[\\/](?:embedders[\\/](?:cohere|gemini|openai|provider-embedder|voyage)|rerankers[\\/]provider-reranker)\.js$/;

const here = fileURLToPath(new URL('./', import.meta.url));

/**
 * Joins the compiled modules of a package, and the packages that they import, into a few files: Node spends most of a
 * start on finding, opening and compiling hundreds of small ones. Modules that load on demand stay apart. Does nothing
 * when the files are fresh.
 */
export async function bundle(folder) {
  const target = join(folder, 'bundle');
  // Written last: its time says that all of them are fresh.
  const last = join(target, 'index.js');
  const sources = [
    join(folder, 'dist/.tsbuildinfo'),
    join(folder, 'package.json'),
    join(folder, '../../node_modules/.package-lock.json'),
    consoleBuild,
    ...['bundle.mjs', 'licences.mjs', 'native-files.mjs', 'split-module.mjs'].map((name) => join(here, name)),
  ];
  if (sources.every((path) => changedAt(last) >= changedAt(path))) return;
  const output = await bundledFiles(folder);
  const files = new Map(output.map((file) => [join(target, file.fileName), file.code ?? file.source]));
  for (const [path, text] of files) if (path !== last && !isContent(path, text)) replace(path, text);
  for (const name of readdirSync(target, { recursive: true })) {
    const path = join(target, name);
    if (!files.has(path) && statSync(path, { throwIfNoEntry: false })?.isFile())
      rmSync(path, { force: true });
  }
  replace(last, files.get(last));
}

/** What a bundle consists of. The bench leaves parts out with a plugin, to learn what they cost. */
export async function bundledFiles(folder, plugins = []) {
  const { resolve } = createRequire(join(folder, 'package.json'));
  const packages = onDemand.map((name) => requiredFile(resolve(name), `packages/${name}.cjs`));
  const loader = requiredFile(join(folder, 'dist/platform/compiled-code.js'), loaderFile);
  const split = (await Promise.all(packages)).flatMap(splitRequired);
  const code = [...(await bundledModules(folder, plugins)), ...split, await loader];
  refuseUndeclared(folder, code);
  const browser = dirname(resolve('swagger-ui-dist/package.json'));
  const web = consoleFiles();
  const native = nativeFiles(folder);
  return [
    ...code,
    ...browserFiles.map((name) => ({
      fileName: `browser/${name}`,
      source: readFileSync(join(browser, name)),
    })),
    ...web.files,
    ...native.files,
    {
      fileName: 'LICENSES.txt',
      source: licences(
        [
          ...code.flatMap(({ moduleIds }) => moduleIds),
          ...web.moduleIds,
          ...native.moduleIds,
          join(browser, 'package.json'),
        ],
        native.terms,
      ),
    },
  ];
}

async function bundledModules(folder, plugins) {
  const { minifySync } = await import('rolldown/utils');
  const service = await bundledService(folder, plugins);
  const threads = await joined(folder, plugins, inputOf(folder, threadEntries), {
    chunkFileNames: 'threads/[name].js',
  });
  return [...service, ...threads]
    .map((file) => (file.fileName === minifiedFile ? withoutSpace(file, minifySync) : file))
    .map(inAscii)
    .flatMap((file) => (startFiles.includes(file.fileName) ? splitModule(file) : file));
}

function bundledService(folder, plugins) {
  const input = inputOf(folder, entries);
  // applications that the command starts use this copy
  input.zod = join(
    dirname(createRequire(join(folder, 'package.json')).resolve('zod/package.json')),
    'index.js',
  );
  const start = startModules(folder);
  const codeSplitting = {
    includeDependenciesRecursively: false,
    groups: [
      { name: 'command', test: (id) => start.command.has(id), priority: 2 },
      { name: 'service', test: (id) => start.service.has(id), priority: 1 },
      // what nearly every adapter of a model uses, and nearly every interface
      { name: 'provider', test: /[\\/]dist[\\/]core[\\/]models[\\/]provider[\\/]/ },
      {
        name: 'interface',
        test: /[\\/]dist[\\/](?:interfaces[\\/]common[\\/]|core[\\/]workflows[\\/]review[\\/]question-text)/,
      },
      { name: 'a2a', test: /[\\/]dist[\\/]interfaces[\\/]a2a[\\/]/ },
      { name: 'websocket', test: /[\\/]dist[\\/]interfaces[\\/]websocket[\\/]/ },
      // small modules, each of which loads all or most of what the others of its group load
      { name: 'configs', test: /[\\/]dist[\\/]core[\\/]configs[\\/]/ },
      { name: 'embedders', test: providerEmbedders },
    ],
  };
  return joined(folder, [...plugins, start.plugin], input, {
    codeSplitting,
    chunkFileNames: 'chunks/[name].js',
  });
}

function inputOf(folder, names) {
  return Object.fromEntries(names.map((name) => [name, join(folder, 'dist', `${name}.js`)]));
}

/** Files are as deep as the modules that they come from: some find the package by its place. */
async function joined(folder, plugins, input, output) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input,
    platform: 'node',
    logLevel: 'silent',
    external: outsideOf(folder),
    plugins: [...plugins, packagesOnDemand(), partsOfSemver(folder), withoutUncalled()],
  });
  const made = await build.generate({
    ...{ format: 'esm', comments: false, entryFileNames: '[name].js' },
    ...output,
  });
  await build.close();
  return made.output;
}

/** One file for what `require` returns of a module. */
async function requiredFile(input, fileName) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input,
    platform: 'node',
    logLevel: 'silent',
    external: isBuiltin,
  });
  const { output } = await build.generate({
    format: 'cjs',
    comments: false,
    codeSplitting: false,
    entryFileNames: fileName,
  });
  await build.close();
  return inAscii(output[0]);
}

function withoutSpace(file, minifySync) {
  const { code, errors } = minifySync(file.fileName, file.code, {
    compress: false,
    mangle: false,
    codegen: { removeWhitespace: true },
  });
  if (errors.length > 0) throw new Error(`${file.fileName}: ${errors[0].message}`);
  return { ...file, code };
}

/** Node reads a file of ASCII twice as fast, and keeps it in half the memory. */
function inAscii(file) {
  // a backslash before such a character has no meaning of its own, but would take the one of the escape
  const escaped = (_all, backslashes, unit) =>
    `${backslashes.slice(backslashes.length % 2)}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return { ...file, code: file.code.replace(/(\\*)([^\0-\x7f])/g, escaped) };
}

/** Leads to the files of their own of the packages on demand, which the package finds by its `imports`. */
function packagesOnDemand() {
  return {
    name: 'packages-on-demand',
    resolveId: (name) => (onDemand.includes(name) ? { id: `#packages/${name}`, external: true } : undefined),
    transform: (code) =>
      code.replace(/createRequire\(import\.meta\.url\)\('([^'.]+)'\)/g, (call, name) =>
        onDemand.includes(name) ? call.replace(name, `#packages/${name}`) : call,
      ),
  };
}

function withoutUncalled() {
  const id = '\0never-called';
  return {
    name: 'without-uncalled',
    resolveId: (name) => (neverCalled.includes(name) ? id : undefined),
    load: (path) => (path === id ? 'module.exports = {};' : undefined),
  };
}

/** fastify uses three of its functions; the whole package parses versions when it is loaded. */
function partsOfSemver(folder) {
  const { resolve } = createRequire(createRequire(join(folder, 'package.json')).resolve('fastify'));
  const id = '\0parts-of-semver';
  const parts = ['coerce', 'gt', 'satisfies'].map((name) => [name, resolve(`semver/functions/${name}`)]);
  return {
    name: 'parts-of-semver',
    resolveId: (name, importer) => (name === 'semver' && importer.includes('fastify') ? id : undefined),
    load: (path) =>
      path === id
        ? parts.map(([name, file]) => `exports.${name} = require(${JSON.stringify(file)});`).join('\n')
        : undefined,
  };
}

/**
 * The modules that a start loads in any case: those of the command line are one file, those of a service another.
 * Without that, each set of entries that share a module would have a file.
 */
function startModules(folder) {
  const command = new Set();
  const service = new Set();
  const pathOf = (entry) => join(folder, 'dist', `${entry}.js`);
  const plugin = {
    name: 'start-modules',
    buildEnd() {
      const collect = (path, into, without) => {
        const info = this.getModuleInfo(path);
        if (info === null || into.has(path) || without.has(path)) return;
        into.add(path);
        for (const imported of info.importedIds) collect(imported, into, without);
      };
      collect(pathOf('cli/main'), command, new Set());
      for (const entry of ['index', 'cli/serve']) collect(pathOf(entry), service, command);
      // an entry in a group would become the file of the group
      for (const group of [command, service])
        for (const id of group)
          if (this.getModuleInfo(id).isEntry || forApplications.test(id)) group.delete(id);
    },
  };
  return { command, service, plugin };
}

/** What users install beside the package, and Node's own modules. */
function outsideOf(folder) {
  const { dependencies = {}, peerDependencies = {} } = manifestOf(folder);
  const names = [...Object.keys(dependencies), ...Object.keys(peerDependencies)].filter(
    (name) => !bundledAnyway.includes(name),
  );
  return (id) =>
    isBuiltin(id) ||
    neverInstalled.includes(id) ||
    names.some((name) => id === name || id.startsWith(`${name}/`));
}

/** A package that is neither bundled nor installed with ours would be found here, and nowhere else. */
function refuseUndeclared(folder, code) {
  const isOutside = outsideOf(folder);
  const known = new Set(code.map(({ fileName }) => fileName));
  for (const { fileName, imports, dynamicImports } of code) {
    for (const name of [...imports, ...dynamicImports]) {
      if (known.has(name) || isOutside(name) || name.startsWith('#packages/')) continue;
      throw new Error(`${fileName} imports ${name}, which is neither bundled nor a dependency`);
    }
  }
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Windows does not replace native code that a process has loaded; it seldom changes. */
function isContent(path, text) {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  return size === Buffer.byteLength(text) && readFileSync(path).equals(Buffer.from(text));
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
