import { backOffMs } from '../../../core/async/back-off.js';
import { mapConcurrently } from '../../../core/async/concurrency.js';
import { isReported } from '../../../core/errors/errors.js';
import type { Log } from '../../../core/log.js';
import { InvalidCron } from '../../../core/schedules/cron.js';
import { jitterMs } from '../../../core/schedules/jitter.js';
import { type Ticks, ticksOf } from '../../../core/schedules/ticks.js';
import type { Timers } from '../../../core/timers.js';
import type { Schedule } from '../schedule.js';
import type { ScheduleTicksStore } from '../ticks-store.js';

export interface ClockOptions {
  readonly store: Pick<ScheduleTicksStore, 'due' | 'nextDue' | 'advance' | 'disable'>;
  /** Starts the execution of a tick, once however many processes start it. `time` is when it was found to be due. */
  readonly execute: (scheduleId: string, tick: number, caughtUp: boolean, time: number) => Promise<void>;
  /** The time by which all processes go. */
  readonly now: () => Promise<number>;
  /** How often to look at the least: other processes change schedules, and clocks are set. */
  readonly pollMs: number;
  /** Up to so long a process waits at a tick, so that the processes of a database do not all do the same. */
  readonly spreadMs: number;
  readonly timers: Timers;
  readonly log: Log;
  /** The ticks of a cron expression in a time zone. Tests have faster ones. */
  readonly ticksOf?: (cron: string, zone: string) => Promise<Ticks>;
}

/** How many schedules one statement finds, and how many of them are started at once. */
const batchSize = 50;
const atOnce = 10;
/** A tick that is later than this was missed. */
const lateMs = 60_000;
/** How many missed ticks of a schedule are caught up: the last ones. */
const mostCaughtUp = 100;
/** What was read longer ago is read again: the process may have been suspended since. */
const freshMs = 30_000;
const failing = { delayMs: 1000, maximumMs: 60_000 };

/**
 * Starts what is due. A process has one timer, for the schedule that is due first. A tick is started before the
 * schedule moves on to its next one: a process that dies in between leaves the tick to another one, for which the job of
 * the tick exists already.
 */
export class ScheduleClock {
  private stopTimer: (() => void) | undefined;
  private looking: Promise<void> | undefined;
  /** Whether something has changed since the look in progress began. */
  private isWoken = false;
  private stopped = false;
  private failures = 0;

  constructor(private readonly options: ClockOptions) {}

  /** Begins, or begins again after a stop. */
  start(): void {
    this.stopped = false;
    this.wake();
  }

