import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { busySamples, samplesByPart } from '../lib/profile-parts.mjs';
import { median, percentile } from '../lib/statistics.mjs';

/** What the callers do. `burst`: the model's tokens come in one packet instead of one packet each. */
export const shapes = [
  { name: 'runs', agentId: 'plain', stream: false, callers: 1 },
  { name: 'runs', agentId: 'plain', stream: false, callers: 32 },
  { name: 'streams', agentId: 'plain', stream: true, callers: 1 },
  { name: 'streams', agentId: 'plain', stream: true, callers: 32 },
  { name: 'streams in a burst', agentId: 'burst', stream: true, callers: 32 },
];

const mostRunsPerRound = 5000;

/** Compilers count calls: with many callers a server has made them soonest. More code takes more calls. */
export async function warmUp(load, server, bounds) {
  await oneRound(load, server, shapes[1], bounds.runs);
  await oneRound(load, server, shapes[3], bounds.streams);
}

/**
 * Loads several servers in turns, so that whatever else the machine does hits all of them, and takes the median of
 * each. Each load uses code of its own: a service that runs for hours has compiled it, so it is compiled before the
 * first round.
 */
export async function compareUnderLoad(load, servers, shape, { rounds, milliseconds, warmUpMs }) {
  const names = Object.keys(servers);
  for (const name of names)
    await oneRound(load, servers[name], shape, { runs: mostRunsPerRound, milliseconds: warmUpMs });
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const bounds = { runs: mostRunsPerRound, milliseconds };
      samples[name].push(await oneRound(load, servers[name], shape, bounds));
    }
  }
  return Object.fromEntries(names.map((name) => [name, summary(samples[name])]));
}

/** Where the time of a run goes, by part, as shares of all samples. The profiles are kept in the folder. */
export async function profileUnderLoad(load, server, shape, { title, profileFolder }) {
  await server.ask('startProfile');
  await oneRound(load, server, shape, { runs: 1000, milliseconds: 10_000 });
  const [main, ...others] = await server.ask('stopProfile');
  mkdirSync(profileFolder, { recursive: true });
  const name = `${title}-${shape.name}-${shape.callers}`.replaceAll(' ', '-');
  for (const [position, profile] of [main, ...others].entries())
    writeFileSync(join(profileFolder, `${name}-thread-${position}.cpuprofile`), JSON.stringify(profile));
  const samples = samplesByPart(main);
  for (const profile of others) samples['storage thread'] += busySamples(profile);
  return { what: `${title}: ${shape.name}, ${shape.callers}`, samples };
}

export async function oneRound(load, server, shape, bounds) {
  const before = await server.ask('usage');
  const result = await load.ask('load', { ...shape, ...bounds, port: server.port });
  const cpu = (await server.ask('usage')) - before;
  return { ...result, cpuPerRun: cpu / result.runs };
}

function summary(rounds) {
  const whole = rounds.flatMap((round) => round.whole);
  const first = rounds.flatMap((round) => round.first);
  return {
    cpuPerRun: median(rounds.map((round) => round.cpuPerRun)),
    runsPerSecond: median(rounds.map((round) => round.runs / round.seconds)),
    wholeMs: middleAndTail(whole),
    ...(first.length > 0 && { firstMs: middleAndTail(first) }),
  };
}

function middleAndTail(values) {
  return { p50: percentile(values, 50), p99: percentile(values, 99) };
}
