import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { provideRedis } from '../scripts/lib/redis.mjs';
import { root } from '../scripts/lib/setup.mjs';
import { quick, thorough } from './lib/amounts.mjs';
import { provideBenchDatabase } from './lib/bench-database.mjs';
import { startProcess, stopAllProcesses } from './lib/processes.mjs';
import {
  agentRows,
  coldStartRows,
  evalRows,
  loadRow,
  memoryRows,
  sessionRows,
  streamRows,
  teamWorkflowRows,
} from './lib/rows.mjs';
import { databases, serverStarter } from './lib/servers.mjs';
import {
  loadTable,
  machine,
  peersTable,
  profilesTable,
  searchTable,
  soakTable,
  table,
  unboundedTable,
  viewsTable,
} from './lib/table.mjs';
import { compareColdStarts } from './sections/cold-start.mjs';
import { measureComponents } from './sections/components.mjs';
import { measureFleet } from './sections/fleet.mjs';
import { measureIngest } from './sections/ingest.mjs';
import { measureInterfaceStarts, measureInterfaces } from './sections/interfaces.mjs';
import { lifeSections, measureLives } from './sections/life.mjs';
import { compareUnderLoad, profileUnderLoad, shapes, warmUp } from './sections/load.mjs';
import { measureIdleStreams } from './sections/memory.mjs';
import { compareModelAdapters } from './sections/model-adapters.mjs';
import { measurePeers } from './sections/peers.mjs';
import { measureReplicas } from './sections/replicas.mjs';
import { measureSchedules } from './sections/schedules.mjs';
import { measureKnowledgeSearch } from './sections/search.mjs';
import { compareSessionLengths } from './sections/session.mjs';
import { measureSoak } from './sections/soak.mjs';
import { parts } from './sections/teams-workflows.mjs';
import { measureViews, viewGroups } from './sections/views.mjs';

const lifeNames = Object.keys(lifeSections);
const onBothDatabases = [
  'load',
  'session',
  'recording',
  'views',
  'search',
  'ingest',
  'schedules',
  'components',
  'interfaces',
  ...lifeNames,
];
const sections = [
  ...onBothDatabases,
  'memory',
  'start',
  'durability',
  'models',
  'agents',
  'teams-workflows',
  'evals',
  'replicas',
];
/** Only when they are asked for: they install packages, or take long. */
const optional = ['peers', 'soak'];
const usage = `npm run bench -- [--only ${[...sections, ...optional].join('|')}]… [--sqlite] [--postgres] [--quick] [--million] [--scale <part>] [--minutes <count>] [--json] [--profile <folder>]`;

/** Starts what is needed, measures, prints the tables, and leaves nothing behind. */
export async function run(words) {
  const options = readOptions(words);
  const cleaning = [];
  const clean = async () => {
    await stopAllProcesses();
    for (const work of cleaning.splice(0).reverse()) await work();
  };
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      interruption.abort();
      clean().finally(() => process.exit(1));
    });
  }
  try {
    const setting = await prepare(options, cleaning, interruption.signal);
    print(await measure(options, setting), options);
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
  } finally {
    await clean();
  }
}

function readOptions(words) {
  const flag = { type: 'boolean' };
  const known = {
    only: { type: 'string', multiple: true },
    quick: flag,
    million: flag,
    sqlite: flag,
    postgres: flag,
    scale: { type: 'string' },
    minutes: { type: 'string' },
    json: flag,
    profile: { type: 'string' },
    help: flag,
  };
  let values;
  try {
    ({ values } = parseArgs({ args: words, options: known }));
  } catch (error) {
    fail(error.message);
  }
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const only = values.only ?? sections;
  const unknown = only.find((name) => !sections.includes(name) && !optional.includes(name));
  if (unknown !== undefined) fail(`There is no section '${unknown}'.`);
  const both = values.sqlite === values.postgres;
  return {
    only: new Set(only),
    databases: [
      ...(both || values.sqlite ? ['sqlite'] : []),
      ...(both || values.postgres ? ['postgres'] : []),
    ],
    amounts: withMillion(values.quick ? quick : thorough, values.million),
    scale: readScale(values.scale),
    minutes: readMinutes(values.minutes),
    json: values.json === true,
    profileFolder: values.profile,
  };
}

