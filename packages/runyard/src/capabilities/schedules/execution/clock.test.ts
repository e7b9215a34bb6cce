import { beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log.js';
import { jitterMs } from '../../../core/schedules/jitter.js';
import { ticksOf } from '../../../core/schedules/ticks.js';
import type { Timers } from '../../../core/timers.js';
import type { NextTick, Schedule } from '../schedule.js';
import { type ClockOptions, ScheduleClock } from './clock.js';

// croner is loaded: from then on, ticks are computed without waiting
beforeAll(async () => {
  await ticksOf('* * * * *', 'UTC');
});

const minute = 60_000;
const start = Date.UTC(2026, 0, 5, 12);
const pollMs = 15_000;

/** Time that passes when the test says so. The clock has one timer. */
class Time implements Timers {
  /** The time of the database, which can be set. */
  database = start;
  #elapsed = 0;
  #timer: { readonly at: number; readonly work: () => void } | undefined;

  now = () => this.database;
  elapsed = () => this.#elapsed;
  soon = (work: () => void) => queueMicrotask(work);
  after = (): never => {
    throw new Error('A clock that only waits keeps no process alive.');
  };
  every(ms: number, work: () => void): () => void {
    const timer = { at: this.#elapsed + ms, work };
    this.#timer = timer;
    return () => {
      if (this.#timer === timer) this.#timer = undefined;
    };
  }

  /** How long the clock waits now; undefined: it does not. */
  get waitMs(): number | undefined {
    return this.#timer && this.#timer.at - this.#elapsed;
  }

  suspend(ms: number): void {
    this.#elapsed += ms;
    this.database += ms;
  }

  async pass(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    for (await settled(); this.#timer !== undefined && this.#timer.at <= end; await settled()) {
      this.suspend(Math.max(0, this.#timer.at - this.#elapsed));
      this.#timer.work();
    }
    this.suspend(end - this.#elapsed);
  }
}

type ClockStore = ClockOptions['store'];

/** Whatever the clock does without waiting for time is done. */
const settled = async () => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

class Rows implements ClockStore {
  constructor(private readonly time: Time) {}

  readonly rows = new Map<string, Schedule>();
  looks = 0;
  fault: Error | undefined;

  async due(now: number, limit: number): Promise<Schedule[]> {
    this.looks += 1;
    if (this.fault !== undefined) throw this.fault;
    return [...this.rows.values()].filter((row) => row.enabled && (row.dueAt ?? now) <= now).slice(0, limit);
  }

  async nextDue() {
    const times = [...this.rows.values()].flatMap(({ enabled, dueAt }) => (enabled && dueAt) || []);
    return times.length === 0 ? undefined : { dueAt: Math.min(...times), now: this.time.database };
  }

  advance({ id, nextTick, revision }: Pick<Schedule, 'id' | 'nextTick' | 'revision'>, next: NextTick) {
    const row = this.rows.get(id);
    const isSame = row?.enabled === true && row.nextTick === nextTick && row.revision === revision;
    return this.#change(isSame ? row : undefined, { nextTick: next.tick, dueAt: next.dueAt });
  }

  disable({ id, revision }: Pick<Schedule, 'id' | 'revision'>, disabledReason: string) {
    const row = this.rows.get(id);
    return this.#change(row?.revision === revision ? row : undefined, { enabled: false, disabledReason });
  }

  async #change(row: Schedule | undefined, change: Partial<Schedule>): Promise<boolean> {
    if (row !== undefined) this.rows.set(row.id, { ...row, ...change });
    return row !== undefined;
  }
}

class World {
  readonly time = new Time();
  readonly store = new Rows(this.time);
  /** The ticks that were executed, however often they were started: `id@minutes`. */
  readonly executed = new Map<string, number>();

  clock(options: Partial<ClockOptions> = {}): ScheduleClock {
    const { time, store, executed } = this;
    return new ScheduleClock({
      store,
      execute: async (id, tick) => {
        const key = `${id}@${(tick - start) / minute}`;
        if (!executed.has(key)) executed.set(key, time.database);
      },
      now: async () => time.database,
      pollMs,
      spreadMs: 0,
      timers: time,
      log: silentLog,
      ...options,
    });
  }

  add(over: Partial<Schedule> = {}): void {
    const schedule: Schedule = {
      id: 's',
      name: 'schedule',
      description: null,
      method: 'POST',
      endpoint: '/notes',
      payload: null,
      cronExpr: '* * * * *',
      timezone: 'UTC',
      timeoutSeconds: 60,
      maxRetries: 0,
      retryDelaySeconds: 1,
      overlap: 'allow',
      missed: 'once',
      jitterSeconds: 0,
      enabled: true,
      disabledReason: null,
      source: 'api',
      retiredAt: null,
      userId: null,
      creator: { by: 'open' },
      revision: 1,
      nextTick: start + minute,
      dueAt: start + minute,
      createdAt: start,
      updatedAt: null,
      ...over,
    };
    this.store.rows.set(schedule.id, schedule);
  }

  get ticks(): string[] {
    return [...this.executed.keys()];
  }
}

const upTo = (last: number, id = 's', first = 1) =>
  Array.from({ length: last - first + 1 }, (_, position) => `${id}@${first + position}`);

describe('at its ticks', () => {
  it('a schedule is executed, without delay', async () => {
    const world = new World();
    world.add();
    world.clock().start();
    await world.time.pass(5 * minute + 10);
    expect(world.ticks).toEqual(upTo(5));
    for (const [tick, at] of world.executed)
      expect(at - start - Number(tick.slice(2)) * minute).toBeLessThan(5);
  });

  it('a process looks at nothing between ticks but every poll, and at no tick twice', async () => {
    const world = new World();
    world.add({ cronExpr: '0 * * * *', nextTick: start + 60 * minute, dueAt: start + 60 * minute });
    world.clock().start();
    await world.time.pass(60 * minute);
    expect(world.store.looks).toBeLessThanOrEqual((60 * minute) / pollMs + 2);
  });

  it('the delay of a tick is within the jitter, and a jitter beyond the interval loses no tick', async () => {
    const world = new World();
    for (const missed of ['skip', 'once', 'all'] as const) {
      const dueAt = start + minute + jitterMs(missed, start + minute, 600);
      world.add({ id: missed, missed, jitterSeconds: 600, nextTick: start + minute, dueAt });
    }
    world.clock().start();
    await world.time.pass(60 * minute);
    for (const missed of ['skip', 'once', 'all']) {
      const ticks = world.ticks.filter((tick) => tick.startsWith(missed));
      expect(ticks.slice(0, 50)).toEqual(upTo(50, missed));
    }
    for (const [tick, at] of world.executed) {
      const lateMs = at - start - Number(tick.split('@')[1]) * minute;
      expect(lateMs).toBeGreaterThanOrEqual(0);
      expect(lateMs).toBeLessThan(600_000 + 5);
    }
  });

  it('one that is late by exactly a minute is not missed, nor is the one that is due with it', async () => {
    for (const missed of ['skip', 'once', 'all'] as const) {
      const world = new World();
      world.add({ missed });
      world.time.database += 2 * minute;
      world.clock().start();
      await settled();
      expect(world.ticks).toEqual(upTo(2));
    }
  });
});

describe('missed ticks', () => {
  /** Nothing looks for so many minutes, and half a minute more. */
  const afterMinutes = async (missed: Schedule['missed'], minutes: number, jump = false) => {
    const world = new World();
    world.add({ missed });
    const clock = world.clock();
    if (jump) {
      clock.start();
      await settled();
      world.time.database += (minutes + 0.5) * minute;
      await world.time.pass(pollMs);
    } else {
      world.time.suspend((minutes + 0.5) * minute);
      clock.start();
      await settled();
    }
    const found = world.ticks;
    await world.time.pass(minute);
    expect(world.ticks).toEqual([...found, `s@${minutes + 1}`]);
    return found;
  };

  it.each([false, true])('are executed as the schedule says (the clock was set: %s)', async (jump) => {
    expect(await afterMinutes('skip', 10, jump)).toEqual(['s@10']);
    expect(await afterMinutes('once', 10, jump)).toEqual(['s@1']);
    expect(await afterMinutes('all', 10, jump)).toEqual(upTo(10));
    expect(await afterMinutes('once', 1000, jump)).toEqual(['s@1']);
    expect(await afterMinutes('all', 1000, jump)).toEqual(upTo(1000, 's', 901));
  });

  it('are skipped altogether when the last of them is late, too', async () => {
    const world = new World();
    world.add({ missed: 'skip', cronExpr: '*/10 * * * *', nextTick: start + 10 * minute });
    world.time.suspend(15 * minute);
    world.clock().start();
    await world.time.pass(6 * minute);
    expect(world.ticks).toEqual(['s@20']);
  });

  it('are none when the clock is set back: no tick comes twice', async () => {
    const world = new World();
    world.add();
    world.clock().start();
    await world.time.pass(5 * minute + 10);
    world.time.database -= 3 * minute;
    await world.time.pass(5 * minute);
    expect(world.ticks).toEqual(upTo(7));
  });

  it('what was read before the process was suspended is read again', async () => {
    const world = new World();
    world.add();
    world.time.database += minute;
    const read = world.store.due.bind(world.store);
    world.store.due = async (now, limit) => {
      const rows = await read(now, limit);
      if (world.store.looks === 1) {
        // meanwhile others execute its tick, and the schedule is changed
        world.time.suspend(10 * minute);
        world.add({ revision: 2, nextTick: start + 20 * minute, dueAt: start + 20 * minute });
      }
      return rows;
    };
    world.clock().start();
    await settled();
    await world.time.pass(9.5 * minute);
    expect(world.ticks).toEqual(['s@20']);
  });
});

describe('what fails', () => {
  it('a failing database is looked at less and less often, and its ticks come when it is back', async () => {
    const world = new World();
    world.add({ missed: 'all' });
    world.store.fault = new Error('down');
    world.clock().start();
    await settled();
    const waits: number[] = [];
    for (let look = 0; look < 9; look += 1) {
      waits.push(world.time.waitMs ?? 0);
      await world.time.pass(world.time.waitMs ?? 0);
      await settled();
    }
    for (const [failures, waitMs] of waits.entries()) {
      const most = Math.min(1000 * 2 ** failures, 60_000);
      expect(waitMs).toBeGreaterThanOrEqual(most * 0.75);
      expect(waitMs).toBeLessThanOrEqual(most);
    }
    world.store.fault = undefined;
    await world.time.pass(minute);
    const last = Math.floor((world.time.database - start) / minute);
    expect(world.ticks).toEqual(upTo(last));
    expect(world.time.waitMs).toBeLessThanOrEqual(pollMs);
  });

  it('a schedule that cannot be started keeps no other from its tick', async () => {
    const world = new World();
    const ids = Array.from({ length: 30 }, (_, position) => `s${position}`);
    for (const id of ids) world.add({ id });
    const clock = world.clock({
      execute: async (id, tick) => {
        if (id === 's7') throw new Error('not this one');
        world.executed.set(`${id}@${(tick - start) / minute}`, world.time.database);
      },
    });
    world.time.suspend(minute);
    clock.start();
    await settled();
    expect(world.ticks.toSorted()).toEqual(
      ids
        .filter((id) => id !== 's7')
        .map((id) => `${id}@1`)
        .toSorted(),
    );
  });

  it('a schedule without a next time is disabled, and says why', async () => {
    const world = new World();
    world.add({ id: 'never', cronExpr: '0 0 31 2 *' });
    world.add({ id: 'broken', cronExpr: 'every day' });
    world.add({ id: 'nowhere', timezone: 'Mars/Olympus' });
    world.add({ id: 'fine' });
    world.clock().start();
    await world.time.pass(2 * minute + 10);
    for (const id of ['never', 'broken', 'nowhere']) {
      const row = world.store.rows.get(id);
      expect([id, row?.enabled, row?.disabledReason]).toEqual([
        ...[id, false, expect.stringContaining('No next time can be computed from')],
      ]);
    }
    expect(world.ticks.filter((tick) => tick.startsWith('fine'))).toEqual(upTo(2, 'fine'));
  });
});

it('a stop waits for the tick that is being started, begins no other, and leaves them to the next process', async () => {
  const world = new World();
  for (let position = 0; position < 30; position += 1) world.add({ id: `s${position}` });
  world.time.suspend(minute);
  const held: (() => void)[] = [];
  const clock = world.clock({
    execute: async (id) => {
      await new Promise<void>((resolve) => held.push(resolve));
      world.executed.set(`${id}@1`, world.time.database);
    },
  });
  clock.start();
  await settled();
  let hasStopped = false;
  const stopped = clock.stop().then(() => {
    hasStopped = true;
  });
  await settled();
  expect([hasStopped, held.length]).toEqual([false, 10]);
  for (const open of held) open();
  await stopped;
  expect([held.length, world.executed.size, world.time.waitMs]).toEqual([10, 10, undefined]);
  clock.wake();
  await settled();
  expect(world.executed.size).toBe(10);
  world.clock().start();
  await settled();
  expect(world.executed.size).toBe(30);
});
