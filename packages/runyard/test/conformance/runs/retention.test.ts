import { expect, it, onTestFinished, vi } from 'vitest';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { RetentionStore } from '../../../src/capabilities/retention/store.js';
import { JobStore } from '../../../src/capabilities/runs/storage/job-store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { silentLog } from '../../../src/core/log.js';
import type { Run, RunStatus } from '../../../src/core/runs/run.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { migrate } from '../../../src/platform/storage/migrations/migrate.js';
import { type LogLine, recordingLog } from '../../support/clients/http-server.js';
import { forEachDatabase } from '../../support/databases.js';
import { openOver } from '../../support/open-services.js';
import { aRun, aStep, creation, progress, resting, resumption, start } from '../builders.js';

const hour = 3_600_000;
const day = 24 * hour;
const now = start + 100 * day;

interface Given {
  readonly eventRetentionHours?: number;
  readonly traceRetentionDays?: number;
  readonly runRetentionDays?: number;
  readonly at?: number;
  readonly logged?: LogLine[];
}

function retentionOf(database: Database, given: Given = {}): RetentionService {
  const { eventRetentionHours = 24, traceRetentionDays = 30, runRetentionDays = 0, at = now, logged } = given;
  const timers = { ...systemTimers, now: () => at };
  const log = logged === undefined ? silentLog : recordingLog(logged);
  const settings = { eventRetentionHours, traceRetentionDays, runRetentionDays };
  return new RetentionService(database, { settings, timers, log });
}

/** A run that came to rest at a time, with events. */
function rested(status: RunStatus, updatedAt: number, given: Partial<Run> = {}): Run {
  return aRun({ ...resting, status, updatedAt, nextEventIndex: 4, ...given });
}

async function store(runs: RunStore, ...all: readonly Run[]): Promise<void> {
  const block = (firstIndex: number) => ({ firstIndex, count: 2, payload: 'e\ta\t\t{}\ne\tb\t\t{}' });
  expect(await runs.commit(all.map((run) => creation(run, { events: block(0) })))).toEqual([]);
  const further = all.map(({ runId, attempt }) => ({ runId, attempt, steps: [], events: block(2) }));
  expect(await runs.commit(further)).toEqual([]);
}

async function withEvents(runs: RunStore, all: readonly Run[]): Promise<string[]> {
  const kept = await Promise.all(
    all.map(async ({ runId }) => ((await runs.countEvents(runId, 0, 100)) > 0 ? [runId] : [])),
  );
  return kept.flat();
}

async function traces(database: Database, rows: readonly Run[], at: (run: Run) => [number, number]) {
  const values = rows.map((run) => ({
    run_id: run.runId,
    trace_id: run.runId,
    name: 'Writer.arun',
    status: 'OK' as const,
    kind: run.kind,
    component_id: run.componentId,
    session_id: run.sessionId,
    user_id: null,
    start_time: at(run)[0],
    end_time: at(run)[1],
  }));
  await database.query.insertInto('traces').values(values).execute();
}

async function kept(database: Database, table: 'traces' | 'idempotency_keys'): Promise<string[]> {
  const rows = await database.query.selectFrom(table).select('run_id').execute();
  return rows.map((row) => row.run_id).sort();
}

const ids = (runs: readonly Run[]) => runs.map(({ runId }) => runId);

