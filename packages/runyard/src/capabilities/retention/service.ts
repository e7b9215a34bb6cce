import { isReported } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import { mostResponses } from '../../core/models/cache/response-cache.js';
import { keysKeptMs } from '../../core/runs/engine.js';
import type { Timers } from '../../core/timers.js';
import type { Settings } from '../../platform/settings/config.js';
import type { Database } from '../../platform/storage/database.js';
import { endOfTime, idOfDay, type SlicedTable, slicedTables, today } from '../../platform/storage/slices.js';
import { SlicesStore } from './slices-store.js';
import { type EndedPlace, type LeftFrom, RetentionStore } from './store.js';

export interface RetentionOptions {
  /** How long each kind of data is kept; 0: forever. */
  readonly settings: Pick<Settings, 'eventRetentionHours' | 'traceRetentionDays'> &
    Partial<
      Pick<Settings, 'evalRetentionDays' | 'scheduleHistoryDays' | 'mcpSessionHours' | 'runRetentionDays'>
    >;
  readonly timers: Timers;
  readonly log: Log;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** How long a job is kept after its end, with its steps and events. */
const jobsKeptMs = 7 * dayMs;

/** How long the stream of a request of an MCP client can be resumed. */
const mcpRequestsKeptMs = dayMs;

/** How long the caller of a run has to read media that the run does not keep. */
const releasedMediaMs = 60_000;
/** How long bytes may be stored before the run that they are for. */
const unusedMediaMs = hourMs;

/** How often to look for what is too old. A look that finds nothing costs a few reads. */
const sweepMs = 60_000;

/** What one statement removes, and how long others have the database to themselves after it. */
const removedAtOnce = 500;
const pauseMs = 20;

/** A block of events may be large. */
const blocksAtOnce = 50;
const runsAtOnce = 200;
/** Each takes its steps and events along. */
const runsRemovedAtOnce = 100;
/** The days of a slice: few, where slices are dropped soon; a slice costs every read a little. */
const sliceDays = { short: 1, middle: 7, long: 28 } as const;
/** A job takes thousands of steps along. */
const jobsRemovedAtOnce = 20;
const evalsRemovedAtOnce = 20;
/** Each may have many megabytes. */
const mediaRemovedAtOnce = 20;
/** A request takes its events along. */
const mcpRemovedAtOnce = 50;

/**
 * Removes what is too old from one database: events, runs, traces, evals, scores of live evals, the history of schedules,
 * sessions of MCP clients, cached answers of models, keys and jobs, and nothing else. Several processes may do so at once.
 */
export class RetentionService {
  private readonly store: RetentionStore;
  /** PostgreSQL only. */
  private readonly slices: Readonly<Record<SlicedTable['name'], SlicesStore>> | undefined;
  private stopTimer: () => void = () => {};
  private sweeping: Promise<void> | undefined;
  private ended = false;
  private isFailing = false;

  constructor(
    private readonly database: Database,
    private readonly options: RetentionOptions,
  ) {
    this.store = new RetentionStore(database);
    if (database.dialect === 'postgres')
      this.slices = {
        steps: new SlicesStore(database, slicedTables.steps),
        event_blocks: new SlicesStore(database, slicedTables.event_blocks),
      };
  }

  begin(): void {
    this.stopTimer = this.options.timers.every(sweepMs, () => void this.sweep());
  }

  /** Scans the database once. One scan at a time: a caller who asks during a scan waits for that one. */
  sweep(): Promise<void> {
    this.sweeping ??= this.sweepNow().finally(() => {
      this.sweeping = undefined;
    });
    return this.sweeping;
  }

  /** Removes nothing from now on. */
  async end(): Promise<void> {
    this.stopTimer();
    this.ended = true;
    await this.sweeping;
  }

  /** An unavailable database is tried again with the next scan, which is logged once. */
  private async sweepNow(): Promise<void> {
    const facts = { database: this.database.id };
    try {
      await this.removeAll();
      if (this.isFailing) this.options.log.info(facts, 'removing old data works again');
      this.isFailing = false;
    } catch (error) {
      if (isReported(error)) return;
      if (!this.isFailing && !this.ended)
        this.options.log.warn({ ...facts, err: error }, 'old data could not be removed; retrying later');
      this.isFailing = true;
    }
  }

