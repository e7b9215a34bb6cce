import { expect, it } from 'vitest';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { SlicesStore } from '../../../src/capabilities/retention/slices-store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { silentLog } from '../../../src/core/log.js';
import type { Run } from '../../../src/core/runs/run.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { migrate } from '../../../src/platform/storage/migrations/migrate.js';
import { idOfDay, slicedTables, today } from '../../../src/platform/storage/slices.js';
import { emptyPostgres, freshPostgres } from '../../support/databases.js';
import { until } from '../../support/until.js';
import { aRun, aStep, creation, progress, resting } from '../builders.js';

const day = 86_400_000;
const hour = 3_600_000;

/** The day of which the migration made the first slice. */
const first = today() + 2;
const at = (days: number) => Math.round((first + days) * day);

function sweep(database: Database, time: number, runRetentionDays = 0): Promise<void> {
  const timers = { ...systemTimers, now: () => time };
  const settings = { eventRetentionHours: 24, traceRetentionDays: 0, runRetentionDays };
  return new RetentionService(database, { settings, timers, log: silentLog }).sweep();
}

/** A run that was made on a day of the slices, with a step and an event. */
function madeOn(days: number, given: Partial<Run>): Run {
  const unique = Math.random().toString(16).slice(2, 14).padEnd(12, '0');
  return aRun({
    ...resting,
    runId: idOfDay(first + days).slice(0, 24) + unique,
    nextEventIndex: 2,
    ...given,
  });
}

async function store(runs: RunStore, all: readonly Run[]): Promise<void> {
  const events = { firstIndex: 0, count: 2, payload: 'e\ta\t\t{}\ne\tb\t\t{}' };
  for (const run of all) {
    // in two writes: what ends with its first is in the row of the run
    expect(await runs.commit([creation({ ...run, status: 'running' }, { events })])).toEqual([]);
    expect(await runs.commit([progress(run, {}, { steps: [aStep(run, 0)] })])).toEqual([]);
  }
}

async function partitions(database: Database, table: string): Promise<string[]> {
  const rows = await database.transaction((run) =>
    run<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1`,
      [table],
    ),
  );
  return rows.map(({ name }) => name);
}

const rowsIn = (database: Database, table: string) =>
  database.transaction(async (run) => {
    const [row] = await run<{ total: number }>(`SELECT count(*) AS total FROM ${table}`);
    return row?.total;
  });

it('drops a day of events at once, and keeps those of runs that are not over', async () => {
  const database = await (await freshPostgres()).open();
  const runs = new RunStore(database);
  await sweep(database, Date.now());
  const over = Array.from({ length: 3 }, () => madeOn(0, { status: 'completed', updatedAt: at(0.5) }));
  const waiting = madeOn(0, { status: 'paused', updatedAt: at(0.5) });
  const late = madeOn(0, { status: 'completed', updatedAt: at(1.9) });
  const chosen = aRun({ ...resting, runId: 'my-own-id', status: 'completed', updatedAt: at(0.5) });
  await store(runs, [...over, waiting, late, chosen]);
  const slice = `event_blocks_slice_${first}_${first + 1}`;
  expect(await partitions(database, 'event_blocks')).toContain(slice);
  expect(await rowsIn(database, slice)).toBe(5);
  expect(await rowsIn(database, 'event_blocks_default')).toBe(1);

  // a day has passed since they ended, but the slice is not over: it is dropped as a whole
  await sweep(database, at(1.5) + hour);
  expect(await rowsIn(database, slice)).toBe(5);
  expect(await runs.countEvents('my-own-id', 0, 9)).toBe(0);
  await sweep(database, at(2) + hour);
  expect(await partitions(database, 'event_blocks')).not.toContain(slice);
  for (const { runId } of over) expect(await runs.countEvents(runId, 0, 9)).toBe(0);
  for (const { runId } of [waiting, late]) expect(await runs.countEvents(runId, 0, 9)).toBe(2);
  // then it is removed by itself
  await sweep(database, at(3));
  expect(await runs.countEvents(late.runId, 0, 9)).toBe(0);
  expect(await runs.countEvents(waiting.runId, 0, 9)).toBe(2);
  // journals are not events
  for (const { runId } of [...over, waiting, late]) expect((await runs.load(runId))?.steps).toHaveLength(1);

  // the next one joins what was kept; ids of a day that is gone have a place, too
  await sweep(database, at(6));
  expect((await partitions(database, 'event_blocks')).filter((name) => name.includes('_kept_'))).toHaveLength(
    1,
  );
  expect(await runs.countEvents(waiting.runId, 0, 9)).toBe(2);
  await store(runs, [madeOn(0.2, { status: 'paused', updatedAt: at(6) })]);
});

it('keeps the events of an old run that is retried while the slice is dropped', async () => {
  const place = await freshPostgres();
  const [database, other] = [await place.open(), await place.open()];
  const runs = new RunStore(database);
  await sweep(database, Date.now());
  const failed = madeOn(0, { status: 'error', updatedAt: at(0.5) });
  await store(runs, [failed, madeOn(0, { status: 'completed', updatedAt: at(0.5) })]);
  const slice = `event_blocks_slice_${first}_${first + 1}`;
  const end = at(1) + hour;
  const slices = new SlicesStore(database, slicedTables.event_blocks);
  const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'event_blocks'::regclass`;
  // the write holds the table, so that the process has chosen what to keep and waits when the write is committed
  const dropping = await other.transaction(async (run) => {
    await run(`UPDATE runs SET status = 'running', updated_at = $1 WHERE run_id = $2`, [end, failed.runId]);
    await run(`INSERT INTO event_blocks (run_id, first_index, event_count, payload) VALUES ($1, 2, 1, $2)`, [
      failed.runId,
      'e\tc\t\t{}',
    ]);
    let hasWaited = false;
    const drop = async () => {
      // it waits for a second only, and a slow machine may look later
      do await slices.drop(today(end), end);
      while (!hasWaited);
    };
    const result = { done: drop() };
    await until('it waits for the table', async () => (await run(waits)).length === 1);
    hasWaited = true;
    return result;
  });
  await dropping.done;
  // a slow machine may have waited for the lock too long: what then drops the slice is the next look
  await slices.drop(today(end), end);
  expect(await partitions(database, 'event_blocks')).not.toContain(slice);
  expect(await rowsIn(database, 'event_blocks')).toBe(2);
  expect(await runs.countEvents(failed.runId, 0, 9)).toBe(3);
});

