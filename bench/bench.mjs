import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, root } from '../scripts/lib/setup.mjs';
import { provideBenchDatabase } from './lib/bench-database.mjs';
import { startProcess, stopAllProcesses } from './lib/processes.mjs';
import { coldStartRows, loadRows, memoryRows, sessionRows } from './lib/rows.mjs';
import { databases, serverStarter } from './lib/servers.mjs';
import { machine, table } from './lib/table.mjs';
import { compareColdStarts } from './sections/cold-start.mjs';
import { compareUnderLoad, shapes, warmUp } from './sections/load.mjs';
import { measureIdleStreams } from './sections/memory.mjs';
import { compareSessionLengths } from './sections/session.mjs';

const sections = ['load', 'session', 'memory', 'start', 'durability'];
const usage = `npm run bench -- [--only ${sections.join('|')}]… [--sqlite] [--postgres] [--quick] [--json] [--profile <folder>]`;

const thorough = {
  load: { rounds: 5, milliseconds: 500 },
  warmUp: { runs: 3000, milliseconds: 3000 },
  session: { length: 1000, rounds: 2 },
  streams: 2000,
  starts: 5,
};
const quick = {
  load: { rounds: 3, milliseconds: 300 },
  warmUp: { runs: 1500, milliseconds: 2500 },
  session: { length: 1000, rounds: 1 },
  streams: 2000,
  starts: 3,
};

/** Starts what is needed, measures, prints the tables, and leaves nothing behind. */
export async function run(words) {
  const options = readOptions(words);
  await ensureInstalled();
  await ensureBuilt();
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
    sqlite: flag,
    postgres: flag,
    json: flag,
    profile: { type: 'string' },
  };
  let values;
  try {
    ({ values } = parseArgs({ args: words, options: known }));
  } catch (error) {
    fail(error.message);
  }
  const only = values.only ?? sections;
  const unknown = only.find((name) => !sections.includes(name));
  if (unknown !== undefined) fail(`There is no section '${unknown}'.`);
  const both = values.sqlite === values.postgres;
  return {
    only: new Set(only),
    databases: [
      ...(both || values.sqlite ? ['sqlite'] : []),
      ...(both || values.postgres ? ['postgres'] : []),
    ],
    amounts: values.quick ? quick : thorough,
    json: values.json === true,
    profileFolder: values.profile,
  };
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
  let postgresUrl;
  if (wanted.includes('postgres') && (only.has('load') || only.has('session'))) {
    const postgres = await provideBenchDatabase(signal);
    cleaning.push(postgres.stop);
    postgresUrl = postgres.url;
    say(`PostgreSQL: ${postgres.description}`);
  }
  const model = await startProcess('model-server');
  const load = await startProcess('load-generator');
  const start = serverStarter({ modelPort: await model.ask('port'), folder, postgresUrl, profileFolder });
  return { load, start, folder };
}

async function measure(options, setting) {
  const rows = [];
  const runyardRows = [];
  const { only, amounts } = options;
  for (const database of options.databases) {
    if (only.has('load')) rows.push(...(await underLoad(setting, database, amounts)));
    if (only.has('session')) runyardRows.push(...(await overASession(setting, database, amounts)));
  }
  if (options.databases.includes('sqlite')) {
    if (only.has('memory')) rows.push(...(await ofIdleStreams(setting, amounts)));
    if (only.has('start')) rows.push(...(await atStart(setting, amounts)));
  }
  const durabilityRows =
    options.databases.includes('sqlite') && only.has('durability')
      ? await betweenDurabilities(setting, amounts)
      : [];
  return { rows, runyardRows, durabilityRows };
}

async function underLoad({ load, start }, database, amounts) {
  const { title } = databases[database];
  const base = await start.bare(database);
  const measured = await start.runyard(database);
  say(`${title}: warming up`);
  for (const server of [base, measured]) await warmUp(load, server, amounts.warmUp);
  const rows = [];
  for (const shape of shapes) {
    say(`${title}: ${shape.name}, callers: ${shape.callers}`);
    const result = await compareUnderLoad(load, { base, measured }, shape, amounts.load);
    rows.push(...loadRows(title, shape, result));
  }
  await Promise.all([base.stop(), measured.stop()]);
  return rows;
}

async function overASession({ load, start }, database, amounts) {
  const { title } = databases[database];
  say(`${title}: the length of a session`);
  const server = await start.runyard(database);
  const result = await compareSessionLengths(load, server, amounts.session);
  await server.stop();
  return sessionRows(title, amounts.session.length, result);
}

async function ofIdleStreams({ load, start }, amounts) {
  say(`${amounts.streams} idle streams`);
  const results = [];
  for (const kind of ['bare', 'runyard']) {
    const server = await start[kind]('sqlite');
    results.push(await measureIdleStreams(load, server, amounts.streams));
    await server.stop();
  }
  return memoryRows('SQLite', amounts.streams, ...results);
}

async function atStart({ folder }, amounts) {
  say('cold start');
  return coldStartRows(await compareColdStarts(folder, amounts.starts));
}

/** What surviving a power cut costs: Runyard against itself. */
async function betweenDurabilities({ load, start }, amounts) {
  const base = await start.runyard('crash');
  const measured = await start.runyard('sqlite');
  for (const server of [base, measured]) await warmUp(load, server, amounts.warmUp);
  const rows = [];
  for (const shape of shapes.slice(0, 2)) {
    say(`durability: ${shape.name}, callers: ${shape.callers}`);
    const result = await compareUnderLoad(load, { base, measured }, shape, amounts.load);
    rows.push(...loadRows('SQLite', shape, result).map((row) => ({ ...row, target: '', met: null })));
  }
  await Promise.all([base.stop(), measured.stop()]);
  return rows;
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function print({ rows, runyardRows, durabilityRows }, { json }) {
  const where = machine();
  if (json) {
    console.log(JSON.stringify({ machine: where, rows, runyardRows, durabilityRows }, null, 2));
    return;
  }
  console.log(
    `\n${where.date}, Node ${where.node}, ${where.platform}, ${where.cores} cores, ${where.memoryGiB} GiB\n`,
  );
  if (rows.length > 0) console.log(`${table(rows, { base: 'Bare', measured: 'Runyard' })}\n`);
  if (runyardRows.length > 0) console.log(`${table(runyardRows, { base: 'First', measured: 'Last' })}\n`);
  if (durabilityRows.length > 0) {
    console.log(`${table(durabilityRows, { base: 'process-crash', measured: 'power-cut' })}\n`);
  }
}
