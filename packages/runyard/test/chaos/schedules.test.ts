import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Schedule } from '../../src/capabilities/schedules/schedule.js';
import { ScheduleStore } from '../../src/capabilities/schedules/store.js';
import { newId } from '../../src/core/ids.js';
import { ChaosFolder, ChaosProcess } from '../support/chaos-process.js';
import { freshPostgres } from '../support/databases.js';
import { until } from '../support/until.js';

const entry = fileURLToPath(new URL('./schedules-yard.ts', import.meta.url));
const leaseMs = 3000;
/** A tick that no test sees. */
const never = 4_102_444_800_000;

function ticksFrom(first: number, count: number, everyMs: number): number[] {
  return Array.from({ length: count }, (_, position) => first + position * everyMs);
}

function scheduleOf(cronExpr: string, first: number, over: Partial<Schedule>): Schedule {
  const id = newId();
  return {
    id,
    name: id,
    description: null,
    method: 'POST',
    endpoint: '/effects',
    payload: { message: 'go' },
    cronExpr,
    timezone: 'UTC',
    timeoutSeconds: 600,
    maxRetries: 0,
    retryDelaySeconds: 1,
    overlap: 'allow',
    missed: 'all',
    jitterSeconds: 0,
    enabled: true,
    disabledReason: null,
    source: 'api',
    retiredAt: null,
    userId: null,
    creator: { by: 'open' },
    revision: 1,
    nextTick: first,
    dueAt: first,
    createdAt: first,
    updatedAt: null,
    ...over,
  };
}

/** Most of them call a route that must not be called twice, some start runs; some executions wait for each other. */
function fastSchedule(position: number, first: number): Schedule {
  return scheduleOf('fast', first, {
    endpoint: position % 10 === 0 ? '/agents/echo/runs' : '/effects',
    overlap: position % 8 === 3 ? 'queue' : 'allow',
  });
}

function repeated(values: readonly string[]): string[] {
  return values.filter((value, position) => values.indexOf(value) !== position);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('each of thousands of ticks is executed once, by processes that are killed and suspended', async () => {
  const place = await freshPostgres();
  const [database, folder] = [await place.open(), new ChaosFolder()];
  const store = new ScheduleStore(database);
  const fast = ticksFrom(Date.now() + 3000, 50, 300);
  // no process was there at these, the last of which came ten minutes ago
  const missed = ticksFrom(Date.now() - 160 * 60_000, 150, 60_000);
  writeFileSync(
    join(folder.path, 'ticks.json'),
    JSON.stringify({ fast: [...fast, never], missed: [...missed, never] }),
  );
  const ofMissed = (policy: Schedule['missed']) => scheduleOf('missed', missed[0]!, { missed: policy });
  const expected = new Map<Schedule, readonly number[]>([
    [ofMissed('skip'), []],
    [ofMissed('once'), missed.slice(0, 1)],
    [ofMissed('all'), missed.slice(-100)],
    ...Array.from({ length: 40 }, (_, position) => [fastSchedule(position, fast[0]!), fast] as const),
  ]);
  for (const schedule of expected.keys()) await store.insert(schedule, '');
  const wanted = [...expected].flatMap(([{ id }, ticks]) => ticks.map((tick) => `${id} ${tick}`));

  const options = { folder, entry, database: place.url, settings: { leaseMs, schedulerPollSeconds: 1 } };
  const fleet = await Promise.all([1, 2, 3, 4].map(() => ChaosProcess.start(options)));
  const turns = 8;
  for (let turn = 0; turn < turns; turn += 1) {
    // in the middle of ticks, at moments that no tick knows of
    const least = (wanted.length * (turn + 1)) / (turns + 4);
    await until('further ticks are executed', () => folder.effects('tick').length >= least);
    const victim = fleet[turn % fleet.length]!;
    if (turn % 2 === 1) {
      await victim.kill();
      fleet[turn % fleet.length] = await ChaosProcess.start(options);
    } else {
      victim.signal('SIGSTOP');
      // shortly, and for longer than its leases
      await pause(turn % 4 === 0 ? 300 : leaseMs * 1.3);
      victim.signal('SIGCONT');
    }
  }

  const rowsNow = () =>
    database.query
      .selectFrom('schedule_runs')
      .select(['id', 'schedule_id', 'tick_at', 'status', 'error', 'run_id'])
      .execute();
  let rows = await rowsNow();
  const keyOf = (row: (typeof rows)[number]) => `${row.schedule_id} ${row.tick_at}`;
  const hasEnded = async () => {
    rows = await rowsNow();
    return rows.length >= wanted.length && rows.every(({ status }) => status !== 'running');
  };
  // what is missing or twice then says more than that it took too long
  await until('every tick has an execution that ended', hasEnded).catch(() => {});
  const made = rows.map(keyOf);
  const [isMade, isWanted] = [new Set(made), new Set(wanted)];
  const calls = folder.effects('tick').map(({ idempotencyKey }) => idempotencyKey);
  const runs = (await database.query.selectFrom('runs').select('run_id').execute()).map((run) => run.run_id);
  const startsRuns = new Set(
    [...expected.keys()].filter(({ endpoint }) => endpoint !== '/effects').map(({ id }) => id),
  );
  const ofRuns = rows.filter((row) => startsRuns.has(row.schedule_id));
  const ofCalls = rows.filter((row) => !startsRuns.has(row.schedule_id));
  const [isCalled, isRun] = [new Set(calls), new Set(ofRuns.map(({ run_id: runId }) => runId))];
  expect({
    ticksTwice: repeated(made),
    callsTwice: repeated(calls),
    missing: wanted.filter((tick) => !isMade.has(tick)),
    unwanted: made.filter((tick) => !isWanted.has(tick)),
    unfinished: rows.filter(({ status }) => status === 'running').map(keyOf),
    notCalled: ofCalls.filter(({ id, status }) => status === 'success' && !isCalled.has(id)).map(keyOf),
    // a call during which its process died says so, and nothing else fails
    failed: rows.filter(
      ({ status, error, schedule_id: id }) =>
        status !== 'success' && (startsRuns.has(id) || !error?.includes('not known')),
    ),
    runsOfNoTick: runs.filter((id) => !isRun.has(id)),
    ticksOfNoRun: ofRuns.filter(({ run_id: id }) => id === null || !runs.includes(id)).map(keyOf),
  }).toEqual({
    ticksTwice: [],
    callsTwice: [],
    missing: [],
    unwanted: [],
    unfinished: [],
    notCalled: [],
    failed: [],
    runsOfNoTick: [],
    ticksOfNoRun: [],
  });
  expect(calls.length).toBeGreaterThan(wanted.length / 2);
});