/** Filling it with a million chunks takes half an hour: it is measured only where that is asked for. */
function withMillion(amounts, isWanted) {
  return isWanted ? { ...amounts, search: { ...amounts.search, sizes: [1_000_000] } } : amounts;
}

/** How much of the seeded database is made, for a look that is not a measurement. */
function readScale(text = '1') {
  const scale = Number(text);
  if (!(scale >= 0.01 && scale <= 1)) fail(`--scale is a number from 0.01 to 1, not '${text}'.`);
  return scale;
}

/** How long the soak takes on each database. */
function readMinutes(text = '60') {
  const minutes = Number(text);
  if (!(minutes >= 1)) fail(`--minutes is a number from 1 on, not '${text}'.`);
  return minutes;
}

function fail(message) {
  console.error(`${message}\nUsage: ${usage}`);
  process.exit(2);
}

/** The model server, the callers, a folder on the disk of this checkout, and PostgreSQL if it is wanted. */
async function prepare({ databases: wanted, only, profileFolder }, cleaning, signal) {
  const parent = join(root, 'node_modules/.cache/runyard-bench');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'data-'));
  cleaning.push(async () => rmSync(folder, { recursive: true, force: true }));
  let postgres;
  if (
    wanted.includes('postgres') &&
    [...onBothDatabases, 'soak', 'replicas'].some((name) => only.has(name))
  ) {
    postgres = await provideBenchDatabase(signal);
    cleaning.push(postgres.stop);
    say(`PostgreSQL: ${postgres.description}`);
  }
  let redis;
  if (postgres !== undefined && only.has('replicas')) {
    redis = await provideRedis(signal);
    cleaning.push(redis.stop);
    say(`Redis: ${redis.description}`);
  }
  const model = await startProcess('model-server');
  const load = await startProcess('load-generator');
  const modelPort = await model.ask('port');
  const start = serverStarter({ modelPort, folder, postgresUrl: postgres?.url, profileFolder });
  return { model, load, start, folder, modelPort, postgres, redis, profileFolder };
}

async function measure(options, setting) {
  const { only, amounts, scale, databases: wanted } = options;
  const results = {
    load: [],
    profiles: [],
    other: [],
    session: [],
    durability: [],
    models: [],
    agents: [],
    parts: [],
    evals: [],
    interfaceStarts: [],
    replicas: [],
    fleet: [],
    peers: [],
    soak: [],
  };
  for (const name of [
    ...lifeNames,
    'recording',
    'views',
    'search',
    'ingest',
    'schedules',
    'components',
    'interfaces',
  ])
    results[name] = [];
  for (const database of wanted) {
    if (only.has('load')) await underLoad(setting, database, amounts, results);
    if (only.has('session')) results.session.push(...(await overASession(setting, database, amounts)));
    if (only.has('recording')) results.recording.push(...(await withTraces(setting, database, amounts)));
    if (only.has('views'))
      results.views.push(...(await measureViews(setting, database, { ...amounts.views, scale }, say)));
    if (only.has('search'))
      results.search.push(
        ...(await measureKnowledgeSearch(setting, database, { ...amounts.search, scale }, say)),
      );
    if (only.has('ingest'))
      results.ingest.push(...(await measureIngest(setting, database, amounts.ingest, say)));
    if (only.has('schedules'))
      results.schedules.push(...(await measureSchedules(setting, database, amounts.schedules, say)));
    if (only.has('soak')) results.soak.push(...(await measureSoak(setting, database, options, say)));
    if (only.has('components'))
      results.components.push(...(await measureComponents(setting, database, amounts.components, say)));
    if (only.has('interfaces'))
      results.interfaces.push(...(await measureInterfaces(setting, database, amounts.interfaces, say)));
    const lives = await measureLives(setting, database, options, say);
    for (const [name, rows] of Object.entries(lives)) results[name].push(...rows);
  }
  if (only.has('replicas') && wanted.includes('postgres')) {
    results.replicas = await measureReplicas(setting, amounts.replicas, say);
    results.fleet = await measureFleet(setting, amounts.fleet, say);
  }
  if (only.has('peers')) results.peers = await measurePeers(setting, amounts.peers, say);
  // The rest is about the embedded default.
  if (!wanted.includes('sqlite')) return results;
  if (only.has('interfaces'))
    results.interfaceStarts = await measureInterfaceStarts(setting, amounts.interfaces, say);
  if (only.has('memory')) results.other.push(...(await ofIdleStreams(setting, amounts)));
  if (only.has('start')) results.other.push(...(await atStart(setting, amounts)));
  if (only.has('durability')) results.durability = await betweenDurabilities(setting, amounts);
  if (only.has('models')) results.models = await throughAdapters(amounts);
  if (only.has('agents')) results.agents = await insideAgents(amounts);
  if (only.has('teams-workflows')) results.parts = await insideTeamsAndWorkflows(setting, amounts);
  if (only.has('evals')) results.evals = await insideEvals(setting, amounts);
  return results;
}

