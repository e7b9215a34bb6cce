import { median } from '../lib/statistics.mjs';
import { oneRound } from './load.mjs';

const shape = { agentId: 'history', stream: false };
const window = 50;
const block = 10;

/**
 * The last runs of a long session against the first runs of new ones, with history on. In turns and on the same
 * server, so that the length of the session is all that differs.
 */
export async function compareSessionLengths(load, server, { length, rounds }) {
  const long = `long-${process.pid}`;
  await oneRound(load, server, { ...shape, callers: 16 }, { runs: 2000, milliseconds: 4000 });
  await oneRound(
    load,
    server,
    { ...shape, callers: 16, sessionId: long },
    { runs: length - window * rounds, milliseconds: 20_000 },
  );
  const samples = { first: [], last: [] };
  for (let round = 0; round < rounds; round += 1) {
    const sessions = { first: `new-${process.pid}-${round}`, last: long };
    for (let part = 0; part < window / block; part += 1) {
      const order = part % 2 === 0 ? ['first', 'last'] : ['last', 'first'];
      for (const name of order) samples[name].push(await nextBlock(load, server, sessions[name]));
    }
  }
  return { first: summary(samples.first), last: summary(samples.last) };
}

function nextBlock(load, server, sessionId) {
  const bounds = { runs: block, milliseconds: 60_000 };
  return oneRound(load, server, { ...shape, callers: 1, sessionId }, bounds);
}

function summary(blocks) {
  return {
    wholeMs: median(blocks.flatMap((result) => result.whole)),
    cpuPerRun: median(blocks.map((result) => result.cpuPerRun)),
  };
}