  private async removeAll(): Promise<void> {
    const { settings, timers } = this.options;
    const { eventRetentionHours, traceRetentionDays } = settings;
    const { evalRetentionDays = 0, scheduleHistoryDays = 0 } = settings;
    // by the clock of this process: ages are a day and more, and what differing clocks shift is a small part of that
    const now = timers.now();
    await this.inBatches(removedAtOnce, (limit) => this.store.removeKeys(now - keysKeptMs, limit));
    await this.inBatches(jobsRemovedAtOnce, (limit) => this.store.removeJobs(now - jobsKeptMs, limit));
    await this.inBatches(removedAtOnce, (limit) => this.store.removeExpiredOauth(now - dayMs, limit));
    await this.inBatches(mediaRemovedAtOnce, (limit) =>
      this.store.removeReleasedMedia(now - releasedMediaMs, limit),
    );
    await this.inBatches(mediaRemovedAtOnce, (limit) =>
      this.store.removeUnusedMedia(now - unusedMediaMs, limit),
    );
    await this.removeResponses(now);
    if (traceRetentionDays > 0) {
      const before = now - traceRetentionDays * dayMs;
      await this.inBatches(removedAtOnce, (limit) => this.store.removeTraces(before, limit));
      await this.inBatches(removedAtOnce, (limit) => this.store.removeEvals(before, limit));
    }
    if (evalRetentionDays > 0) {
      const before = now - evalRetentionDays * dayMs;
      await this.inBatches(evalsRemovedAtOnce, (limit) => this.store.removeEvalRuns(before, limit));
    }
    if (scheduleHistoryDays > 0) {
      const until = now - scheduleHistoryDays * dayMs;
      await this.inBatches(removedAtOnce, (limit) => this.store.removeScheduleRuns(until, limit));
    }
    const { mcpSessionHours = 0 } = settings;
    if (mcpSessionHours > 0) {
      const unused = now - mcpSessionHours * hourMs;
      await this.inBatches(mcpRemovedAtOnce, (limit) => this.store.removeMcpSessions(unused, limit));
      const begun = now - mcpRequestsKeptMs;
      await this.inBatches(mcpRemovedAtOnce, (limit) => this.store.removeMcpRequests(begun, limit));
    }
    const leftFrom = await this.sliced(now);
    if (eventRetentionHours > 0) await this.removeEvents(now - eventRetentionHours * hourMs, leftFrom);
    const { runRetentionDays = 0 } = settings;
    if (runRetentionDays === 0) return;
    const before = now - runRetentionDays * dayMs;
    await this.inBatches(runsRemovedAtOnce, (limit) => this.store.removeRuns(before, limit, leftFrom));
    await this.slices?.steps.drop(today(before));
    if (eventRetentionHours === 0) await this.slices?.event_blocks.drop(today(before));
  }

  /** Prepares the slices of the days to come, and drops those of events. What is newer than the rest is left to them. */
  private async sliced(now: number): Promise<LeftFrom> {
    const none = idOfDay(endOfTime);
    if (this.slices === undefined) return { steps: none, event_blocks: none };
    const { steps, event_blocks } = this.slices;
    const { eventRetentionHours, runRetentionDays = 0 } = this.options.settings;
    const runDays = runRetentionDays > 0 && runRetentionDays <= 180 ? sliceDays.middle : sliceDays.long;
    const eventDays = eventRetentionHours > 0 && eventRetentionHours <= 14 * 24 ? sliceDays.short : runDays;
    await steps.extend(runDays, now);
    await event_blocks.extend(eventDays, now);
    const until = now - eventRetentionHours * hourMs;
    if (eventRetentionHours > 0) await event_blocks.drop(today(until), until);
    return { steps: await steps.leftFrom(), event_blocks: await event_blocks.leftFrom() };
  }

  /** Those that have expired, then those that expire first while there are too many. */
  private async removeResponses(now: number): Promise<void> {
    const until = (time: number) =>
      this.inBatches(removedAtOnce, (limit) => this.store.removeResponses(time, limit));
    await until(now);
    const surplus = await this.store.surplusUntil(mostResponses);
    if (surplus !== undefined) await until(surplus);
  }

  /**
   * In the order in which the runs ended. How far that got is noted, so that the next look begins there. A run is
   * stored moments after the time that it notes as its end, and the shortest retention is an hour: none is passed by.
   */
  private async removeEvents(until: number, { event_blocks }: LeftFrom): Promise<void> {
    let place: EndedPlace = { endedAt: await this.store.removedUntil(), runId: '' };
    while (!this.ended) {
      const runs = await this.store.ended(place, until, runsAtOnce);
      const last = runs.at(-1);
      if (last === undefined) return;
      const runIds = runs.map(({ runId }) => runId);
      await this.inBatches(blocksAtOnce, (limit) =>
        this.store.removeEvents(runIds, until, limit, event_blocks),
      );
      if (this.ended) return;
      if (last.endedAt > place.endedAt) await this.store.noteRemoved(last.endedAt);
      place = last;
      if (runs.length < runsAtOnce) return;
      await this.pause();
    }
  }

  private async inBatches(limit: number, remove: (limit: number) => Promise<number>): Promise<void> {
    while (!this.ended && (await remove(limit)) === limit) await this.pause();
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => {
      this.options.timers.after(pauseMs, resolve);
    });
  }
}
