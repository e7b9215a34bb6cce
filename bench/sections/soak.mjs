import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RunClient } from '../lib/run-client.mjs';
import { databases } from '../lib/servers.mjs';
import { openServiceDatabase } from '../lib/service-database.mjs';

/** So many of each work at the same time, one piece of work after the other. */
const callers = { runs: 4, streams: 4, cancels: 2, pauses: 2, reads: 1 };
/** Caches and compiled code have their size by then. */
const settledShare = 0.25;
const samplesWanted = 24;
const leastGapMs = 10_000;

const lists = ['/sessions', '/traces', '/approvals', '/metrics', '/sessions?sort_by=updated_at&page=5'];

/**
 * A mixed load over a long time: runs, streams, runs that are cancelled and runs that wait for a person, beside reads of
 * lists. What a server holds after garbage collection must not grow with the time; its database grows with the runs.
 */
export async function measureSoak({ start, postgres }, database, { minutes }, say) {
  const { title } = databases[database];
  const place = {
    dataDir: start.newFolder(),
    ...(database === 'postgres' && { database: await postgres.another() }),
  };
  const server = await start.runyard(database, place);
  const opened = await openServiceDatabase(place);
  const work = { over: false, runs: 0, failure: undefined };
  const working = Object.entries(callers).flatMap(([name, count]) =>
    Array.from({ length: count }, () => repeated(work, pieces[name](server.port, work))),
  );
  const gapMs = Math.max((minutes * 60_000) / samplesWanted, leastGapMs);
  const samples = [];
  const begun = performance.now();
  while (performance.now() - begun < minutes * 60_000 && work.failure === undefined) {
    await new Promise((resolve) => setTimeout(resolve, gapMs));
    const sample = await sampled(server, place, opened);
    samples.push({ ...sample, hours: (performance.now() - begun) / 3_600_000, runs: work.runs });
    say(`${title}: ${shownSample(samples.at(-1))}`);
  }
  work.over = true;
  await Promise.all(working);
  await opened.close();
  await server.stop();
  if (work.failure !== undefined) throw work.failure;
  return rowsOf(title, samples.slice(Math.floor(samples.length * settledShare)));
}

const pieces = {
  runs: (port, work) => counted(work, () => completed(new RunClient(port, 'plain'))),
  streams: (port, work) => counted(work, () => streamed(new RunClient(port, 'plain'))),
  cancels: (port, work) => counted(work, () => cancelled(new RunClient(port, 'endless'))),
  pauses: (port, work) => counted(work, () => continued(new RunClient(port, 'paying'))),
  reads: (port) => () => read(new RunClient(port, 'plain')),
};

function counted(work, once) {
  return async () => {
    await once();
    work.runs += 1;
  };
}

async function repeated(work, once) {
  try {
    while (!work.over) await once();
  } catch (error) {
    work.failure ??= error;
    work.over = true;
  }
}

async function completed(client) {
  const { body } = await client.create({ message: 'Hello', stream: 'false' });
  assertStatus(body, 'completed');
}

async function streamed(client) {
  const stream = await client.stream({ message: 'Hello' });
  await stream.until('RunCompleted');
}

async function cancelled(client) {
  const runId = client.newRunId();
  const stream = await client.stream({ message: 'Hello', run_id: runId });
  await stream.until('RunContent');
  await client.cancel(runId);
  await stream.until('RunCancelled');
}

async function continued(client) {
  const { body } = await client.create({ message: 'Pay', stream: 'false' });
  assertStatus(body, 'paused');
  assertStatus((await client.agree(body)).body, 'completed');
}

async function read(client) {
  for (const path of lists) await client.call('GET', path);
  await new Promise((resolve) => setTimeout(resolve, 500));
}

function assertStatus({ status }, expected) {
  if (status !== expected) throw new Error(`a run should be ${expected} and is ${status}`);
}

async function sampled(server, place, opened) {
  const { rss, heap, external } = await server.ask('memory');
  return {
    live: (heap + external) / 2 ** 20,
    resident: rss / 2 ** 20,
    handles: await server.ask('handles'),
    stored: await storedBytes(place, opened),
  };
}

async function storedBytes({ database, dataDir }, opened) {
  if (database === undefined)
    return readdirSync(dataDir)
      .filter((name) => name.startsWith('runyard.db'))
      .reduce((sum, name) => sum + statSync(join(dataDir, name)).size, 0);
  const { rows } = await opened.execute('SELECT pg_database_size(current_database()) AS bytes');
  return Number(rows[0].bytes);
}

function shownSample({ hours, runs, live, resident, handles, stored }) {
  const sizes = `live ${live.toFixed(1)} MiB, resident ${resident.toFixed(0)} MiB, ${handles} handles`;
  return `${(hours * 60).toFixed(1)} min, ${runs} runs, ${sizes}, ${(stored / 2 ** 20).toFixed(1)} MiB stored`;
}

/** The first and last values after the server has settled, and how fast the value grows. */
function rowsOf(where, samples) {
  const [first, last] = [samples.at(0), samples.at(-1)];
  const of = (what, unit, value) => ({
    what,
    where,
    unit,
    first: value(first),
    last: value(last),
    perHour: slope(samples.map((sample) => [sample.hours, value(sample)])),
    perRun: slope(samples.map((sample) => [sample.runs, value(sample)])),
  });
  return [
    of('live memory', 'MiB', ({ live }) => live),
    of('resident memory', 'MiB', ({ resident }) => resident),
    of('handles', '', ({ handles }) => handles),
    of('database', 'MiB', ({ stored }) => stored / 2 ** 20),
    of('runs', '', ({ runs }) => runs),
  ];
}

/** Of the straight line that is nearest to the points. */
function slope(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}
