import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readModule } from './lib/read-module.mjs';
import { readSources } from './lib/read-sources.mjs';

/** Files that may be longer than the bound, each with its reason. */
const longFiles = {};
const longest = 400;
/** A folder with more files than this has to be divided by topic. */
const mostFiles = 20;

/** The wings of the house, and which ones each may import. The outermost files know all of them. */
const wings = {
  outermost: ['outermost', 'cli', 'interfaces', 'capabilities', 'platform', 'core'],
  cli: ['outermost', 'cli', 'interfaces', 'capabilities', 'platform', 'core'],
  interfaces: ['interfaces', 'capabilities', 'platform', 'core'],
  capabilities: ['capabilities', 'platform', 'core'],
  platform: ['platform', 'core'],
  core: ['core'],
};

/** The folders of the console, and which ones each may import. `main.tsx` and `router.tsx` know all of them. */
const consoleFolders = {
  outermost: ['outermost', 'pages', 'shell', 'data', 'connection', 'ui'],
  pages: ['pages', 'shell', 'data', 'connection', 'ui'],
  shell: ['shell', 'data', 'connection', 'ui'],
  data: ['data', 'connection', 'ui'],
  connection: ['connection', 'ui'],
  ui: ['ui'],
};

/** The core runs anywhere: no server, no database, no files, no timers of its own. */
const foreignToCore =
  /^(fastify|busboy|kysely|pg|pino|commander|@photostructure\/sqlite|node:(fs|http|https|http2|net|tls|dgram|child_process|worker_threads|cluster|sqlite)(\/.*)?)$/;
const timers = new Set(['setTimeout', 'setInterval', 'setImmediate']);
/** An adapter that talks to a provider has to wait between two attempts and to give up after a time. */
const mayUseTimers = /^core\/models\//;

const sql =
  /^\s*(select\s[\s\S]+\sfrom\s|insert\s+(or\s+\w+\s+)?into\s|update\s+\S+\s+set\s|delete\s+from\s|(create|drop|alter)\s+(unique\s+)?(table|index|view|trigger)\s|pragma\s)/;
const queryBuilding = new Set(['selectFrom', 'insertInto', 'updateTable', 'deleteFrom', 'mergeInto']);
const mayHoldSql =
  /(^platform\/storage\/|^platform\/tools\/sql\/|^capabilities\/([\w-]+\/)+([\w-]+-)?store([\w-]*)\.ts$|\/migrations\/)/;

/** What a capability and an interface are, as types: known to all of them. */
const shapes = new Set(['capabilities/capability.ts', 'interfaces/interface.ts']);
/** The lists: each names the one value of every room. */
const lists = new Map([
  ['capabilities/capabilities.ts', 'capability.ts'],
  ['interfaces/interfaces.ts', 'interface.ts'],
]);

/** Stores that compose the SQL of another capability's store, each with its reason. */
const composedStores = [
  { from: 'runs', to: 'sessions', reason: 'a run and its session are written in one transaction' },
  {
    from: 'runs',
    to: 'approvals',
    reason: 'a run and the approvals it waits for are written in one transaction',
  },
  { from: 'runs', to: 'metrics', reason: 'a run and what it used are written in one transaction' },
  {
    from: 'runs',
    to: 'media',
    reason: 'the bytes that a run does not keep are released in the write that ends it',
  },
  { from: 'runs', to: 'traces', reason: 'a run and the row of its trace are written in one transaction' },
  {
    from: 'runs',
    to: 'response-cache',
    reason: 'a session and the answers that were kept from it are removed in one transaction',
  },
];

/** The entry points of the package: they only re-export what is public. */
const faces = new Set([
  'index.ts',
  'models.ts',
  'tools.ts',
  'guardrails.ts',
  'knowledge.ts',
  'evals.ts',
  'interfaces.ts',
  'testing.ts',
]);

/**
 * Checks the house rules on source files, given as a map from path (below src/) to text. Answers one line per
 * violation.
 */
