import { look } from '../lib/idle.mjs';
import { row } from '../lib/rows.mjs';
import { until } from '../lib/run-client.mjs';
import { databases } from '../lib/servers.mjs';
import { openServiceDatabase } from '../lib/service-database.mjs';
import { median, percentile } from '../lib/statistics.mjs';

/** So often a process looks for changes that others made: more often than by default, so that looking is measured. */
const schedulerPollSeconds = 1;
/** Ticks are stored so long before they are due: the process has looked by then. */
const leadMs = 1500;
const gapMs = 100;
const warmUps = { count: 100, gapMs: 25 };
/** Of the CPU time of an idle process, against one without schedules. */
const mostRatio = 1.2;

const columns = [
  ...['id', 'name', 'name_space', 'description', 'method', 'endpoint', 'payload', 'cron_expr', 'timezone'],
  ...['timeout_seconds', 'max_retries', 'retry_delay_seconds', 'overlap', 'missed', 'jitter_seconds'],
  ...['enabled', 'disabled_reason', 'source', 'retired_at', 'user_id', 'creator', 'revision'],
  ...['next_tick', 'due_at', 'created_at', 'updated_at'],
];

/**
 * What many schedules cost a process that has nothing to do, and how long after its tick the run of a schedule calls its
 * model: one tick after the other, and many at the same moment.
 */
export async function measureSchedules({ start, postgres }, database, amounts, say) {
  const { count, rounds, seconds, ticks } = amounts;
  const { title } = databases[database];
  say(`${title}: ${count} schedules`);
  const place = {
    dataDir: start.newFolder(),
    ...(database === 'postgres' && { database: await postgres.another() }),
  };
  const server = await start.runyard(database, { ...place, schedulerPollSeconds });
  const opened = await openServiceDatabase(place);
  await createSchedule(server.port);
  const idle = await measureIdle({ server, opened }, { count, rounds, seconds });
  await lateness({ server, opened }, 'warm', warmUps.count, warmUps.gapMs);
  const before = await server.ask('usage');
  const apart = await lateness({ server, opened }, 'apart', ticks, gapMs);
  const cpuMs = ((await server.ask('usage')) - before) / 1000;
  const together = await lateness({ server, opened }, 'together', ticks, 0);
  await opened.close();
  await server.stop();
  const both = (what, unit, value, bound) =>
    row({ what, where: title, unit, base: value(idle.without), measured: value(idle.within), ...bound });
  const delay = (what, times, percent) =>
    row({
      what: `from the tick to the run's call of the model, ${what}, p${percent}`,
      where: title,
      unit: 'ms',
      measured: percentile(times, percent),
    });
  return [
    both(`CPU while nothing happens`, 'ms/s', ({ cpu }) => cpu, { mostRatio }),
    both('live memory', 'MiB', ({ live }) => live),
    row({ what: 'CPU of a tick with its run', where: title, unit: 'ms', measured: cpuMs / ticks }),
    ...[50, 99].map((percent) => delay(`one every ${gapMs} ms`, apart, percent)),
    ...[50, 99].map((percent) => delay(`${ticks} at once`, together, percent)),
  ];
}

/** In turns: the same process without schedules, and with many that are due next year at the earliest. */
async function measureIdle({ server, opened }, { count, rounds, seconds }) {
  const looks = { without: [], within: [] };
  for (let round = 0; round < rounds; round += 1) {
    await opened.execute(`UPDATE schedules SET enabled = 0`);
    await opened.execute(`DELETE FROM schedules WHERE id LIKE 'far-%'`);
    looks.without.push(await settledLook(server, seconds));
    await opened.execute(`UPDATE schedules SET enabled = 1`);
    await opened.execute(copies('far', count, { next_tick: 'next_tick + n', due_at: 'due_at + n' }));
    looks.within.push(await settledLook(server, seconds));
  }
  const middle = (all) => ({
    cpu: median(all.map(({ cpu }) => cpu)),
    live: median(all.map(({ live }) => live)),
  });
  return { without: middle(looks.without), within: middle(looks.within) };
}

/** After the process has looked at what has changed. */
async function settledLook(server, seconds) {
  await new Promise((resolve) => setTimeout(resolve, schedulerPollSeconds * 1500));
  return look(server, seconds);
}

/** Milliseconds between the ticks and the calls of the model. Each schedule has one tick. */
async function lateness({ server, opened }, name, count, gap) {
  const first = Date.now() + leadMs;
  const due = `${first} + n * ${gap}`;
  const payload = `'{"message":"' || (${due}) || '"}'`;
  await opened.execute(copies(name, count, { next_tick: due, due_at: due, payload }));
  const all = async () => ((await server.ask('callsAtTicks')) === count ? true : undefined);
  await until(`${count} ticks are executed`, all, { everyMs: 100 });
  return server.ask('lateness');
}

/** Copies of the one schedule that the service made, with these values for some columns. `n` counts from 1. */
function copies(name, count, values) {
  const id = `'${name}-' || n`;
  const chosen = columns.map((column) => ({ id, name: id, ...values })[column] ?? column);
  return `INSERT INTO schedules (${columns})
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT ${chosen} FROM schedules CROSS JOIN numbers WHERE name = 'original'`;
}

async function createSchedule(port) {
  const answer = await fetch(`http://127.0.0.1:${port}/schedules`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'original',
      cron_expr: `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`,
      endpoint: '/agents/punctual/runs',
      payload: { message: 'none' },
    }),
  });
  const said = await answer.text();
  if (answer.status !== 201) throw new Error(`a schedule was answered with ${answer.status}: ${said}`);
}
