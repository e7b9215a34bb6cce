import { isReported } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import type { Timers } from '../../core/timers.js';
import { isLeaseOwnerGone, newLeaseOwner } from '../../platform/engine/local/lease-owner.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import type { Database } from '../../platform/storage/database.js';
import type { DailyMetrics } from './daily-metrics.js';
import { DayCounter } from './day-counter.js';
import { type RefreshRecord, RefreshStore } from './refresh-store.js';
import { type DayRange, MetricsStore } from './store.js';

export interface DatabaseMetricsOptions {
  readonly timers: Timers;
  readonly log: Log;
}

export type RefreshStatus = Pick<RefreshRecord, 'status' | 'startedAt' | 'finishedAt' | 'error'>;

/** A process that has said nothing for so long has lost its refresh. */
const leaseMs = 60_000;
/** How long a reader waits for the newest numbers. */
const patienceMs = 5_000;
/** A count that took longer than this is not repeated at once, but after so many times as long. */
const quickMs = 100;
const restFactor = 20;

const failureText = 'The metrics could not be counted. The log of the service says why.';
const interruptedText = 'The process that refreshed the metrics stopped before it was done.';

/** The daily metrics of one database. */
export class DatabaseMetrics {
  private readonly store: MetricsStore;
  private readonly refreshes: RefreshStore;
  private readonly counter: DayCounter;
  private readonly owner = newLeaseOwner();
  private readonly isGone: (owner: string) => boolean;
  /** One count at a time. */
  private last: Promise<unknown> = Promise.resolve();
  private catchingUp: Promise<void> | undefined;
  private restsUntil = 0;
  private stopped = false;

  constructor(
    database: Database,
    private readonly options: DatabaseMetricsOptions,
  ) {
    this.store = new MetricsStore(database);
    this.refreshes = new RefreshStore(database);
    const { store: metrics, refreshes } = this;
    this.counter = new DayCounter({ metrics, refreshes, timers: options.timers });
    // only the processes of one machine can be asked whether they are there
    this.isGone = database.dialect === 'sqlite' ? isLeaseOwnerGone : () => false;
  }

  /** The days of a range, with what has happened until now. */
  async days(range: DayRange): Promise<{ days: readonly DailyMetrics[]; updatedAt: number | null }> {
    await this.waitFor(this.catchUp());
    const days = await this.store.listedDays(range);
    return { days, updatedAt: days.length === 0 ? null : await this.store.updatedAt() };
  }

  /** Counts all that has changed, and answers with the days that it was. */
  async refresh(): Promise<readonly DailyMetrics[]> {
    // a refresh of another caller does not stop this one from counting: it only holds the status
    const held = await this.claim();
    const days = new Set(await this.refreshNow(held));
    return (await this.store.days({})).filter(({ day }) => days.has(day));
  }

  /** Starts a refresh unless one is running: of concurrent attempts, in any process, one starts. */
  async startRefresh(): Promise<boolean> {
    if (!(await this.claim())) return false;
    // it is logged, and the status shows it
    this.refreshNow(true).catch(() => {});
    return true;
  }

  async status(): Promise<RefreshStatus> {
    const { status, startedAt, finishedAt, error, owner, leaseExpiresAt } = await this.refreshes.read();
    const isLost =
      status === 'running' && ((leaseExpiresAt ?? 0) <= (await this.store.now()) || this.isGone(owner ?? ''));
    if (isLost) return { status: 'failed', startedAt, finishedAt, error: interruptedText };
    return { status, startedAt, finishedAt, error };
  }

  /** Ends what is being counted after the present day. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (let waited: unknown; waited !== this.last; ) {
      waited = this.last;
      await waited;
    }
  }

  private async claim(): Promise<boolean> {
    const now = await this.store.now();
    const { owner: holder } = await this.refreshes.read();
    const gone = holder !== null && this.isGone(holder) ? holder : null;
    return this.refreshes.claim({ owner: this.owner, now, expiresAt: now + leaseMs, gone });
  }

  private async refreshNow(held: boolean): Promise<number[]> {
    const { timers, log } = this.options;
    let renewedAt = timers.elapsed();
    const goOn = async () => {
      if (this.stopped) return false;
      if (!held || timers.elapsed() - renewedAt < leaseMs / 4) return true;
      renewedAt = timers.elapsed();
      await this.refreshes.renew(this.owner, (await this.store.now()) + leaseMs);
      return true;
    };
    return this.inTurn(async () => {
      try {
        const days = await this.counter.count({ thorough: true, goOn });
        if (held) await this.end(this.stopped ? interruptedText : null);
        return days;
      } catch (error) {
        if (!isReported(error)) log.error({ err: error }, 'refreshing the metrics failed');
        if (held) await this.end(failureText).catch(() => {});
        throw error;
      }
    });
  }

  private async end(error: string | null): Promise<void> {
    const status = error === null ? 'completed' : 'failed';
    await this.refreshes.end(this.owner, { status, error, now: await this.store.now() });
  }

  /** All who read at the same time wait for one count. */
  private catchUp(): Promise<void> {
    const { timers, log } = this.options;
    if (this.stopped || timers.now() < this.restsUntil) return Promise.resolve();
    this.catchingUp ??= this.inTurn(async () => {
      const begun = timers.now();
      try {
        await this.counter.count({ thorough: false, goOn: () => !this.stopped });
      } catch (error) {
        if (!isReported(error)) log.warn({ err: error }, 'the newest metrics could not be counted');
      }
      const took = timers.now() - begun;
      if (took > quickMs) this.restsUntil = timers.now() + took * restFactor;
    }).finally(() => {
      this.catchingUp = undefined;
    });
    return this.catchingUp;
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work, work);
    this.last = result.catch(() => {});
    return result;
  }

  /** Waits, but not forever: the days that were counted before are better than no answer. */
  private async waitFor(work: Promise<void>): Promise<void> {
    let cancel = () => {};
    const timeUp = new Promise<void>((resolve) => {
      cancel = this.options.timers.after(patienceMs, resolve);
    });
    await Promise.race([work, timeUp]);
    cancel();
  }
}

/** Where the metrics are: one part for each database. */
export interface MetricsSpaces {
  choose(query: DatabaseQuery): Promise<{ readonly metrics: DatabaseMetrics }>;
}

/** What the service has done, day by day. The numbers are the whole service's: they are for its operators. */
export class MetricsService {
  constructor(private readonly spaces: MetricsSpaces) {}

  async days(query: DatabaseQuery, range: DayRange) {
    return (await this.spaces.choose(query)).metrics.days(range);
  }

  async refresh(query: DatabaseQuery): Promise<readonly DailyMetrics[]> {
    return (await this.spaces.choose(query)).metrics.refresh();
  }

  /** Whether a refresh was begun; false when one is on its way. */
  async startRefresh(query: DatabaseQuery): Promise<boolean> {
    return (await this.spaces.choose(query)).metrics.startRefresh();
  }

  async status(query: DatabaseQuery): Promise<RefreshStatus> {
    return (await this.spaces.choose(query)).metrics.status();
  }
}