/** Runyard against the cheapest bare server, and against one that calls the model in the usual way. */
async function underLoad({ load, start, profileFolder }, database, amounts, results) {
  const { title } = databases[database];
  const measured = await start.runyard(database, profileFolder === undefined ? {} : { files: 'dist' });
  const base = await start.bare(database);
  const usual = await start.bare(database, { via: 'agent' });
  const servers = { base, usual, measured };
  say(`${title}: warming up`);
  for (const server of Object.values(servers)) await warmUp(load, server, amounts.warmUp);
  for (const shape of shapes) {
    say(`${title}: ${shape.name}, callers: ${shape.callers}`);
    const result = await compareUnderLoad(load, servers, shape, amounts.load);
    results.load.push(loadRow(title, shape, result, true));
    if (shape.stream) results.other.push(...streamRows(title, shape, result));
    if (profileFolder !== undefined)
      results.profiles.push(await profileUnderLoad(load, measured, shape, { title, profileFolder }));
  }
  await Promise.all(Object.values(servers).map((server) => server.stop()));
}

async function overASession({ load, start }, database, amounts) {
  const { title } = databases[database];
  say(`${title}: the length of a session`);
  const server = await start.runyard(database);
  const result = await compareSessionLengths(load, server, amounts.session);
  await server.stop();
  return sessionRows(title, result);
}

/** Each time on a server that was started for it; how much of its memory is slack differs from time to time. */
async function ofIdleStreams({ load, start }, { streams: { count, repetitions } }) {
  say(`${count} idle streams`);
  const results = { bare: [], runyard: [] };
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    for (const kind of ['bare', 'runyard']) {
      const server = await start[kind]('sqlite', { maxConcurrentRuns: 10_000 });
      results[kind].push(await measureIdleStreams(load, server, count));
      await server.stop();
    }
  }
  return memoryRows('SQLite', count, results);
}

async function atStart({ folder }, amounts) {
  say('cold start');
  return coldStartRows('SQLite', await compareColdStarts(folder, amounts.starts));
}

/** What surviving a power cut costs: Runyard against itself. */
async function betweenDurabilities({ load, start }, amounts) {
  const servers = { base: await start.runyard('crash'), measured: await start.runyard('sqlite') };
  return againstItself(load, servers, amounts, { name: 'durability', where: 'SQLite' });
}

/** What recording traces costs: Runyard against itself. */
async function withTraces({ load, start }, database, amounts) {
  const { title } = databases[database];
  const servers = {
    base: await start.runyard(database, { traces: false }),
    measured: await start.runyard(database, { traces: true }),
  };
  return againstItself(load, servers, amounts, { name: `${title}: recording`, where: title });
}

