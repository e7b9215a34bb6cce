import { row } from '../lib/rows.mjs';
import { median } from '../lib/statistics.mjs';
import { oneRound } from './load.mjs';

const where = 'PostgreSQL and Redis';
const shapes = [
  { what: 'runs', agentId: 'plain', stream: false },
  { what: 'streams', agentId: 'plain', stream: true },
];
/** All processes together have as many callers as the one. */
const callers = 30;
const processes = 3;
const runsAtOnce = 10_000;

/** One process and three: what a run costs with the same callers, and what an open stream holds. */
export async function measureFleet({ load, start, postgres, redis }, amounts, say) {
  say(`one process and ${processes}`);
  const settings = async () => ({
    database: await postgres.another(),
    redis: redis.url,
    maxConcurrentRuns: runsAtOnce,
  });
  const alone = [await start.runyard('postgres', await settings())];
  const together = await settings();
  const several = [];
  while (several.length < processes) several.push(await start.runyard('postgres', together));
  const rows = [];
  for (const shape of shapes) rows.push(await costRow(load, { alone, several }, shape, amounts));
  say(`${amounts.streams} open streams over two processes`);
  rows.push(await streamsRow(load, { alone, several: several.slice(0, 2) }, amounts.streams));
  await Promise.all([...alone, ...several].map((server) => server.stop()));
  return rows;
}

async function costRow(load, sides, { what, ...shape }, { rounds, milliseconds }) {
  const samples = { alone: [], several: [] };
  for (let round = -1; round < rounds; round += 1) {
    for (const [side, servers] of Object.entries(sides)) {
      const each = { ...shape, callers: callers / servers.length };
      const bounds = { runs: 5000, milliseconds };
      const results = await Promise.all(servers.map((server) => oneRound(load, server, each, bounds)));
      const runs = results.reduce((sum, result) => sum + result.runs, 0);
      const cpu = results.reduce((sum, result) => sum + result.cpuPerRun * result.runs, 0);
      // in the first round compilers are busy
      if (round >= 0) samples[side].push(cpu / runs / 1000);
    }
  }
  return row({
    what: `CPU of ${what}, ${callers} callers`,
    where,
    unit: 'ms',
    base: median(samples.alone),
    measured: median(samples.several),
  });
}

/** The one process has half of the streams, as each of the two. */
async function streamsRow(load, { alone, several }, count) {
  const perStream = async (servers) => {
    const memory = async () => {
      const all = await Promise.all(servers.map((server) => server.ask('memory')));
      return all.reduce((sum, { rss }) => sum + rss, 0);
    };
    const before = await memory();
    const each = count / 2;
    for (const { port } of servers) await load.ask('openStreams', { port, count: each });
    const held = ((await memory()) - before) / (each * servers.length) / 1024;
    for (const server of servers) await server.ask('release');
    await load.ask('streamsEnded');
    return held;
  };
  return row({
    what: `resident memory of an open stream, ${count} over two processes`,
    where,
    unit: 'KiB',
    base: await perStream(alone),
    measured: await perStream(several),
  });
}
