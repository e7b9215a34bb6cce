import type { RunKind } from '../../core/runs/run.js';
import type { ScheduleDefinition } from '../../core/schedules/schedule-definition.js';
import type { DataScope } from '../../platform/auth/caller.js';
import { type Database, statement } from '../../platform/storage/database.js';
import { within } from '../../platform/storage/scope.js';
import { rowOf, scheduleFromRow, scheduleRunFromRow } from './rows-store.js';
import type { NextTick, Schedule, ScheduleRun } from './schedule.js';
import type { SchedulesTable } from './tables.js';

export interface Range {
  readonly limit: number;
  readonly offset: number;
}

export interface ScheduleFilter {
  readonly enabled?: boolean | undefined;
}

/** Where the names of schedules that code defines are unique. */
export const codeNames = 'code';

const readOfCode = statement(
  'schedules_of_code',
  `SELECT * FROM schedules WHERE name_space = '${codeNames}'`,
);

/** What a change may set beside the definition. Undefined: as it is. */
export interface ScheduleState {
  readonly enabled?: boolean;
  readonly disabledReason?: string | null;
  readonly retiredAt?: number | null;
  readonly creator?: Schedule['creator'];
  /** Undefined: as it is. */
  readonly next?: NextTick;
}

/** The schedules that callers see and change, with their history. */
export class ScheduleStore {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  async list(scope: DataScope, filter: ScheduleFilter, { limit, offset }: Range): Promise<Schedule[]> {
    const rows = await this.#visible(scope, filter)
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
    return rows.map(scheduleFromRow);
  }