  /** Looks now: a schedule may be due earlier than any was before. */
  wake(): void {
    if (this.stopped) return;
    this.isWoken = true;
    this.looking ??= this.look().finally(() => {
      this.looking = undefined;
      // something may have changed after the last look and before this
      if (this.isWoken) this.wake();
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.stopTimer?.();
    await this.looking;
  }

  private async look(): Promise<void> {
    this.stopTimer?.();
    while (this.isWoken && !this.stopped) {
      this.isWoken = false;
      const waitMs = await this.startDue().catch((error: unknown) => this.failed(error));
      this.waitFor(waitMs);
    }
  }

  private failed(error: unknown): number {
    // an outage of the database has a line in the log already, and one line says enough of any other failure
    if (!isReported(error) && this.failures === 0)
      this.options.log.error({ err: error }, 'schedules could not be looked at; further attempts follow');
    this.failures += 1;
    return backOffMs(failing, this.failures - 1);
  }

  private waitFor(ms: number): void {
    this.stopTimer?.();
    if (this.stopped) return;
    // one that repeats keeps no process alive; it is stopped when it fires
    const stop = this.options.timers.every(Math.max(1, ms), () => {
      stop();
      this.wake();
    });
    this.stopTimer = stop;
  }

  /** Starts everything that is due, and answers how long there is nothing to do. */
  private async startDue(): Promise<number> {
    const { store, now, pollMs, spreadMs, timers } = this.options;
    const failures = new Map<string, unknown>();
    for (;;) {
      const readAt = timers.elapsed();
      const time = await now();
      const due = (await store.due(time, batchSize)).filter(({ id }) => !failures.has(id));
      // a few at a time: those that other processes start meanwhile are not found again
      const some = shuffled(due).slice(0, atOnce);
      const isFresh = () => timers.elapsed() - readAt < freshMs;
      const moved = await mapConcurrently(atOnce, some, async (schedule) => {
        if (this.stopped || !isFresh()) return false;
        // one that cannot be started keeps no other from its tick
        return this.startTicks(schedule, time).catch((error: unknown) => {
          failures.set(schedule.id, error);
          return true;
        });
      });
      if (this.stopped) return pollMs;
      if (due.length <= atOnce || (isFresh() && !moved.includes(true))) break;
    }
    const [failure] = failures.values();
    if (failure !== undefined) throw failure;
    this.failures = 0;
    const next = await store.nextDue();
    if (next === undefined) return pollMs;
    return Math.min(pollMs, Math.max(0, next.dueAt - next.now) + 1 + Math.random() * spreadMs);
  }

  /** Starts the ticks of a schedule that are due. Whether it has moved on, here or elsewhere. */
  private async startTicks(schedule: Schedule, time: number): Promise<boolean> {
    const { store, execute, log } = this.options;
    const { id, nextTick: tick, name } = schedule;
    if (tick === null) return false;
    const dueAt = (one: number) => one + jitterMs(id, one, schedule.jitterSeconds);
    const { due, next } = (await this.standing(schedule, tick, time, dueAt)) ?? {};
    const latestMs = lateMs + schedule.jitterSeconds * 1000;
    const chosen = chosenOf(schedule.missed, due ?? [], (one) => time - one > latestMs);
    for (const one of chosen) await execute(id, one, chosen.length > 1, time);
    if (due !== undefined && chosen.length < due.length)
      log.info({ schedule: name, schedule_id: id }, 'ticks of a schedule were missed and are skipped');
    if (next === undefined) {
      const reason = `No next time can be computed from '${schedule.cronExpr}' in ${schedule.timezone}`;
      if (await store.disable(schedule, reason, time)) log.warn({ schedule: name, schedule_id: id }, reason);
      return true;
    }
    await store.advance(schedule, { tick: next, dueAt: dueAt(next) });
    return true;
  }

  /** The ticks that are due, and the one after them; undefined: the expression or the zone is not known here. */
  private async standing(
    { cronExpr, timezone }: Schedule,
    tick: number,
    time: number,
    dueAt: (tick: number) => number,
  ): Promise<{ readonly due: readonly number[]; readonly next: number | undefined } | undefined> {
    try {
      const ticks = await (this.options.ticksOf ?? ticksOf)(cronExpr, timezone);
      const later = ticks.between(tick, time, mostCaughtUp);
      // with a jitter, ticks have passed whose own time has not come
      const ahead = later.find((one) => dueAt(one) > time);
      const due = [tick, ...later.filter((one) => ahead === undefined || one < ahead)];
      return { due, next: ahead ?? ticks.next(time) };
    } catch (error) {
      if (error instanceof InvalidCron || error instanceof RangeError) return undefined;
      throw error;
    }
  }
}

/** The ticks to execute: those that are due, and of those that were missed the ones that the schedule asks for. */
function chosenOf(
  missed: Schedule['missed'],
  due: readonly number[],
  isMissed: (tick: number) => boolean,
): readonly number[] {
  if (missed === 'all' || !due.some(isMissed)) return due.slice(-mostCaughtUp);
  // the same one in every process: the one that the schedule stands at
  return missed === 'once' ? due.slice(0, 1) : due.filter((tick) => !isMissed(tick));
}

/** In another order in each process: those that start at the same time do not all begin with the same one. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
