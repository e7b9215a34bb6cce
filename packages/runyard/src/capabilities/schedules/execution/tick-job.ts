import { pause } from '../../../core/async/abort.js';
import { idFrom, newId } from '../../../core/ids.js';
import { defineJob, type Job, type JobContext } from '../../../core/runs/jobs/job.js';
import type { Jobs } from '../../../core/runs/jobs/jobs.js';
import type { Schedule, ScheduleRun } from '../schedule.js';
import type { ScheduleTicksStore } from '../ticks-store.js';
import { type AttemptSite, isRepeatable, makeAttempt } from './attempt.js';
import {
  type AttemptOutcome,
  attemptOutcome,
  begunAttempt,
  outcomeOf,
  resultOf,
  type TickInput,
  tickInput,
  tickResult,
} from './tick-records.js';
import type { TurnStore } from './turns-store.js';

export type TickJob = Job<TickInput, { readonly attempts: number }>;

/** What executions of schedules work with. */
export interface ExecutionSite extends AttemptSite {
  readonly store: ScheduleTicksStore;
  readonly turns: TurnStore;
  readonly jobs: () => Pick<Jobs, 'isUnfinished' | 'ended'>;
  /** How many executions a process has in progress at once, apart from those that wait. */
  readonly slots: number;
}

/** How many executions of one schedule may wait for each other. */
const mostWaiting = 100;

/** Eleven attempts of a day each, with an hour between them. */
const longestMs = 14 * 86_400_000;

/** The job of a tick: however many processes start it, it exists once. */
export function jobIdOf(scheduleId: string, tick: number): string {
  return idFrom(`schedule ${scheduleId} tick ${tick}`);
}

/** The record of an attempt: the same for whichever process makes it. */
export function attemptIdOf(jobId: string, attempt: number): string {
  return idFrom(`${jobId} attempt ${attempt}`);
}

/** Executes one tick of a schedule, or a manual trigger: all attempts of it. */
export function tickJob(site: ExecutionSite): TickJob {
  const job: TickJob = defineJob({
    kind: 'schedule-tick',
    input: tickInput,
    result: tickResult,
    ownSlots: site.slots,
    limits: { timeMs: longestMs },
    execute: (context, input) => new Execution(site, job, context, input).run(),
  });
  return job;
}

function isActive({ enabled, retiredAt }: Schedule): boolean {
  return enabled && retiredAt === null;
}

class Execution {
  private readonly scheduleId: string;

  constructor(
    private readonly site: ExecutionSite,
    private readonly job: TickJob,
    private readonly context: JobContext,
    private readonly input: TickInput,
  ) {
    this.scheduleId = input.schedule_id;
  }

  async run(): Promise<{ readonly attempts: number }> {
    const { site, scheduleId, context } = this;
    const schedule = await site.store.current(scheduleId);
    if (schedule === undefined) return { attempts: 0 };
    if (!this.isWanted(schedule)) {
      // the record of a trigger exists before its job
      if (this.input.trigger === 'manual') await this.skip('the schedule was disabled');
      return { attempts: 0 };
    }
    if (!(await this.takesTurn(schedule))) return { attempts: 1 };
    const attempts = schedule.overlap === 'allow' ? await this.makeAttempts(schedule) : await this.inTurn();
    if (schedule.overlap !== 'allow') await site.turns.giveBack(scheduleId, context.jobId);
    await site.store.trim(scheduleId);
    return { attempts };
  }

  /** It may have waited for long: what counts is the schedule as it is now. */
  private async inTurn(): Promise<number> {
    const schedule = await this.site.store.current(this.scheduleId);
    if (schedule === undefined) return 0;
    if (this.isWanted(schedule)) return this.makeAttempts(schedule);
    await this.skip('the schedule was disabled');
    return 1;
  }

  /** It may have been disabled since the tick; an execution that has begun is brought to its end. */
  private isWanted(schedule: Schedule): boolean {
    return this.context.attempt > 1 || isActive(schedule);
  }

