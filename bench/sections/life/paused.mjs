import { look } from '../../lib/idle.mjs';
import { row } from '../../lib/rows.mjs';
import { manyTimes, RunClient, timed } from '../../lib/run-client.mjs';
import { median } from '../../lib/statistics.mjs';
import { oneRound } from '../load.mjs';

const callers = 16;
const wakingAnswers = 10;
const warmingShape = { agentId: 'plain', stream: true, callers: 32 };

/**
 * A server without paused runs against the same one with many: what it costs that they are there, and whether it
 * shows when one of them is answered. It has been under load and has had paused runs before. Answering is measured
 * without them last: code gets faster with use, and so this is not in favour of the many.
 */
export async function measurePausedRuns({ start, load }, { title, database }, { count, seconds, answers }) {
  const server = await start.runyard(database);
  const client = new RunClient(server.port, 'paying');
  await oneRound(load, server, warmingShape, { runs: 1500, milliseconds: 4000 });
  await manyTimes(1000, callers, async () => client.agree(await pause(client)));
  const without = await look(server, seconds);
  const paused = await pauseMany(client, count);
  const within = await look(server, seconds);
  const some = wakingAnswers + answers;
  const many = await answerSome(client, paused.slice(0, some));
  const rest = paused.slice(some);
  await manyTimes(rest.length, callers, (position) => client.agree(rest[position]));
  const few = await answerSome(client, await pauseMany(client, some));
  await server.stop();
  const both = (what, unit, base, measured) => row({ what, where: title, unit, base, measured });
  return [
    both('CPU while nothing happens', 'ms/s', without.cpu, within.cpu),
    both('live memory', 'MiB', without.live, within.live),
    both('resident memory', 'MiB', without.resident, within.resident),
    both('answering one of them until the run has ended, p50', 'ms', few, many),
  ];
}

function pauseMany(client, count) {
  return manyTimes(count, callers, () => pause(client));
}

async function pause(client) {
  const { body } = await client.create({ message: 'Pay', stream: 'false' });
  if (body.status !== 'paused') throw new Error(`a run should be paused and is ${body.status}`);
  return body;
}

/** One after the other: what one answer takes, not what the server can do. The first few do not count. */
async function answerSome(client, runs) {
  const times = [];
  for (const run of runs) {
    const { value, milliseconds } = await timed(() => client.agree(run));
    if (value.body.status !== 'completed') throw new Error(`an answered run is ${value.body.status}`);
    times.push(milliseconds);
  }
  return median(times.slice(wakingAnswers));
}
