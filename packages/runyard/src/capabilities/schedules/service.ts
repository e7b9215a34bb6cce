import { errors } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { RunKind } from '../../core/runs/run.js';
import { InvalidCron } from '../../core/schedules/cron.js';
import { segmentsOf } from '../../core/schedules/endpoint.js';
import { jitterMs } from '../../core/schedules/jitter.js';
import type { ScheduleDefinition } from '../../core/schedules/schedule-definition.js';
import { nextTick } from '../../core/schedules/ticks.js';
import { isTimeZone } from '../../core/schedules/time-zone.js';
import type { Caller, DataScope } from '../../platform/auth/caller.js';
import { type KeptCaller, keptCaller } from '../../platform/auth/kept-caller.js';
import { type ListPage, offsetOf, type PageRequest } from '../../platform/http/request/pagination.js';
import type { Endpoints } from './endpoints.js';
import type { NextTick, Schedule, ScheduleRun } from './schedule.js';
import type { ScheduleFilter, ScheduleState, ScheduleStore } from './store.js';

export interface SchedulesOptions {
  readonly store: ScheduleStore;
  readonly endpoints: Endpoints;
  /** The time by which all processes go. */
  readonly now: () => Promise<number>;
  /** Executes a schedule now, and answers with its last attempt so far. Undefined where no schedules are executed. */
  readonly trigger: ((schedule: Schedule, signal: AbortSignal) => Promise<ScheduleRun>) | undefined;
  /** Called when a schedule may be due earlier than any was before. */
  readonly onChange?: () => void;
}

/** How many schedules that name a component are shown. */
const mostNaming = 100;

/** A schedule that names a component, and the version that it pins. */
export interface NamingSchedule {
  readonly schedule: Schedule;
  readonly version: number | null;
}

/** How often a change is repeated when others change the same schedule. */
const mostTries = 5;

/** What a change says. Undefined: as it is. */
export type ScheduleChange = {
  [Field in keyof ScheduleDefinition]?: ScheduleDefinition[Field] | undefined;
} & {
  readonly enabled?: boolean | undefined;
};

/** The schedules of the service, as callers see and change them. */
export class SchedulesService {
  constructor(private readonly options: SchedulesOptions) {}

  /** One page of the schedules that the caller may see, the newest first. */
  async list({ scope }: Caller, filter: ScheduleFilter, page: PageRequest): Promise<ListPage<Schedule>> {
    const { store } = this.options;
    const range = { limit: page.limit, offset: offsetOf(page) };
    const [items, total] = await Promise.all([store.list(scope, filter, range), store.count(scope, filter)]);
    return { items, total };
  }

  /** Schedules that run a component or evaluate it, the newest of those that the caller may see. */
  async naming({ scope, rights }: Caller, kind: RunKind, id: string): Promise<NamingSchedule[]> {
    if (!rights.may('schedules:read')) return [];
    const found = await this.options.store.mentioning(scope, kind, id, mostNaming);
    return found.flatMap((schedule) => {
      const [first, named, last, ...more] = segmentsOf(schedule.endpoint);
      const payload = schedule.payload ?? {};
      const isRun = first === `${kind}s` && named === id && last === 'runs' && more.length === 0;
      const isEval = first === 'eval-runs' && named === undefined && payload[`${kind}_id`] === id;
      if (!isRun && !isEval) return [];
      const { version } = payload;
      return { schedule, version: typeof version === 'number' ? version : null };
    });
  }

  async get({ scope }: Caller, id: string): Promise<Schedule> {
    const schedule = await this.options.store.find(scope, id);
    if (schedule === undefined) throw errors.scheduleNotFound();
    return schedule;
  }

  /** Creates a schedule that calls with the rights of the caller. */
  async create(caller: Caller, definition: ScheduleDefinition, enabled: boolean): Promise<Schedule> {
    const { store, endpoints } = this.options;
    const now = await this.options.now();
    const id = newId();
    const next = await nextOf({ id, ...definition }, now);
    endpoints.assertMayCall(caller, definition.method, definition.endpoint);
    const schedule: Schedule = {
      ...definition,
      id,
      enabled,
      disabledReason: null,
      source: 'api',
      retiredAt: null,
      userId: caller.userId,
      creator: keptCaller(caller),
      revision: 1,
      nextTick: next.tick,
      dueAt: next.dueAt,
      createdAt: now,
      updatedAt: null,
    };
    const isTaken =
      (await store.isOfCode(definition.name)) || !(await store.insert(schedule, namesOf(caller)));
    if (isTaken) throw errors.scheduleExists(definition.name);
    this.options.onChange?.();
    return schedule;
  }