  private async makeAttempts(first: Schedule): Promise<number> {
    const { site, context } = this;
    let schedule = first;
    let earlier: Pick<AttemptOutcome, 'run_id' | 'session_id'> = { run_id: null, session_id: null };
    for (let attempt = 1; ; attempt += 1) {
      const made = await this.attempt(schedule, attempt);
      const outcome = {
        ...made,
        run_id: made.run_id ?? earlier.run_id,
        session_id: made.session_id ?? earlier.session_id,
      };
      earlier = outcome;
      await site.store.finish(attemptIdOf(context.jobId, attempt), resultOf(outcome), outcome.at);
      if (outcome.disables !== undefined) {
        await this.disable(schedule, outcome.disables, outcome.at);
        return attempt;
      }
      if (outcome.status !== 'failed' || attempt > schedule.maxRetries) return attempt;
      const waitMs = outcome.at + schedule.retryDelaySeconds * 1000 - (await site.now());
      await context.idle(() => pause(Math.max(0, waitMs), context.signal, context.timers));
      const now = await site.store.current(this.scheduleId);
      if (now === undefined || !isActive(now)) return attempt;
      schedule = now;
    }
  }

  /** An attempt is two steps: what it is called and when it began, and what it came to. */
  private async attempt(schedule: Schedule, attempt: number): Promise<AttemptOutcome> {
    const { site, context } = this;
    const begun = await context.step(
      `begun:${attempt}`,
      { name: 'begin', record: begunAttempt },
      async () => ({
        run_id: newId(),
        at: await site.now(),
      }),
    );
    await this.begin(attempt, begun.at);
    const lost = (message: string) => outcomeOf({ status: 'failed', at: begun.at, error: message });
    const step = { name: 'attempt', record: attemptOutcome, ...(isRepeatable(schedule) ? {} : { lost }) };
    // a run is found again by the id that is durable before it is started
    await context.stored();
    const recordId = attemptIdOf(context.jobId, attempt);
    return context.step(`attempt:${attempt}`, step, () =>
      makeAttempt(site, { schedule, recordId, begun }, context),
    );
  }

  private begin(attempt: number, at: number): Promise<boolean> {
    const { context, scheduleId } = this;
    const { tick: tickAt, trigger } = this.input;
    const { jobId } = context;
    const id = attemptIdOf(jobId, attempt);
    return this.site.store.begin({ id, scheduleId, trigger, tickAt, attempt, jobId, at, input: null });
  }

  private async disable(schedule: Schedule, reason: string, at: number): Promise<void> {
    const { log } = this.context;
    if (await this.site.store.disable(schedule, reason, at))
      log.warn({ schedule: schedule.name, schedule_id: schedule.id }, `a schedule was disabled: ${reason}`);
  }

  /** Whether this execution may begin: at once, or when those before it have ended, as the schedule says. */
  private async takesTurn({ overlap }: Schedule): Promise<boolean> {
    const { site, scheduleId, context, input } = this;
    if (overlap === 'allow') return true;
    const waits = overlap === 'queue' || input.caught_up === true;
    let isRecorded = false;
    for (;;) {
      const ahead = await this.ahead(waits);
      if (ahead === undefined) return true;
      if (!waits) return this.skip('an earlier execution of this schedule had not ended');
      if (!isRecorded) {
        const isFull = (await site.store.running(scheduleId)).length >= mostWaiting;
        if (isFull) return this.skip(`${mostWaiting} executions of this schedule were waiting already`);
        await this.begin(1, await site.now());
        isRecorded = true;
        // one that began to wait in the meantime may be before this one
        continue;
      }
      await context.idle(() => site.jobs().ended(this.job, ahead, context.signal));
    }
  }

  /** The execution that this one has to wait for; undefined: it has its turn. */
  private async ahead(waits: boolean): Promise<string | undefined> {
    const { site, scheduleId, context, input } = this;
    if (waits) {
      // it took its turn before a crash: an earlier tick that came late waits for this one
      if ((await site.turns.holder(scheduleId)) === context.jobId) return undefined;
      const isBefore = ({ jobId, tickAt }: ScheduleRun) => jobId !== context.jobId && tickAt < input.tick;
      const before = (await site.store.running(scheduleId)).filter(isBefore);
      for (const { jobId } of before.toSorted((one, other) => other.tickAt - one.tickAt))
        if (await site.jobs().isUnfinished(jobId)) return jobId;
    }
    for (;;) {
      const holder = await site.turns.take(scheduleId, context.jobId);
      if (holder === undefined || holder === context.jobId) return undefined;
      if (await site.jobs().isUnfinished(holder)) return holder;
      await site.turns.takeOver(scheduleId, holder, context.jobId);
    }
  }

  private async skip(reason: string): Promise<false> {
    const at = await this.site.now();
    await this.begin(1, at);
    const outcome = outcomeOf({ status: 'cancelled', at, error: `Skipped: ${reason}` });
    await this.site.store.finish(attemptIdOf(this.context.jobId, 1), resultOf(outcome), at);
    return false;
  }
}