export function findViolations(files) {
  const modules = new Map([...files].map(([path, text]) => [path, readModule(path, text)]));
  const rules = [importDirections, loadsOnDemand, coreStaysPure, sqlStaysInStores, noBarrels, noLongFiles];
  const found = [...modules].flatMap(([path, module]) => rules.flatMap((rule) => rule(path, module)));
  return [...found, ...crowdedFolders(files), ...cycles(modules)];
}

/** The same for the console, which may import the packages that it names in its package.json. */
export function findConsoleViolations(files, packages) {
  const modules = new Map([...files].map(([path, text]) => [path, readModule(path, text)]));
  const imports = (path, module) => consoleImports(path, module, packages);
  const found = [...modules].flatMap(([path, module]) =>
    [imports, noBarrels, noLongFiles].flatMap((rule) => rule(path, module)),
  );
  return [...found, ...crowdedFolders(files), ...cycles(modules)];
}

function consoleImports(path, module, packages) {
  return module.imports.flatMap(({ from, line }) => {
    const fault = from.startsWith('.')
      ? consoleFault(path, posix.join(posix.dirname(path), from))
      : !packages.some((name) => from === name || from.startsWith(`${name}/`)) &&
        'the console uses the public API through @runyard/client, and the packages of its package.json';
    return fault ? [`${path}:${line} imports ${from}: ${fault}`] : [];
  });
}

function consoleFault(path, target) {
  const [from, to] = [path, target].map((one) => folderOf(one, consoleFolders));
  if (!consoleFolders[from].includes(to)) return `${from} may import ${consoleFolders[from].join(', ')} only`;
  if (from === 'pages' && to === 'pages' && roomOf(path) !== roomOf(target))
    return 'a page does not know those of other areas';
  return undefined;
}

function crowdedFolders(files) {
  const counts = new Map();
  for (const path of files.keys())
    counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > mostFiles)
    .map(([folder, count]) => `${folder} has ${count} files, more than ${mostFiles}: divide it by topic`);
}

function importDirections(path, module) {
  return module.imports.flatMap(({ from, line }) => {
    if (!from.startsWith('.')) return [];
    const target = resolveImport(path, from);
    const fault = directionFault(path, target);
    return fault ? [`${path}:${line} imports ${target}: ${fault}`] : [];
  });
}

function loadsOnDemand(path, module) {
  return module.imports
    .filter(({ from, typeOnly }) => from === 'kysely' && !typeOnly && wingOf(path) !== 'core')
    .map(({ line }) => `${path}:${line} imports kysely, which every start would load: call queryBuilder()`);
}

function directionFault(path, target) {
  const [from, to] = [wingOf(path), wingOf(target)];
  if (!wings[from].includes(to)) return `${from} may import ${wings[from].join(', ')} only`;
  if (shapes.has(target)) return undefined;
  if (lists.has(path) && from === to)
    return posix.basename(target) === lists.get(path) ? undefined : `a list names each ${lists.get(path)}`;
  if (lists.has(target) && (from === 'capabilities' || from === 'interfaces'))
    return 'the whole list is known to the outermost files only';
  if (to === 'interfaces' && from === 'interfaces' && ![roomOf(path), 'common'].includes(roomOf(target))) {
    return 'an interface does not know the other interfaces';
  }
  if (to !== 'capabilities' || from === 'outermost' || from === 'cli') return undefined;
  if (from === 'capabilities' && roomOf(path) === roomOf(target))
    return layerFault(roleOf(path), roleOf(target));
  if (roleOf(target) === 'service' || isComposedStore(path, target)) return undefined;
  // other senders of the same values are held to the same rules
  if (from === 'interfaces' && posix.basename(target) === 'schema.ts') return undefined;
  return 'another capability is reached through its service.ts';
}

function isComposedStore(path, target) {
  if (roleOf(path) !== 'store' || roleOf(target) !== 'store') return false;
  return composedStores.some(({ from, to }) => roomOf(path) === from && roomOf(target) === to);
}

function layerFault(from, to) {
  if (from === 'routes' && to === 'store') return 'routes reach the store through the service';
  if (from === 'service' && to === 'routes') return 'a service does not know its routes';
  if (from === 'store' && (to === 'service' || to === 'routes')) return 'a store does not know who uses it';
  return undefined;
}

