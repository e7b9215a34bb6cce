import { errors } from '../../../core/errors/errors.js';
import { newId } from '../../../core/ids.js';
import type { Log } from '../../../core/log.js';
import type { Jobs } from '../../../core/runs/jobs/jobs.js';
import { terminalStatuses } from '../../../core/runs/run.js';
import type { Ticks } from '../../../core/schedules/ticks.js';
import type { Timers } from '../../../core/timers.js';
import type { Schedule, ScheduleRun } from '../schedule.js';
import { ScheduleClock } from './clock.js';
import { attemptIdOf, type ExecutionSite, jobIdOf, type TickJob, tickJob } from './tick-job.js';
import { outcomeOf, resultOf } from './tick-records.js';

export interface ExecutorOptions extends Omit<ExecutionSite, 'jobs'> {
  readonly jobs: () => Pick<Jobs, 'find' | 'isUnfinished' | 'ended' | 'start'>;
  readonly timers: Timers;
  readonly log: Log;
  readonly pollMs: number;
  readonly spreadMs: number;
  /** How long a caller who triggers a schedule waits for its end. */
  readonly triggerWaitMs: number;
  readonly ticksOf?: (cron: string, zone: string) => Promise<Ticks>;
}

/** How often attempts are looked for that no job works on, and how old they are then. */
const sweepMs = 300_000;
const freshMs = 60_000;
const rowsAtOnce = 200;

/** How long the time of the database is followed before it is asked for again. */
const followedMs = 1000;

/** The time of the database. Executions need it several times, soon after the clock, and many end at the same moment. */
class FollowedTime {
  private asked: { readonly time: Promise<number>; readonly at: number } | undefined;

  constructor(private readonly options: Pick<ExecutorOptions, 'now' | 'timers'>) {}

  /** Asks for it. */
  readonly now = async (): Promise<number> => {
    const asked = { time: this.options.now(), at: this.options.timers.elapsed() };
    this.asked = asked;
    try {
      return await asked.time;
    } catch (error) {
      if (this.asked === asked) this.asked = undefined;
      throw error;
    }
  };

  /** Asks for it, unless that was done a moment ago. */
  readonly followed = async (): Promise<number> => {
    const { timers } = this.options;
    const unknown = { time: undefined, at: timers.elapsed() };
    const { time, at } = this.asked && unknown.at - this.asked.at <= followedMs ? this.asked : unknown;
    return (await (time ?? this.now())) + Math.floor(timers.elapsed() - at);
  };
}

/** Executes the schedules of a database: at their ticks, and when a caller asks for it. */
export class ScheduleExecutor {
  readonly job: TickJob;
  private readonly clock: ScheduleClock;
  private stopTimer: (() => void) | undefined;
  private sweeping: Promise<void> | undefined;

  constructor(private readonly options: ExecutorOptions) {
    const time = new FollowedTime(options);
    this.job = tickJob({ ...options, now: time.followed });
    this.clock = new ScheduleClock({
      ...options,
      now: time.now,
      execute: (...tick) => this.execute(...tick),
    });
  }

  start(): void {
    this.stopTimer = this.options.timers.every(sweepMs, () => this.sweep());
    this.sweep();
    this.clock.start();
  }

  async stop(): Promise<void> {
    this.stopTimer?.();
    await this.clock.stop();
    await this.sweeping;
  }

  /** A schedule may be due earlier than any was before. */
  wake(): void {
    this.clock.wake();
  }

  private async execute(scheduleId: string, tick: number, caughtUp: boolean, at: number): Promise<void> {
    const input = {
      schedule_id: scheduleId,
      tick,
      trigger: 'cron' as const,
      ...(caughtUp && { caught_up: true }),
    };
    await this.options.jobs().start(this.job, input, { jobId: jobIdOf(scheduleId, tick), at });
  }

  /** Executes a schedule now, beside its ticks. Answers when it has ended, or with its last attempt so far. */
  async trigger({ id, overlap }: Schedule, signal: AbortSignal): Promise<ScheduleRun> {
    const { store, turns, now, triggerWaitMs, timers } = this.options;
    const jobs = this.options.jobs();
    const holder = overlap === 'skip' ? await turns.holder(id) : undefined;
    if (holder !== undefined && (await jobs.isUnfinished(holder))) throw errors.scheduleBusy();
    const [jobId, tick] = [newId(), await now()];
    const attempt = { attempt: 1, jobId, at: tick, input: null, trigger: 'manual', tickAt: tick } as const;
    if (!(await store.begin({ ...attempt, id: attemptIdOf(jobId, 1), scheduleId: id })))
      throw errors.scheduleNotFound();
    await jobs.start(this.job, { schedule_id: id, tick, trigger: 'manual' }, { jobId, at: tick });
    const waiting = new AbortController();
    const giveUp = () => waiting.abort();
    const stopTimer = timers.after(triggerWaitMs, giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await jobs.ended(this.job, jobId, waiting.signal);
    } catch (error) {
      if (!waiting.signal.aborted) throw error;
    } finally {
      stopTimer();
      signal.removeEventListener('abort', giveUp);
    }
    const last = (await store.attemptsOf(jobId)).at(-1);
    if (last === undefined) throw errors.scheduleNotFound();
    return last;
  }

  private sweep(): void {
    this.sweeping ??= this.endAbandoned()
      .catch((error: unknown) =>
        this.options.log.warn({ err: error }, 'attempts of schedules could not be looked after'),
      )
      .finally(() => {
        this.sweeping = undefined;
      });
  }

  /** Ends the records of attempts whose job has ended without them, or was never started. */
  private async endAbandoned(): Promise<void> {
    const { store, turns, now } = this.options;
    const before = (await now()) - freshMs;
    for (let after = ''; ; ) {
      const found = await turns.unfinished(before, after, rowsAtOnce);
      for (const { id, jobId } of found) {
        const state = await this.options.jobs().find(this.job, jobId);
        if (state !== undefined && !terminalStatuses.has(state.status)) continue;
        const at = await now();
        const error = state?.error?.message ?? 'The execution was interrupted';
        const status = state?.status === 'cancelled' ? 'cancelled' : 'failed';
        await store.finish(id, resultOf(outcomeOf({ status, at, error })), at);
      }
      const last = found.at(-1);
      if (last === undefined || found.length < rowsAtOnce) return;
      after = last.id;
    }
  }
}
