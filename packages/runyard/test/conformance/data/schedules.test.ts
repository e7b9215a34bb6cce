import { expect, it } from 'vitest';
import { storeCodeSchedules } from '../../../src/capabilities/schedules/code-schedules.js';
import {
  attemptIdOf,
  type ExecutionSite,
  jobIdOf,
  tickJob,
} from '../../../src/capabilities/schedules/execution/tick-job.js';
import { TurnStore } from '../../../src/capabilities/schedules/execution/turns-store.js';
import type { Schedule } from '../../../src/capabilities/schedules/schedule.js';
import { ScheduleStore } from '../../../src/capabilities/schedules/store.js';
import { ScheduleTicksStore } from '../../../src/capabilities/schedules/ticks-store.js';
import { newId } from '../../../src/core/ids.js';
import { silentLog } from '../../../src/core/log.js';
import type { JobContext } from '../../../src/core/runs/jobs/job.js';
import { schedule as define, type ScheduleSettings } from '../../../src/core/schedules/schedule.js';
import { anonymousCaller } from '../../../src/platform/auth/caller.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { type Database, timeOf } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';

const all = { kind: 'all' } as const;
const ada = { kind: 'user', userId: 'ada' } as const;
const bob = { kind: 'user', userId: 'bob' } as const;

function aSchedule(over: Partial<Schedule> = {}): Schedule {
  const id = newId();
  return {
    id,
    name: `schedule ${id}`,
    description: null,
    method: 'POST',
    endpoint: '/agents/plain/runs',
    payload: { message: 'hi', deep: { a: [1, null] } },
    cronExpr: '* * * * *',
    timezone: 'UTC',
    timeoutSeconds: 60,
    maxRetries: 1,
    retryDelaySeconds: 1,
    overlap: 'skip',
    missed: 'once',
    jitterSeconds: 0,
    enabled: true,
    disabledReason: null,
    source: 'api',
    retiredAt: null,
    userId: 'ada',
    creator: { by: 'jwt', userId: 'ada', scopes: ['agents:run'], claims: { sub: 'ada' } },
    revision: 1,
    nextTick: 60_000,
    dueAt: 60_000,
    createdAt: 1,
    updatedAt: null,
    ...over,
  };
}

const ended = {
  status: 'success',
  statusCode: 200,
  runId: 'run',
  sessionId: null,
  error: null,
  input: null,
  output: { content: 'done' },
  requirements: null,
} as const;