function coreStaysPure(path, module) {
  if (wingOf(path) !== 'core') return [];
  const packages = module.imports.filter(({ from }) => foreignToCore.test(from));
  const calls = mayUseTimers.test(path)
    ? []
    : module.calls.filter(({ name, bare }) => bare && timers.has(name));
  return [
    ...packages.map(
      ({ from, line }) => `${path}:${line} imports ${from}: the core gets such things through a port`,
    ),
    ...calls.map(
      ({ name, line }) => `${path}:${line} calls ${name}: the core gets time through the port Timers`,
    ),
  ];
}

function sqlStaysInStores(path, module) {
  if (mayHoldSql.test(path)) return [];
  const isSql = (text) => sql.test(text) || sql.test(uncapitalised(text));
  return [
    ...module.literals.filter(({ text }) => isSql(text)),
    ...module.calls.filter(({ name, bare }) => !bare && queryBuilding.has(name)),
  ].map(({ line }) => `${path}:${line} holds SQL: it belongs in a store.ts or in a migration`);
}

/** SQL in capitals as in small letters, but not a sentence that begins with `Select`. */
function uncapitalised(text) {
  return /^\s*[A-Z]{2}/.test(text) ? text.toLowerCase() : text;
}

function noBarrels(path, module) {
  if (faces.has(path)) return [];
  if (posix.basename(path) === 'index.ts')
    return [`${path} is an index file: import from the file that has the code`];
  return module.isBarrel
    ? [`${path} only exports what others have: import from the file that has the code`]
    : [];
}

function noLongFiles(path, module) {
  if (module.lines <= longest || longFiles[path]) return [];
  return [
    `${path} has ${module.lines} lines, more than ${longest}: split it by idea, or list it with its reason`,
  ];
}

/** Each cycle once, listed from its first file in the alphabet. */
function cycles(modules) {
  const found = new Map();
  const state = new Map();
  const walk = (path, trail) => {
    state.set(path, 'open');
    for (const { from } of modules.get(path).imports) {
      const named = from.startsWith('.') ? resolveImport(path, from) : undefined;
      const target = [named, `${named}x`].find((one) => modules.has(one));
      if (!target) continue;
      if (state.get(target) === 'open') addCycle(found, trail.slice(trail.indexOf(target)));
      else if (!state.has(target)) walk(target, [...trail, target]);
    }
    state.set(path, 'done');
  };
  for (const path of [...modules.keys()].sort()) if (!state.has(path)) walk(path, [path]);
  return [...found.values()];
}

function addCycle(found, members) {
  const first = members.indexOf([...members].sort()[0]);
  const ordered = [...members.slice(first), ...members.slice(0, first)];
  found.set(ordered.join(), `cycle: ${[...ordered, ordered[0]].join(' → ')}`);
}

function resolveImport(path, from) {
  return posix.join(posix.dirname(path), from).replace(/\.js$/, '.ts');
}

function wingOf(path) {
  return folderOf(path, wings);
}

function folderOf(path, folders) {
  const [first, ...rest] = path.split('/');
  return rest.length > 0 && first in folders ? first : 'outermost';
}

function roomOf(path) {
  return path.split('/')[1];
}

function roleOf(path) {
  return /(?:^|[-/])(routes|service|store)\.ts$/.exec(path)?.[1];
}

/** Long files that are listed but gone or short again would be reasons for nothing. */
function staleReasons(files) {
  return Object.keys(longFiles)
    .filter((path) => !files.has(path))
    .map((path) => `scripts/check-imports.mjs lists ${path}, which does not exist`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const packages = join(dirname(fileURLToPath(import.meta.url)), '../packages');
  const files = readSources(join(packages, 'runyard/src'));
  const ofClient = [...readSources(join(packages, 'client/src'))].filter(
    ([path]) => !path.startsWith('generated/'),
  );
  const manifest = JSON.parse(readFileSync(join(packages, 'console/package.json'), 'utf8'));
  const violations = [
    ...findViolations(files),
    ...staleReasons(files),
    ...findViolations(new Map(ofClient)),
    ...findConsoleViolations(
      readSources(join(packages, 'console/src')),
      Object.keys(manifest.devDependencies),
    ),
  ];
  for (const violation of violations) console.log(violation);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
