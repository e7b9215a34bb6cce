import { row } from '../lib/rows.mjs';
import { manyTimes, RunClient, timed } from '../lib/run-client.mjs';
import { percentile } from '../lib/statistics.mjs';

/** What connects two processes, and how late an event of one may be in the other. */
const ways = [
  { where: 'PostgreSQL alone', mostMs: 50, redis: false },
  { where: 'PostgreSQL and Redis', mostMs: 5, redis: true },
];

/**
 * Two processes on one database. How late an event is for a client of the process that executes the run, and for one of
 * the other process; and how long a cancel takes through each of them.
 */
export async function measureReplicas({ start, postgres, redis }, amounts, say) {
  const rows = [];
  for (const way of ways) {
    say(`two processes on ${way.where}`);
    const database = await postgres.another();
    const settings = { database, ...(way.redis && { redis: redis.url }) };
    const executing = await start.runyard('postgres', settings);
    const other = await start.runyard('postgres', settings);
    await lateness(executing, other, { ...amounts, events: 50 });
    for (const runs of [1, amounts.runs])
      rows.push(...lateRows(way, runs, await lateness(executing, other, { ...amounts, runs })));
    rows.push(...cancelRows(way, await cancelling(executing, other, amounts.cancels)));
    await Promise.all([executing.stop(), other.stop()]);
  }
  return rows;
}

function lateRows({ where, mostMs: most }, runs, { here, there }) {
  return [50, 99].map((percent) =>
    row({
      what: `from the model to the client, runs at once: ${runs}, p${percent}`,
      where,
      unit: 'ms',
      base: percentile(here, percent),
      measured: percentile(there, percent),
      most,
    }),
  );
}

function cancelRows({ where }, { here, there }) {
  return [50, 99].map((percent) =>
    row({
      what: `cancel, p${percent}`,
      where,
      unit: 'ms',
      base: percentile(here, percent),
      measured: percentile(there, percent),
    }),
  );
}

/** Each run is followed through both processes before its model says anything. */
async function lateness(executing, other, { runs, events, gapMs }) {
  const [here, there] = [executing, other].map(({ port }) => new RunClient(port, 'ticking'));
  const streams = await manyTimes(runs, runs, async () => {
    const form = { message: `${events} ${gapMs}`, background: 'true', stream: 'false' };
    const { run_id: runId } = (await here.create(form)).body;
    const both = [await here.follow(runId), await there.follow(runId)];
    await Promise.all(both.map((stream) => stream.until('ModelRequestStarted')));
    return both.map(lateIn);
  });
  await executing.ask('tick');
  const late = (side) => Promise.all(streams.map((both) => both[side]));
  return { here: (await late(0)).flat(), there: (await late(1)).flat() };
}

async function lateIn(stream) {
  const late = [];
  stream.response.on('data', (chunk) => {
    const now = performance.timeOrigin + performance.now();
    for (const [, sent] of chunk.matchAll(/"content":"at ([\d.]+)"/g)) late.push(now - Number(sent));
  });
  await stream.until('RunCompleted');
  await stream.close();
  return late;
}

async function cancelling(executing, other, count) {
  const [here, there] = [executing, other].map(({ port }) => new RunClient(port, 'working'));
  const through = (client) =>
    manyTimes(count, 1, async () => {
      const runId = here.newRunId();
      const stream = await here.stream({ run_id: runId, message: 'work' });
      await stream.until('ToolCallStarted');
      const { milliseconds } = await timed(() => client.cancel(runId));
      await stream.close();
      return milliseconds;
    });
  return { here: await through(here), there: await through(there) };
}