async function againstItself(load, { base, measured }, amounts, { name, where }) {
  for (const server of [base, measured]) await warmUp(load, server, amounts.warmUp);
  const rows = [];
  for (const shape of shapes.slice(0, 2)) {
    say(`${name}: ${shape.name}, callers: ${shape.callers}`);
    const result = await compareUnderLoad(load, { base, measured }, shape, amounts.load);
    rows.push(loadRow(where, shape, result, false));
  }
  await Promise.all([base.stop(), measured.stop()]);
  return rows;
}

function throughAdapters({ adapters }) {
  say('model adapters');
  return compareModelAdapters(adapters);
}

async function insideAgents({ agents }) {
  say('agents');
  const worker = await startProcess('agent-meter', agents, ['--expose-gc']);
  const measured = await worker.ask('measure');
  await worker.stop();
  return agentRows(measured);
}

async function insideTeamsAndWorkflows({ start }, { teamsWorkflows }) {
  say('teams and workflows');
  const worker = await startProcess('team-workflow-meter', { ...teamsWorkflows, dataDir: start.newFolder() });
  const measured = await worker.ask('measure');
  await worker.stop();
  return teamWorkflowRows(parts, measured);
}

async function insideEvals({ start }, { evals }) {
  say('evals');
  const worker = await startProcess('eval-meter', { ...evals, dataDir: start.newFolder() });
  const measured = await worker.ask('measure');
  await worker.stop();
  return evalRows(measured);
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function print(results, { json }) {
  const where = machine();
  if (json) {
    console.log(JSON.stringify({ machine: where, ...results }, null, 2));
    return;
  }
  const { date, node, platform, cores, memoryGiB } = where;
  const tables = [
    ['Load', results.load, (rows) => loadTable(rows, 'bare', 'Runyard')],
    ['Peers', results.peers, peersTable],
    ['Soak', results.soak, soakTable],
    ['Where the time goes', results.profiles, profilesTable],
    ['Streams and starts', results.other, (rows) => table(rows, 'Bare', 'Runyard')],
    ['CPU per streamed token, by adapter', results.models, (rows) => table(rows, 'Bare relay', 'Adapter')],
    ['Inside an agent', results.agents, (rows) => table(rows, 'Bare', 'Runyard')],
    ['Inside teams and workflows', results.parts, (rows) => table(rows, 'Bare', 'Runyard')],
    ['First and 1,000th run of a session', results.session, (rows) => table(rows, 'First', '1,000th')],
    [
      'Price of surviving a power cut',
      results.durability,
      (rows) => loadTable(rows, 'process-crash', 'power-cut'),
    ],
    ['Price of recording', results.recording, (rows) => loadTable(rows, 'traces: false', 'traces: true')],
    ['Search of knowledge, 256 dimensions', results.search, searchTable],
    ['Ingestion of knowledge', results.ingest, (rows) => table(rows, 'Idle', 'Beside it')],
    ['Schedules', results.schedules, (rows) => table(rows, 'Without', '10,000 schedules')],
    ['Stored components', results.components, (rows) => table(rows, 'In code', 'Stored')],
    ['Interfaces', results.interfaces, (rows) => table(rows, 'Over REST', 'Over it')],
    ['Start with and without MCP and A2A', results.interfaceStarts, (rows) => table(rows, 'Without', 'With')],
    ['Two processes', results.replicas, (rows) => table(rows, 'Executing one', 'Other one')],
    ['Several processes', results.fleet, (rows) => table(rows, 'One', 'Several')],
    ['Evals', results.evals, (rows) => table(rows, 'Bare loop', 'Eval')],
    ...viewGroups.map((group) => {
      const rows = results.views.filter((row) => row.group === group);
      const render = group === 'unbounded' ? unboundedTable : viewsTable;
      return [`Lists, searches and details: ${group}`, rows, render];
    }),
    ...lifeNames.map((name) => {
      const { title, columns } = lifeSections[name];
      return [title, results[name], (rows) => table(rows, ...columns)];
    }),
  ];
  console.log(`\n${date}, Node ${node}, ${platform}, ${cores} cores, ${memoryGiB} GiB`);
  for (const [title, rows, render] of tables) {
    if (rows.length > 0) console.log(`\n${title}\n\n${render(rows)}`);
  }
}
