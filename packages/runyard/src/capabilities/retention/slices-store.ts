import type { Database, RunStatement } from '../../platform/storage/database.js';
import {
  aheadOf,
  endOfTime,
  idOfDay,
  keptOf,
  type SlicedTable,
  sliceOf,
  today,
} from '../../platform/storage/slices.js';

/** A range of days, without the last. */
interface Days {
  readonly from: number;
  readonly to: number;
}

/** How a table is sliced now. */
interface Slices {
  readonly kept: Days | undefined;
  readonly slices: readonly Days[];
  /** From this day on there are no slices. */
  readonly ahead: number;
}

/** How many days must have slices before they come. */
const daysAhead = 2;

/** So many runs may keep what is in a slice when it is dropped. With more of them it is tried again later. */
const mostKept = 10_000;

/** Writes wait for the lock with us: not for long. */
const lockWait = `SELECT set_config('lock_timeout', '1s', true), set_config('enable_seqscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`;
const takeTurn = `SELECT pg_try_advisory_xact_lock(hashtextextended('runyard_slices:' || current_schema(), 0))
  AND runyard_try_lock($1) AS taken`;

const readPartitions = `SELECT child.relname AS name FROM pg_inherits
  JOIN pg_class AS child ON child.oid = pg_inherits.inhrelid
  WHERE pg_inherits.inhparent = to_regclass($1)`;

const isOver = (until: string) =>
  `status IN ('completed', 'error', 'cancelled', 'regenerated') AND updated_at <= ${until}`;

/** The partitions of one table, on PostgreSQL: made before their time, dropped when it is over. */
export class SlicesStore {
  constructor(
    private readonly database: Database,
    private readonly table: SlicedTable,
  ) {}

  /** From which id on rows are in slices that will be dropped. */
  async leftFrom(): Promise<string> {
    const { slices, ahead } = await this.#now();
    return idOfDay(slices[0]?.from ?? ahead);
  }

  /** Makes slices of so many days for the days to come. */
  async extend(width: number, now: number): Promise<void> {
    const wanted = today(now) + daysAhead;
    if ((await this.#now()).ahead > wanted) return;
    await this.#change(async (run, { ahead }) => {
      if (ahead > wanted) return true;
      const { name } = this.table;
      await run(`ALTER TABLE ${name} DETACH PARTITION ${aheadOf(name, ahead)}`);
      // after a long pause the days without runs are one slice
      let from = ahead;
      if (today(now) - from > width) {
        await this.#make(run, sliceOf(name, from, today(now)), { from, to: today(now) });
        from = today(now);
      }
      for (; from <= wanted; from += width)
        await this.#make(run, sliceOf(name, from, from + width), { from, to: from + width });
      await this.#make(run, aheadOf(name, from), { from, to: endOfTime });
      await run(`INSERT INTO ${name} SELECT * FROM ${aheadOf(name, ahead)}`);
      await run(`DROP TABLE ${aheadOf(name, ahead)}`);
      return true;
    });
  }

  /**
   * Drops the slices that ended before a day. What belongs to runs that are not over, or were over only later than
   * `until`, stays; without a time, what belongs to any run that there is.
   */
  async drop(before: number, until?: number): Promise<void> {
    for (;;) {
      const [oldest] = (await this.#now()).slices;
      if (oldest === undefined || oldest.to > before || !(await this.#dropOne(oldest, until))) return;
    }
  }

  /** Whether the slice is gone: false when it has to be tried again later. */
  async #dropOne(days: Days, until: number | undefined): Promise<boolean> {
    const { name } = this.table;
    // Before the lock: with too many to keep, no write waits; and what is read under the lock is in memory.
    const { length } = await this.database.transaction(async (run) => {
      await run(lockWait);
      return this.#toKeep(run, days, until);
    });
    if (length > mostKept) return false;
    return this.#change(async (run, found) => {
      const [oldest] = found.slices;
      if (oldest?.from !== days.from || oldest.to !== days.to) return true;
      // a run that was retried since then has new events
      const kept = until === undefined ? [] : await this.#toKeep(run, days, until);
      if (kept.length > mostKept) return false;
      const old = [sliceOf(name, days.from, days.to)];
      if (found.kept) old.push(keptOf(name, found.kept.from, found.kept.to));
      for (const partition of old) await run(`ALTER TABLE ${name} DETACH PARTITION ${partition}`);
      const from = found.kept?.from ?? days.from;
      await this.#make(run, keptOf(name, from, days.to), { from, to: days.to });
      for (const partition of old) {
        // a journal is needed for as long as its run is there: also one that was stored since we looked
        const stays =
          until === undefined
            ? `EXISTS (SELECT 1 FROM runs WHERE runs.run_id = ${partition}.run_id)`
            : `${partition}.run_id = ANY($1::text[])`;
        const isKept = partition.includes('_kept_') ? 'true' : stays;
        const parameters = isKept === stays && until !== undefined ? [kept] : [];
        await run(`INSERT INTO ${name} SELECT * FROM ${partition} WHERE ${isKept}`, parameters);
        await run(`DROP TABLE ${partition}`);
      }
      return true;
    });
  }

  /** Whose rows of these days stay: those of runs that are not over, or of all runs without a time. */
  async #toKeep(run: RunStatement, days: Days, until: number | undefined): Promise<string[]> {
    const rows = await run<{ run_id: string }>(
      `SELECT run_id FROM runs WHERE run_id >= $1 AND run_id < $2
        ${until === undefined ? '' : `AND NOT (${isOver('$3')})`} LIMIT ${mostKept + 1}`,
      [idOfDay(days.from), idOfDay(days.to), ...(until === undefined ? [] : [until])],
    );
    return rows.map((row) => row.run_id);
  }

  /** Whether it was done: false when another process does it, or others hold the table for too long. */
  #change(work: (run: RunStatement, found: Slices) => Promise<boolean>): Promise<boolean> {
    return this.database.transaction(async (run) => {
      await run(lockWait);
      const [turn] = await run<{ taken: boolean }>(takeTurn, [this.table.name]);
      return turn?.taken === true && work(run, await this.#read(run));
    });
  }

  #now(): Promise<Slices> {
    return this.database.transaction((run) => this.#read(run));
  }

  #make(run: RunStatement, partition: string, { from, to }: Days): Promise<unknown> {
    return run(
      `CREATE TABLE ${partition} PARTITION OF ${this.table.name} FOR VALUES FROM ('${idOfDay(from)}') TO ('${idOfDay(to)}')`,
    );
  }

  async #read(run: RunStatement): Promise<Slices> {
    const { name } = this.table;
    const rows = await run<{ name: string }>(readPartitions, [name]);
    const named = (kind: string) =>
      rows.flatMap((row): Days[] => {
        const [, found, from, to] = /^.*_(slice|kept|ahead)_(\d+)(?:_(\d+))?$/.exec(row.name) ?? [];
        return found === kind ? [{ from: Number(from), to: Number(to ?? endOfTime) }] : [];
      });
    return {
      kept: named('kept')[0],
      slices: named('slice').sort((one, other) => one.from - other.from),
      ahead: named('ahead')[0]?.from ?? endOfTime,
    };
  }
}