  async count(scope: DataScope, filter: ScheduleFilter): Promise<number> {
    const { count } = await this.#visible(scope, filter)
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Schedules whose address or payload may name a component, the newest first: whether they do is for the caller to see. */
  async mentioning(scope: DataScope, kind: RunKind, id: string, limit: number): Promise<Schedule[]> {
    const rows = await this.#visible(scope, {})
      .selectAll()
      .where(({ eb, or, and }) =>
        or([
          eb('endpoint', 'like', `/${kind}s/${id}/runs%`),
          and([eb('endpoint', 'like', '/eval-runs%'), eb('payload', 'like', `%"${id}"%`)]),
        ]),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(scheduleFromRow);
  }

  async find(scope: DataScope, id: string): Promise<Schedule | undefined> {
    const row = await this.#visible(scope, {}).selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? undefined : scheduleFromRow(row);
  }

  /** All schedules that code defines or defined, by name. Each start reads them, without the query builder. */
  async ofCode(): Promise<ReadonlyMap<string, Schedule>> {
    const rows = await this.database.read<SchedulesTable>(readOfCode, []);
    return new Map(rows.map((row) => [row.name, scheduleFromRow(row)]));
  }

  /** Whether code defines a schedule of this name. */
  async isOfCode(name: string): Promise<boolean> {
    const row = await this.database.query
      .selectFrom('schedules')
      .select('id')
      .where('name_space', '=', codeNames)
      .where('name', '=', name)
      .where('retired_at', 'is', null)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Stores a new schedule. False when its name is taken: of several at once one gets it. */
  async insert(schedule: Schedule, nameSpace: string): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.database.query
      .insertInto('schedules')
      .values(rowOf(schedule, nameSpace))
      .onConflict((conflict) => conflict.columns(['name_space', 'name']).doNothing())
      .executeTakeFirst();
    return (numInsertedOrUpdatedRows ?? 0n) > 0n;
  }

  /** Changes a schedule. `changed` when it is no longer in this revision: read it again. */
  async update(
    scope: DataScope,
    { id, revision }: Pick<Schedule, 'id' | 'revision'>,
    definition: Partial<ScheduleDefinition>,
    state: ScheduleState,
    now: number,
  ): Promise<'stored' | 'changed' | 'name_taken'> {
    const { name } = definition;
    const update = this.database.query
      .updateTable('schedules')
      .set(columnsOf(definition))
      .set(stateColumns(state))
      .set({ revision: revision + 1, updated_at: now })
      .where('id', '=', id)
      .where('revision', '=', revision);
    try {
      const { numUpdatedRows } = await within(update, scope, 'user_id').executeTakeFirst();
      return numUpdatedRows > 0n ? 'stored' : 'changed';
    } catch (error) {
      if (name !== undefined && (await this.#isTaken(id, name))) return 'name_taken';
      throw error;
    }
  }

  /** Removes a schedule and its history. */
  async delete(scope: DataScope, id: string): Promise<boolean> {
    const removal = this.database.query.deleteFrom('schedules').where('id', '=', id);
    const { numDeletedRows } = await within(removal, scope, 'user_id').executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** The attempts of a schedule, newest first. The schedule is one that the caller sees. */
  async runs(scope: DataScope, scheduleId: string, { limit, offset }: Range): Promise<ScheduleRun[]> {
    const rows = await this.#visibleRuns(scope, scheduleId)
      .selectAll('schedule_runs')
      .orderBy('schedule_runs.created_at', 'desc')
      .orderBy('schedule_runs.id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
    return rows.map(scheduleRunFromRow);
  }

  async countRuns(scope: DataScope, scheduleId: string): Promise<number> {
    const { count } = await this.#visibleRuns(scope, scheduleId)
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  async findRun(scope: DataScope, scheduleId: string, id: string): Promise<ScheduleRun | undefined> {
    const row = await this.#visibleRuns(scope, scheduleId)
      .selectAll('schedule_runs')
      .where('schedule_runs.id', '=', id)
      .executeTakeFirst();
    return row === undefined ? undefined : scheduleRunFromRow(row);
  }

  #visible(scope: DataScope, { enabled }: ScheduleFilter) {
    const visible = within(this.database.query.selectFrom('schedules'), scope, 'user_id');
    return enabled === undefined ? visible : visible.where('enabled', '=', enabled ? 1 : 0);
  }

  #visibleRuns(scope: DataScope, scheduleId: string) {
    const ofSchedule = this.database.query
      .selectFrom('schedule_runs')
      .innerJoin('schedules', 'schedules.id', 'schedule_runs.schedule_id')
      .where('schedule_runs.schedule_id', '=', scheduleId);
    return within(ofSchedule, scope, 'schedules.user_id');
  }

  /** Whether another schedule has the name that this one is to get. */
  async #isTaken(id: string, name: string): Promise<boolean> {
    const row = await this.database.query
      .selectFrom('schedules')
      .innerJoin('schedules as renamed', 'renamed.name_space', 'schedules.name_space')
      .select('schedules.id')
      .where('renamed.id', '=', id)
      .where('schedules.name', '=', name)
      .where('schedules.id', '<>', id)
      .executeTakeFirst();
    return row !== undefined;
  }
}

function columnsOf(definition: Partial<ScheduleDefinition>) {
  const { payload } = definition;
  return {
    name: definition.name,
    description: definition.description,
    method: definition.method,
    endpoint: definition.endpoint,
    // undefined columns stay as they are
    payload: payload === undefined || payload === null ? payload : JSON.stringify(payload),
    cron_expr: definition.cronExpr,
    timezone: definition.timezone,
    timeout_seconds: definition.timeoutSeconds,
    max_retries: definition.maxRetries,
    retry_delay_seconds: definition.retryDelaySeconds,
    overlap: definition.overlap,
    missed: definition.missed,
    jitter_seconds: definition.jitterSeconds,
  };
}

function stateColumns({ enabled, disabledReason, retiredAt, creator, next }: ScheduleState) {
  return {
    enabled: enabled === undefined ? undefined : Number(enabled),
    disabled_reason: disabledReason,
    retired_at: retiredAt,
    creator: creator === undefined ? undefined : JSON.stringify(creator),
    next_tick: next?.tick,
    due_at: next?.dueAt,
  };
}
