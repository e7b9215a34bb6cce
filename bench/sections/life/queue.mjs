import { row } from '../../lib/rows.mjs';
import { manyTimes, RunClient, timed, until } from '../../lib/run-client.mjs';
import { percentile } from '../../lib/statistics.mjs';

const callers = 16;

/** More runs than are executed at once, and more than may wait: how they are accepted, refused and finished. */
export async function measureQueue({ start }, { title, database }, { accepted, executing, refused }) {
  const bare = await start.bare(database);
  const limits = { maxConcurrentRuns: executing, maxWaitingRuns: accepted - executing };
  // a refused run is worth a warning, and here they are meant
  const runyard = await start.runyard(database, { ...limits, logLevel: 'error' });
  const base = await send(new RunClient(bare.port, 'waiting'), accepted);
  const client = new RunClient(runyard.port, 'waiting');
  const measured = await send(client, accepted);
  const surplus = await send(client, refused);
  assertAnswers(base, 202);
  assertAnswers(measured, 202);
  assertAnswers(surplus, 503);
  if (surplus.answers.some(({ headers }) => headers['retry-after'] === undefined))
    throw new Error('the answer to a refused run does not state when to retry');
  const finishing = await timed(async () => {
    await runyard.ask('release');
    await until('all runs have ended', () => emptyQueue(client), { everyMs: 10 });
  });
  await assertCompleted(client, measured.answers);
  await Promise.all([bare.stop(), runyard.stop()]);
  const both = (what, unit, value) =>
    row({ what, where: title, unit, base: value(base), measured: value(measured) });
  const alone = (what, unit, value) => row({ what, where: title, unit, measured: value });
  const perSecond = (milliseconds) => (accepted / milliseconds) * 1000;
  const all = `${accepted.toLocaleString('en')} runs, ${executing} executed at once`;
  return [
    both(`${all}: accepted, all`, 'ms', ({ whole }) => whole),
    both(`${all}: accepted, p50`, 'ms', ({ times }) => percentile(times, 50)),
    both(`${all}: accepted, p95`, 'ms', ({ times }) => percentile(times, 95)),
    alone(`${refused} more: refused with 503, p50`, 'ms', percentile(surplus.times, 50)),
    alone(`${all}: finished when the model answers, all`, 'ms', finishing.milliseconds),
    alone(`${all}: finished when the model answers`, 'runs/s', perSecond(finishing.milliseconds)),
  ];
}

async function send(client, count) {
  const begun = performance.now();
  const sent = await manyTimes(count, callers, () =>
    timed(() => client.create({ message: 'Go', background: 'true' })),
  );
  const whole = performance.now() - begun;
  return {
    whole,
    times: sent.map(({ milliseconds }) => milliseconds),
    answers: sent.map(({ value }) => value),
  };
}

function assertAnswers({ answers }, status) {
  const other = answers.find((answer) => answer.status !== status);
  if (other) throw new Error(`a run was answered with ${other.status}, not ${status}`);
}

async function emptyQueue(client) {
  const { runs } = (await client.call('GET', '/info')).body;
  return runs.executing + runs.waiting === 0 ? true : undefined;
}

async function assertCompleted(client, answers) {
  const runs = await manyTimes(answers.length, callers, (position) =>
    client.get(answers[position].body.run_id),
  );
  const other = runs.find(({ status }) => status !== 'completed');
  if (other) throw new Error(`an accepted run ended ${other.status}`);
}
