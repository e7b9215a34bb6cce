import { stalledAfter, tokens } from '../../lib/answer.mjs';
import { freePort, isHealthy } from '../../lib/ports.mjs';
import { row } from '../../lib/rows.mjs';
import { RunClient, until } from '../../lib/run-client.mjs';
import { median } from '../../lib/statistics.mjs';

const lastToken = `"content":"${tokens[stalledAfter - 1]}"`;

/** Embedded: from starting a process where another one was killed until the next event of its run has come. */
export async function measureRestarts({ start }, { title }, { rounds }) {
  const samples = { alone: [], next: [], beyond: [] };
  for (let round = 0; round < rounds; round += 1) {
    const place = { dataDir: start.newFolder(), port: await freePort() };
    const first = await start.runyard('sqlite', place);
    const { runId, last } = await interrupted(place.port);
    await first.kill();
    const begun = performance.now();
    const second = await startedAndHealthy(start, place);
    const stream = await new RunClient(place.port, 'stalled').follow(runId, last);
    await stream.after(last);
    const next = performance.now() - begun;
    await new RunClient(place.port, 'stalled').cancel(runId);
    await second.stop();
    const again = performance.now();
    const third = await startedAndHealthy(start, place);
    const alone = performance.now() - again;
    samples.next.push(next);
    samples.alone.push(alone);
    samples.beyond.push(next - alone);
    await third.stop();
  }
  const common = { where: title, unit: 'ms' };
  const [base, measured] = [median(samples.alone), median(samples.next)];
  return [
    row({ ...common, what: 'restart on the same data, against one with nothing to do', base, measured }),
    row({ ...common, what: 'of that, more than the start itself', measured: median(samples.beyond) }),
  ];
}

/** Two processes on one database: from the kill until the first event that the other one adds. */
export async function measureTakingOver({ start }, { title, database }, { takeovers, leaseMs }) {
  const samples = [];
  const survivor = await start.runyard(database, { leaseMs });
  for (let round = 0; round < takeovers; round += 1) {
    const victim = await start.runyard(database, { leaseMs });
    const { runId, last } = await interrupted(victim.port);
    const client = new RunClient(survivor.port, 'stalled');
    const stream = await client.follow(runId, last);
    // the lease is renewed now and then: without a pause of another length each time, every kill would come
    // equally long after a renewal
    await new Promise((resolve) => setTimeout(resolve, (leaseMs / 3) * (round / takeovers)));
    const begun = performance.now();
    await victim.kill();
    await stream.after(last);
    samples.push(performance.now() - begun);
    await client.cancel(runId);
    await stream.over;
  }
  await survivor.stop();
  const common = { where: `${title}, two processes`, unit: 'ms', base: leaseMs };
  return [
    row({ ...common, what: 'taken over by the other process, median', measured: median(samples) }),
    row({ ...common, what: 'taken over by the other process, slowest', measured: Math.max(...samples) }),
  ];
}

/** A run that is in the middle of its answer, with every event stored that it has had, and no more to come. */
async function interrupted(port) {
  const client = new RunClient(port, 'stalled');
  const runId = client.newRunId();
  const stream = await client.stream({ run_id: runId, message: 'Go' });
  await stream.untilLast(lastToken);
  const { last } = stream;
  // a reader receives only what is stored
  const reader = await until('the run is stored', () => client.follow(runId).catch(() => undefined));
  await reader.untilLast(lastToken);
  await reader.close();
  return { runId, last };
}

async function startedAndHealthy(start, place) {
  const starting = start.runyard('sqlite', place);
  await until('the server is up', async () => ((await isHealthy(place.port)) ? true : undefined));
  return starting;
}