forEachDatabase((_dialect, freshPlace) => {
  let store: ScheduleStore;
  let ticks: ScheduleTicksStore;
  let turns: TurnStore;
  let database: Database;

  async function open(): Promise<void> {
    database = await (await freshPlace()).open();
    turns = new TurnStore(database);
    store = new ScheduleStore(database);
    ticks = new ScheduleTicksStore(database, 3);
  }

  async function stored(over: Partial<Schedule> = {}): Promise<Schedule> {
    const schedule = aSchedule(over);
    expect(await store.insert(schedule, '')).toBe(true);
    return schedule;
  }

  it('gives a name to one of several who take it, and shows it within its scope', async () => {
    await open();
    const schedule = await stored({ name: 'nightly' });
    expect(await store.insert(aSchedule({ name: 'nightly' }), '')).toBe(false);
    expect(await store.insert(aSchedule({ name: 'nightly', enabled: false }), 'user:bob')).toBe(true);
    expect(await store.find(all, schedule.id)).toEqual(schedule);
    const other = await stored();
    expect(await store.update(all, other, { name: 'nightly' }, {}, 5)).toBe('name_taken');
    expect(await store.update(all, other, { name: 'weekly', payload: null }, {}, 5)).toBe('stored');
    expect(await store.find(all, other.id)).toEqual({
      ...other,
      name: 'weekly',
      payload: null,
      revision: 2,
      updatedAt: 5,
    });
    expect(await store.update(all, other, { name: 'other' }, {}, 6)).toBe('changed');
    await showsWhatIsInScope();
  });

  async function showsWhatIsInScope() {
    const schedule = await stored({ enabled: false });
    expect(await store.find(bob, schedule.id)).toBeUndefined();
    expect(await store.update(bob, schedule, { timezone: 'EST' }, {}, 5)).toBe('changed');
    expect(await store.delete(bob, schedule.id)).toBe(false);
    expect(await store.count(bob, {})).toBe(0);
    expect(
      (await store.list(ada, { enabled: false }, { limit: 100, offset: 0 })).map(({ id }) => id),
    ).toContain(schedule.id);
    const attempt = {
      scheduleId: schedule.id,
      trigger: 'manual',
      tickAt: 1,
      attempt: 1,
      at: 1,
      input: null,
    } as const;
    expect(await ticks.begin({ ...attempt, id: newId(), jobId: newId() })).toBe(true);
    expect(await store.runs(bob, schedule.id, { limit: 9, offset: 0 })).toEqual([]);
    expect(await store.countRuns(ada, schedule.id)).toBe(1);
    expect(await store.delete(ada, schedule.id)).toBe(true);
    expect(await store.countRuns(all, schedule.id)).toBe(0);
  }

  it('finds what is due, moves it on once, and records each attempt once', async () => {
    await open();
    const [later, first] = [
      await stored({ dueAt: 20, nextTick: 15 }),
      await stored({ dueAt: 10, nextTick: 10 }),
    ];
    await stored({ dueAt: 1, enabled: false });
    await stored({ dueAt: 1, retiredAt: 1 });
    const before = await timeOf(database);
    const nextDue = await ticks.nextDue();
    expect(nextDue?.dueAt).toBe(10);
    expect(nextDue?.now).toBeGreaterThanOrEqual(before);
    expect(nextDue?.now).toBeLessThanOrEqual(await timeOf(database));
    expect((await ticks.due(20, 10)).map(({ id }) => id)).toEqual([first.id, later.id]);
    expect((await ticks.due(19, 10)).map(({ id }) => id)).toEqual([first.id]);
    const next = { tick: 70, dueAt: 75 };
    const moved = await Promise.all([ticks.advance(first, next), ticks.advance(first, next)]);
    expect(moved.toSorted()).toEqual([false, true]);
    expect(await ticks.current(first.id)).toMatchObject({ nextTick: 70, dueAt: 75, revision: 1 });
    // a change in between keeps what was computed from the old expression from being stored
    await store.update(all, later, { cronExpr: '@daily' }, { next: { tick: 15, dueAt: 15 } }, 5);
    expect(await ticks.advance(later, next)).toBe(false);
    expect(await ticks.disable(later, 'no rights', 9)).toBe(false);
    expect(await ticks.disable({ id: later.id, revision: 2 }, 'no rights', 9)).toBe(true);
    expect(await ticks.current(later.id)).toMatchObject({ enabled: false, disabledReason: 'no rights' });
    expect(await ticks.due(20, 10)).toEqual([]);
    await recordsAttempts();
  });

  async function recordsAttempts() {
    const schedule = await stored();
    const job = {
      scheduleId: schedule.id,
      trigger: 'cron',
      tickAt: 5,
      jobId: newId(),
      input: { a: 1 },
    } as const;
    const ids = [1, 2, 3, 4, 5].map((attempt) => ({ ...job, attempt, id: newId(), at: attempt }));
    expect(await ticks.begin(ids[0]!)).toBe(true);
    expect(await ticks.begin({ ...ids[0]!, id: newId() })).toBe(false);
    expect((await ticks.running(schedule.id)).map(({ attempt }) => attempt)).toEqual([1]);
    expect(await ticks.finish(ids[0]!.id, ended, 9)).toBe(true);
    expect(await ticks.finish(ids[0]!.id, { ...ended, status: 'failed' }, 10)).toBe(false);
    expect(await ticks.running(schedule.id)).toEqual([]);
    expect(await store.findRun(all, schedule.id, ids[0]!.id)).toEqual({
      ...ended,
      id: ids[0]!.id,
      scheduleId: schedule.id,
      trigger: 'cron',
      tickAt: 5,
      attempt: 1,
      jobId: job.jobId,
      input: { a: 1 },
      triggeredAt: 1,
      completedAt: 9,
      createdAt: 1,
    });
    expect(await store.findRun(all, newId(), ids[0]!.id)).toBeUndefined();
    for (const attempt of ids.slice(1)) {
      await ticks.begin(attempt);
      await ticks.finish(attempt.id, ended, 9);
    }
    await ticks.trim(schedule.id);
    expect((await ticks.attemptsOf(job.jobId)).map(({ attempt }) => attempt)).toEqual([3, 4, 5]);
    expect(await ticks.begin({ ...ids[0]!, id: newId(), scheduleId: newId(), jobId: newId() })).toBe(false);
  }

  it('keeps the tick of a definition of the code that changes, unless its times do', async () => {
    await open();
    const [hour, day] = [3_600_000, 86_400_000];
    const tickAfter = async (now: number, ...given: Partial<ScheduleSettings>[]) => {
      const nightly = { name: 'nightly', cron: '0 3 * * *', endpoint: '/health' };
      const schedules = given.map((over) => define({ ...nightly, ...over }));
      await storeCodeSchedules(schedules, store, async () => now);
      return (await store.ofCode()).get('nightly')?.nextTick;
    };
    expect(await tickAfter(0, {})).toBe(3 * hour);
    // the service was away at the tick, and starts with other code
    expect(await tickAfter(2 * day, { payload: { deep: true } })).toBe(3 * hour);
    expect(await tickAfter(2 * day, { cron: '0 4 * * *' })).toBe(2 * day + 4 * hour);
    await tickAfter(2 * day);
    expect(await tickAfter(3 * day, { cron: '0 4 * * *' })).toBe(3 * day + 4 * hour);
  });

  it('lets an execution that had its turn before a crash finish before an earlier tick that came late', async () => {
    await open();
    const { id: scheduleId } = await stored({ overlap: 'queue', endpoint: '/notes' });
    const [late, held] = [jobIdOf(scheduleId, 10), jobIdOf(scheduleId, 20)];
    await turns.take(scheduleId, held);
    const attempt = { scheduleId, trigger: 'cron', attempt: 1, at: 1, input: null } as const;
    await ticks.begin({ ...attempt, tickAt: 20, jobId: held, id: attemptIdOf(held, 1) });
    await ticks.begin({ ...attempt, tickAt: 10, jobId: late, id: attemptIdOf(late, 1) });
    const waitedFor: string[] = [];
    const site = {
      store: ticks,
      turns,
      slots: 1,
      now: async () => 30,
      ownCalls: { caller: async () => anonymousCaller, call: async () => Response.json({}) },
      jobs: () => ({
        isUnfinished: async () => true,
        ended: async (_job: unknown, jobId: string) => {
          waitedFor.push(jobId);
          // it takes its turn and ends
          await ticks.finish(attemptIdOf(jobId, 1), ended, 31);
          await turns.giveBack(scheduleId, jobId);
        },
      }),
    } as unknown as ExecutionSite; // an execution that calls an endpoint uses nothing else
    const context = (jobId: string) =>
      ({
        jobId,
        attempt: 2,
        signal: new AbortController().signal,
        log: silentLog,
        timers: systemTimers,
        step: async (_key: string, _step: unknown, work: () => unknown) => work(),
        stored: async () => {},
        idle: async (work: () => unknown) => work(),
        callApplication: async (_what: unknown, work: () => unknown) => work(),
      }) as unknown as JobContext; // likewise
    const input = { schedule_id: scheduleId, trigger: 'cron' } as const;
    expect(await tickJob(site).execute(context(held), { ...input, tick: 20 })).toEqual({ attempts: 1 });
    expect(waitedFor).toEqual([]);
    expect(await turns.holder(scheduleId)).toBeUndefined();
    await turns.take(scheduleId, held);
    expect(await tickJob(site).execute(context(late), { ...input, tick: 10 })).toEqual({ attempts: 1 });
    expect(waitedFor).toEqual([held]);
  });
});