forEachDatabase((dialect, freshPlace, emptyPlace) => {
  it('removes jobs a week after their end, with all that belongs to them', async () => {
    const database = await (await freshPlace()).open();
    const jobs = new JobStore(database);
    const job = (status: RunStatus, updatedAt: number) => rested(status, updatedAt, { sessionId: '' });
    const old = (['completed', 'error', 'cancelled'] as const).map((status) =>
      job(status, now - 7 * day - 1),
    );
    const kept = [job('completed', now - 7 * day + hour), job('running', now - 30 * day)];
    const events = { firstIndex: 0, count: 1, payload: '' };
    const writes = [...old, ...kept].map((run) => ({
      ...{
        runId: run.runId,
        attempt: run.attempt,
        insert: run,
        events,
        steps: [aStep(run, 0, { kind: 'wait' })],
      },
    }));
    expect(await jobs.commit(writes)).toEqual([]);
    await retentionOf(database, { eventRetentionHours: 0 }).sweep();
    for (const { runId } of old) {
      expect(await jobs.load(runId)).toBeUndefined();
      expect(await jobs.countEvents(runId, 0, 10)).toBe(0);
    }
    for (const { runId } of kept) expect((await jobs.load(runId))?.steps).toHaveLength(1);
    const left = await database.query.selectFrom('job_steps').select('run_id').execute();
    expect(left).toHaveLength(kept.length);
  });

  it('removes runs that ended long enough ago, with all that belongs to them', async () => {
    const { database, runs } = await opened();
    const old = [
      rested('completed', now - 10 * day, { sessionId: 'old' }),
      rested('error', now - 9 * day, { sessionId: 'both' }),
    ];
    const left = [
      rested('completed', now - 8 * day, { sessionId: 'both' }),
      rested('paused', start, { sessionId: 'waiting' }),
    ];
    const events = { firstIndex: 0, count: 2, payload: 'e\ta\t\t{}\ne\tb\t\t{}' };
    for (const run of [...old, ...left]) {
      expect(await runs.commit([creation({ ...run, status: 'running' }, { events })])).toEqual([]);
      expect(await runs.commit([progress(run, {}, { steps: [aStep(run, 0)] })])).toEqual([]);
    }
    await database.query
      .updateTable('sessions')
      .set({ updated_at: now - 9 * day })
      .execute();
    const kinds = { eventRetentionHours: 0, traceRetentionDays: 0 };
    await retentionOf(database, { ...kinds, runRetentionDays: 0 }).sweep();
    expect(await kept(database, 'traces')).toHaveLength(4);
    await retentionOf(database, { ...kinds, runRetentionDays: 9 }).sweep();
    for (const { runId } of old) {
      expect(await runs.load(runId)).toBeUndefined();
      expect(await runs.countEvents(runId, 0, 100)).toBe(0);
    }
    for (const { runId } of left) expect((await runs.load(runId))?.steps).toHaveLength(1);
    const steps = await database.query.selectFrom('steps').select('run_id').execute();
    expect(steps.map((row) => row.run_id).sort()).toEqual(ids(left).sort());
    expect(await withEvents(runs, left)).toHaveLength(2);
    expect(await kept(database, 'traces')).toEqual(ids(left).sort());
    // one whose other runs are left, and one that waits, stay
    const sessions = await database.query.selectFrom('sessions').select('session_id').execute();
    expect(sessions.map((row) => row.session_id).sort()).toEqual(['both', 'waiting']);
  });

  async function opened() {
    const place = await freshPlace();
    const database = await place.open();
    return { place, database, runs: new RunStore(database) };
  }

  it('removes the events of runs that ended long enough ago, and only those', async () => {
    const { database, runs } = await opened();
    const old = (['completed', 'error', 'cancelled', 'regenerated'] as const).map((status) =>
      rested(status, now - day),
    );
    const others = [
      rested('completed', now - day + 1),
      rested('paused', start),
      rested('pending', start),
      rested('running', start),
    ];
    await store(runs, ...old, ...others);
    await retentionOf(database).sweep();
    expect(await withEvents(runs, [...old, ...others])).toEqual(ids(others));
    // the runs themselves, and where their events end, stay
    expect((await runs.load(old[0]!.runId))?.run).toMatchObject({ status: 'completed', nextEventIndex: 4 });
  });

  it('continues where it stopped, and includes runs that end later', async () => {
    const { database, runs } = await opened();
    const [first, second] = [rested('completed', now - day), rested('completed', now - day + hour)];
    await store(runs, first, second);
    await retentionOf(database).sweep();
    expect(await withEvents(runs, [first, second])).toEqual([second.runId]);
    await retentionOf(database, { at: now + hour }).sweep();
    expect(await withEvents(runs, [first, second])).toEqual([]);
  });

  it('removes all of many runs, with more events than one statement takes', async () => {
    const { database, runs } = await opened();
    // most of them ended in the same moment, and the last ones are too young
    const all = Array.from({ length: 450 }, (_, index) =>
      rested('completed', index < 440 ? now - day - (index % 3) : now - hour),
    );
    await store(runs, ...all);
    await retentionOf(database).sweep();
    expect((await withEvents(runs, all)).sort()).toEqual(ids(all.slice(440)).sort());
  });

  it('leaves the events of a failed run that is continued, and removes them when it has ended', async () => {
    const { database, runs } = await opened();
    const failed = rested('error', now - 2 * day);
    await store(runs, failed);
    await runs.commit([resumption(failed, now - hour)]);
    const removal = new RetentionStore(database);
    // one that was found as ended a moment ago
    expect(await removal.removeEvents([failed.runId], now - day, 100, '')).toBe(0);
    await retentionOf(database).sweep();
    expect(await withEvents(runs, [failed])).toEqual([failed.runId]);
    await database.query.updateTable('runs').set({ status: 'completed' }).execute();
    await retentionOf(database, { at: now + day }).sweep();
    expect(await withEvents(runs, [failed])).toEqual([]);
  });

  it('removes traces and keys by their age', async () => {
    const { database, runs } = await opened();
    const given = ['old', 'still going', 'waiting', 'young', 'long'].map((runId) => aRun({ runId }));
    const status: Record<string, RunStatus> = { 'still going': 'running', waiting: 'paused' };
    const writes = given.map((run, index) => {
      const created = run.runId === 'young' ? now - day + 1 : now - day;
      return creation(
        { ...run, status: status[run.runId] ?? 'completed' },
        {
          idempotency: {
            userId: null,
            kind: 'agent',
            componentId: 'writer',
            key: `key ${index}`,
            runId: run.runId,
            payload: '',
            now: created,
            since: 0,
          },
        },
      );
    });
    await runs.commit(writes);
    const longAgo = now - 31 * day;
    await database.query.deleteFrom('traces').execute();
    await traces(database, given, ({ runId }) => {
      if (runId === 'young') return [now - 29 * day, now - 29 * day];
      return runId === 'long' ? [longAgo, now - day] : [longAgo, longAgo];
    });
    await retentionOf(database).sweep();
    expect(await kept(database, 'traces')).toEqual(['long', 'still going', 'waiting', 'young']);
    expect(await kept(database, 'idempotency_keys')).toEqual(['young']);
    expect((await runs.load('old'))?.run.runId).toBe('old');
  });

  it('keeps for ever what the settings say to keep', async () => {
    const { database, runs } = await opened();
    const run = rested('completed', start);
    await store(runs, run);
    await database.query.deleteFrom('traces').execute();
    await traces(database, [run], () => [start, start]);
    await retentionOf(database, { eventRetentionHours: 0, traceRetentionDays: 0 }).sweep();
    expect(await withEvents(runs, [run])).toEqual([run.runId]);
    expect(await kept(database, 'traces')).toEqual([run.runId]);
    // also a trace that is alone is found when it is too old
    await retentionOf(database, {
      eventRetentionHours: 0,
      traceRetentionDays: 1,
      at: start + 2 * day,
    }).sweep();
    expect(await kept(database, 'traces')).toEqual([]);
  });

  it('may be done by several processes at once', async () => {
    const { place, database, runs } = await opened();
    const all = Array.from({ length: 300 }, (_, index) => rested('completed', now - day - index));
    await store(runs, ...all);
    const others = [database, await place.open(), await place.open()];
    await Promise.all(others.map((other) => retentionOf(other).sweep()));
    expect(await withEvents(runs, all)).toEqual([]);
    expect(await new RetentionStore(database).removedUntil()).toBe(now - day);
  });

  it('logs once that a database is away, and continues when it is back', async () => {
    const { database, runs } = await opened();
    const run = rested('completed', now - day);
    await store(runs, run);
    const logged: LogLine[] = [];
    let isAway = true;
    const unsteady = new Proxy(database, {
      get(target, name) {
        if (isAway && name === 'transaction') return () => Promise.reject(new Error('the database is away'));
        return Reflect.get(target, name) as unknown;
      },
    });
    const retention = retentionOf(unsteady, { logged });
    await retention.sweep();
    await retention.sweep();
    expect(logged.map(({ level }) => level)).toEqual(['warn']);
    isAway = false;
    await retention.sweep();
    expect(await withEvents(runs, [run])).toEqual([]);
    expect(logged.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  if (dialect === 'sqlite') {
    it('needs no transaction to find that nothing is too old', async () => {
      const { database, runs } = await opened();
      await store(runs, rested('completed', start));
      const transactions = vi.spyOn(database, 'transaction');
      const options = { eventRetentionHours: 48, traceRetentionDays: 1, evalRetentionDays: 1 };
      const settings = { ...options, scheduleHistoryDays: 1, mcpSessionHours: 1, runRetentionDays: 0 };
      const timers = { ...systemTimers, now: () => start + 30 * 60_000 };
      await new RetentionService(database, { settings, timers, log: silentLog }).sweep();
      expect(transactions).not.toHaveBeenCalled();
    });
  }

  it('leaves a database alone that waits to be migrated', async () => {
    const begins = vi.spyOn(RetentionService.prototype, 'begin');
    onTestFinished(() => begins.mockRestore());
    const database = await (await emptyPlace()).openUnprepared();
    const { spaces } = await openOver(database);
    await expect(spaces.get(undefined)).rejects.toMatchObject({ code: 'schema_outdated' });
    expect(begins).not.toHaveBeenCalled();
    await migrate(database);
    await Promise.all([spaces.get(undefined), spaces.get(undefined)]);
    await spaces.get(undefined);
    expect(begins).toHaveBeenCalledOnce();
  });

  it('removes nothing after its end', async () => {
    const { database, runs } = await opened();
    const run = rested('completed', now - day);
    await store(runs, run);
    const retention = retentionOf(database);
    retention.begin();
    await retention.end();
    await retention.sweep();
    expect(await withEvents(runs, [run])).toEqual([run.runId]);
  });
});
