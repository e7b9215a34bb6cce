import type { Timers } from '../../core/timers.js';
import { dayOf } from './day.js';
import type { RefreshStore } from './refresh-store.js';
import type { MetricsStore } from './store.js';

/** How far to look back over what was counted: clocks differ, and a write may take a while to be seen. */
const overlapMs = 120_000;
/** How old the mark of what is counted may get before it is moved on. */
const markedForMs = 120_000;
/** How often the current day is counted again without a new run or session: something may have been deleted. */
const recountMs = 60_000;

export interface DayCounterOptions {
  readonly metrics: MetricsStore;
  readonly refreshes: RefreshStore;
  readonly timers: Pick<Timers, 'now' | 'soon'>;
}

/** What to count: what has changed, or also what was not reported. */
export interface CountRequest {
  /** Checks every day that has data. */
  readonly thorough: boolean;
  /** Asked before each day; false ends it there. */
  readonly goOn: () => boolean | Promise<boolean>;
}

/** Keeps the daily sums of a database up to date: days are counted again when something of them has changed. */
export class DayCounter {
  /** The changes that this process has counted, by day. */
  private counted = new Map<number, string>();

  constructor(private readonly options: DayCounterOptions) {}

  /** Answers with the days that were counted, each in a transaction of its own. */
  async count({ thorough, goOn }: CountRequest): Promise<number[]> {
    const { metrics, refreshes, timers } = this.options;
    await refreshes.prepare();
    const { countedUntil } = await refreshes.read();
    const startedAt = await metrics.now();
    // not each time: what was counted since the mark is read again and recognised
    const mark = startedAt - countedUntil > markedForMs ? startedAt : countedUntil;
    // before looking for the days: what comes in between is then seen by the next count
    const seen = await metrics.changedSince(mark - overlapMs);
    const days = new Set([
      ...(countedUntil === 0
        ? await this.daysAfter(-1, async () => true)
        : await this.changed(countedUntil - overlapMs, thorough)),
      ...(await metrics.unfinished(timers.now() - (thorough ? 0 : recountMs))),
    ]);
    const done: number[] = [];
    for (const day of [...days].sort((left, right) => left - right)) {
      if (!(await goOn())) return done;
      await metrics.count(day, timers.now());
      done.push(day);
    }
    this.counted = new Map(seen.map(({ day, trace }) => [day, trace]));
    if (mark !== countedUntil) await refreshes.advance(mark);
    return done;
  }

  /** Days with runs that this process has not counted as they are, and days with uncounted sessions. */
  private async changed(since: number, thorough: boolean): Promise<number[]> {
    const { metrics } = this.options;
    const changes = await metrics.changedSince(since);
    const late = changes.filter(({ day, trace }) => this.counted.get(day) !== trace);
    const first = thorough ? 0 : dayOf(since);
    return [
      ...late.map(({ day }) => day),
      ...(await this.daysAfter(first - 1, (day) => metrics.isUncounted(day))),
    ];
  }

  /** The days on which something happened and that are wanted. */
  private async daysAfter(after: number, wanted: (day: number) => Promise<boolean>): Promise<number[]> {
    const { metrics, timers } = this.options;
    const found: number[] = [];
    for (let day = await metrics.dayAfter(after); day !== undefined; day = await metrics.dayAfter(day)) {
      if (await wanted(day)) found.push(day);
      // reads of SQLite come back at once: others get their turn between two days
      await new Promise<void>((resolve) => {
        timers.soon(resolve);
      });
    }
    return found;
  }
}
