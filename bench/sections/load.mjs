import { median, percentile } from '../lib/statistics.mjs';

/** What is measured under load. `target` bounds the CPU time of a run against the bare server's. */
export const shapes = [
  { name: 'runs', agentId: 'plain', stream: false, callers: 1 },
  { name: 'runs', agentId: 'plain', stream: false, callers: 32 },
  { name: 'streams', agentId: 'plain', stream: true, callers: 1 },
  { name: 'streams', agentId: 'plain', stream: true, callers: 32 },
  { name: 'streams-burst', agentId: 'burst', stream: true, callers: 32 },
];

/** Alternates between the two servers, so that whatever else the machine does hits both. */
export async function measureLoad({ bare, runyard, load }, shape, { rounds, milliseconds, warmUp }) {
  const samples = { bare: [], runyard: [] };
  const servers = { bare, runyard };
  for (const name of ['bare', 'runyard']) await oneRound(servers[name], load, shape, warmUp);
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? ['bare', 'runyard'] : ['runyard', 'bare'];
    for (const name of order) samples[name].push(await oneRound(servers[name], load, shape, { runs: 5000, milliseconds }));
  }
  return { bare: summary(samples.bare), runyard: summary(samples.runyard) };
}

export async function oneRound(server, load, shape, { runs, milliseconds }) {
  const before = await server.ask('usage');
  const result = await load.ask('load', { ...shape, port: server.port, runs, milliseconds });
  const cpu = (await server.ask('usage')) - before;
  return { ...result, cpuPerRun: cpu / result.runs };
}

function summary(rounds) {
  const of = (value) => median(rounds.map(value));
  const first = rounds.flatMap((round) => round.first ?? []);
  const whole = rounds.flatMap((round) => round.whole);
  return {
    cpuPerRun: of((round) => round.cpuPerRun),
    runsPerSecond: of((round) => round.runs / round.seconds),
    wholeMs: { p50: percentile(whole, 50), p99: percentile(whole, 99) },
    ...(first.length > 0 && { firstMs: { p50: percentile(first, 50), p99: percentile(first, 99) } }),
  };
}