  async change(caller: Caller, id: string, change: ScheduleChange): Promise<Schedule> {
    const { enabled, ...definition } = change;
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    return this.#changed(caller, id, async (schedule, now) => {
      if (given.length === 0) return undefined;
      if (schedule.source === 'code') throw errors.scheduleOfCode(schedule.name);
      const after = { ...schedule, ...Object.fromEntries(given) };
      const next = await nextOf(after, now);
      this.options.endpoints.assertMayCall(caller, after.method, after.endpoint);
      if (definition.name !== undefined && (await this.options.store.isOfCode(definition.name)))
        throw errors.scheduleExists(definition.name);
      return {
        definition: definedOf(definition),
        state: {
          ...(enabled !== undefined && { enabled, disabledReason: null }),
          ...creatorAfter(schedule, caller, definition),
          ...(after.enabled && (!schedule.enabled || isRetimed(schedule, after)) && { next }),
        },
      };
    });
  }

  /** Enables a schedule from now on, or disables it. */
  async setEnabled(caller: Caller, id: string, enabled: boolean): Promise<Schedule> {
    return this.#changed(caller, id, async (schedule, now) => {
      if (schedule.retiredAt !== null) throw errors.scheduleRetired(schedule.name);
      if (!enabled) return { definition: {}, state: { enabled, disabledReason: null } };
      this.options.endpoints.assertMayCall(caller, schedule.method, schedule.endpoint);
      return { definition: {}, state: { enabled, disabledReason: null, next: await nextOf(schedule, now) } };
    });
  }

  async delete(caller: Caller, id: string): Promise<void> {
    const schedule = await this.get(caller, id);
    if (schedule.source === 'code' && schedule.retiredAt === null) throw errors.scheduleOfCode(schedule.name);
    if (!(await this.options.store.delete(caller.scope, id))) throw errors.scheduleNotFound();
  }

  /** Executes a schedule now, beside its ticks. The caller needs the right to call the endpoint too. */
  async trigger(caller: Caller, id: string, signal: AbortSignal): Promise<ScheduleRun> {
    const schedule = await this.get(caller, id);
    if (schedule.retiredAt !== null) throw errors.scheduleRetired(schedule.name);
    if (!schedule.enabled) throw errors.scheduleDisabled();
    this.options.endpoints.assertMayCall(caller, schedule.method, schedule.endpoint);
    if (this.options.trigger === undefined) throw errors.schedulerNotRunning();
    return this.options.trigger(schedule, signal);
  }

  /** The attempts of a schedule, the newest first. */
  async runs(caller: Caller, id: string, page: PageRequest): Promise<ListPage<ScheduleRun>> {
    const { store } = this.options;
    const { scope } = caller;
    await this.get(caller, id);
    const range = { limit: page.limit, offset: offsetOf(page) };
    const [items, total] = await Promise.all([store.runs(scope, id, range), store.countRuns(scope, id)]);
    return { items, total };
  }

  async run({ scope }: Caller, id: string, runId: string): Promise<ScheduleRun> {
    const run = await this.options.store.findRun(scope, id, runId);
    if (run === undefined) throw errors.scheduleRunNotFound();
    return run;
  }

  /** Stores what `decide` makes of the schedule as it is, again when others changed it in the meantime. */
  async #changed(
    caller: Caller,
    id: string,
    decide: (schedule: Schedule, now: number) => Promise<Decided | undefined>,
  ): Promise<Schedule> {
    const { store } = this.options;
    for (let tries = 0; tries < mostTries; tries += 1) {
      const schedule = await this.get(caller, id);
      const now = await this.options.now();
      const decided = await decide(schedule, now);
      if (decided === undefined) return schedule;
      const { definition, state } = decided;
      const result = await store.update(caller.scope, schedule, definition, state, now);
      if (result === 'name_taken') throw errors.scheduleExists(definition.name ?? schedule.name);
      if (result === 'stored') {
        this.options.onChange?.();
        return this.get(caller, id);
      }
    }
    throw errors.scheduleChanged();
  }
}

interface Decided {
  readonly definition: Partial<ScheduleDefinition>;
  readonly state: ScheduleState;
}

type Timing = Pick<ScheduleDefinition, 'cronExpr' | 'timezone' | 'jitterSeconds'>;
type Timed = Timing & Pick<Schedule, 'id'>;

/** The next tick after a time. Throws 422 for an expression or a zone that has none. */
export async function nextOf(
  { id, cronExpr, timezone, jitterSeconds }: Timed,
  now: number,
): Promise<NextTick> {
  try {
    const isZone = isTimeZone(timezone);
    const tick = await nextTick(cronExpr, isZone ? timezone : 'UTC', now);
    if (!isZone) throw errors.invalidTimezone(timezone);
    return { tick, dueAt: tick + jitterMs(id, tick, jitterSeconds) };
  } catch (error) {
    if (error instanceof InvalidCron) throw errors.invalidCron(cronExpr, error.message, error.isOurs);
    throw error;
  }
}

/** Whether it has other ticks than before. */
export function isRetimed(before: Timing, after: Timing): boolean {
  return (
    before.cronExpr !== after.cronExpr ||
    before.timezone !== after.timezone ||
    before.jitterSeconds !== after.jitterSeconds
  );
}

/**
 * With whose rights it calls after a change. One who changes what is called answers for it; the owner's rights serve
 * no call that another chose. Other changes of others leave the creator.
 */
function creatorAfter(
  { creator }: Schedule,
  caller: Caller,
  { method, endpoint, payload }: ScheduleChange,
): { readonly creator?: KeptCaller } {
  const changer = keptCaller(caller);
  const isCalledAnew = method !== undefined || endpoint !== undefined || payload !== undefined;
  return isCalledAnew || isSame(creator, changer) ? { creator: changer } : {};
}

/** Whether two are one person or account. Of holders of tokens that name nobody it is not known. */
function isSame(one: KeptCaller, other: KeptCaller): boolean {
  if (one.by === 'jwt') return other.by === 'jwt' && one.userId !== null && one.userId === other.userId;
  if (one.by === 'service_account')
    return other.by === 'service_account' && one.accountId === other.accountId;
  return one.by === other.by;
}

/** Where users are kept apart, each has names of their own: none learns which names others use. */
function namesOf({ scope }: { readonly scope: DataScope }): string {
  return scope.kind === 'user' ? `user:${scope.userId}` : '';
}

function definedOf(definition: ScheduleChange): Partial<ScheduleDefinition> {
  return Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));
}
