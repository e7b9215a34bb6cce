import type { Cron } from 'croner';
import { type CronExpression, InvalidCron, parseCron } from './cron.js';
import { instantsOf, offsetAt, type WallTime, wallTimeAt } from './time-zone.js';

/** The ticks of a cron expression in a time zone. All times are milliseconds since the epoch. */
export interface Ticks {
  /** The first tick after an instant; undefined for a date that never comes. */
  next(after: number): number | undefined;
  /** The ticks after an instant, up to another and including it: at most `limit`, the last ones of them. */
  between(after: number, until: number, limit: number): readonly number[];
}

/** Throws `InvalidCron`. Loads croner when it is first called. */
export async function ticksOf(cron: string, zone: string): Promise<Ticks> {
  const expression = parseCron(cron);
  const { Cron: CronOf } = await import('croner');
  // in UTC there is nothing to change: croner knows the calendar, and `ZonedTicks` the zone
  const calendar = new CronOf(expression.fields, { utcOffset: 0, mode: '5-part' });
  return new ZonedTicks(calendar, expression.hours, zone);
}

/** The first tick after an instant. Throws `InvalidCron`, also for an expression whose date never comes. */
export async function nextTick(cron: string, zone: string, after: number): Promise<number> {
  const tick = (await ticksOf(cron, zone)).next(after);
  if (tick === undefined) throw new InvalidCron('Its date never comes.', true);
  return tick;
}

const hourMs = 3_600_000;
/** No clock goes back by more. */
const longestRepeatMs = 3 * hourMs;

/** How many wall times a search looks at: more than the clocks can repeat, minute by minute. */
const longestSearch = 2000;

class ZonedTicks implements Ticks {
  constructor(
    private readonly calendar: Cron,
    private readonly hours: CronExpression['hours'],
    private readonly zone: string,
  ) {}

  next(after: number): number | undefined {
    const { zone } = this;
    // clocks that are about to go back show again what they showed shortly before
    const repeated = Math.max(0, offsetAt(zone, after) - offsetAt(zone, after + longestRepeatMs));
    let wall: WallTime | undefined = wallTimeAt(zone, after) - repeated;
    let soonest: number | undefined;
    for (let looked = 0; looked < longestSearch; looked += 1) {
      wall = this.#nextWall(wall);
      if (wall === undefined) return soonest;
      const ticks = this.#ticksAt(wall);
      for (const tick of ticks) {
        if (tick > after && (soonest === undefined || tick < soonest)) soonest = tick;
      }
      // later wall times first occur later
      const [first] = ticks;
      if (first !== undefined && first > after) return soonest;
    }
    return soonest;
  }

  between(after: number, until: number, limit: number): readonly number[] {
    const { zone } = this;
    // backwards from the end, so that the cost depends on the limit and not on how long ago `after` was
    const repeated = Math.max(0, offsetAt(zone, until - longestRepeatMs) - offsetAt(zone, until));
    let wall: WallTime | undefined = wallTimeAt(zone, until) + repeated + 1000;
    const found = new Set<number>();
    for (let looked = 0; looked < limit + longestSearch && found.size < limit; looked += 1) {
      wall = this.#previousWall(wall);
      if (wall === undefined) break;
      const ticks = this.#ticksAt(wall);
      for (const tick of ticks) if (tick > after && tick <= until) found.add(tick);
      const last = ticks.at(-1);
      if (last !== undefined && last <= after) break;
    }
    return [...found].sort((one, other) => one - other).slice(-limit);
  }

  #nextWall(after: WallTime): WallTime | undefined {
    return this.calendar.nextRun(new Date(after))?.getTime();
  }

  #previousWall(before: WallTime): WallTime | undefined {
    return this.calendar.previousRuns(1, new Date(before))[0]?.getTime();
  }

  /** The ticks of a wall time, in their order. */
  #ticksAt(wall: WallTime): readonly number[] {
    const instants = instantsOf(this.zone, wall);
    // with ticks in every hour, the hour that is left out takes its own along
    if (instants.kind === 'gap') return this.hours === 'every' ? [] : [instants.after];
    const { first, last } = instants;
    return this.hours === 'fixed' || first === last ? [first] : [first, last];
  }
}