it('drops the journals of removed runs with their slice, and those of deleted sessions at once', async () => {
  const database = await (await freshPostgres()).open();
  const runs = new RunStore(database);
  await sweep(database, Date.now(), 30);
  const old = Array.from({ length: 3 }, () => madeOn(0, { status: 'completed', updatedAt: at(0.5) }));
  const waiting = madeOn(1, { status: 'paused', updatedAt: at(1) });
  const deleted = madeOn(1, { status: 'completed', updatedAt: at(1), sessionId: 'deleted' });
  await store(runs, [...old, waiting, deleted]);
  const slice = `steps_slice_${first}_${first + 7}`;
  expect(await rowsIn(database, slice)).toBe(5);
  await database.query.deleteFrom('sessions').where('session_id', '=', 'deleted').execute();
  expect(await rowsIn(database, slice)).toBe(4);
  expect(await runs.load(deleted.runId)).toBeUndefined();

  await sweep(database, at(31), 30);
  for (const { runId } of old) expect(await runs.load(runId)).toBeUndefined();
  await sweep(database, at(38), 30);
  expect(await partitions(database, 'steps')).not.toContain(slice);
  expect(await rowsIn(database, 'steps')).toBe(1);
  expect((await runs.load(waiting.runId))?.steps).toHaveLength(1);
});

it('slices are made for the days to come, by one process of several, also after a long pause', async () => {
  const place = await freshPostgres();
  const databases = await Promise.all([place.open(), place.open(), place.open()]);
  const [database] = databases;
  await Promise.all(databases.map((one) => sweep(one, at(1))));
  const days = (await partitions(database, 'event_blocks')).filter((name) => name.includes('_slice_'));
  expect(days).toHaveLength(4);
  await sweep(database, at(100));
  const after = (await partitions(database, 'event_blocks')).filter((name) => name.includes('_slice_'));
  expect(after.length).toBeLessThan(8);
  const [plan] = await database.transaction((run) =>
    run<{ 'QUERY PLAN': string }>(
      `EXPLAIN (FORMAT JSON) SELECT * FROM event_blocks WHERE run_id = '${idOfDay(first + 101)}'`,
    ),
  );
  // one partition is read
  expect(JSON.stringify(plan).match(/"Relation Name"/g)).toHaveLength(1);
});

it('what was stored before is a partition as it is, and one table again after the way back', async () => {
  const database = await (await emptyPostgres()).openUnprepared();
  const before = database.migrations.findLast(({ version }) => version < 35)!.version;
  await migrate(database, { to: before });
  const runs = new RunStore(database);
  const all = ['an-id', idOfDay(first + 3), idOfDay(today() - 1)].map((runId) =>
    aRun({ ...resting, runId, status: 'paused', nextEventIndex: 2 }),
  );
  await store(runs, all);
  const node = (table: string) =>
    database.transaction(
      async (run) =>
        (await run<{ node: number }>(`SELECT pg_relation_filenode('${table}')::int AS node`))[0]?.node,
    );
  const file = await node('steps');
  expect((await migrate(database)).map(({ status }) => status)).not.toContain('failed');
  // not copied
  expect(await node('steps_default')).toBe(file);
  const check = async () => {
    for (const { runId } of all) {
      expect((await runs.load(runId))?.steps).toHaveLength(1);
      expect(await runs.countEvents(runId, 0, 9)).toBe(2);
    }
  };
  await check();
  expect(await rowsIn(database, 'steps_default')).toBe(2);
  await sweep(database, Date.now());
  await check();
  expect((await migrate(database, { to: before })).map(({ status }) => status)).not.toContain('failed');
  await check();
  await database.query.deleteFrom('sessions').execute();
  expect(await rowsIn(database, 'steps')).toBe(0);
});
