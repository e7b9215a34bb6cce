import {
  type Database,
  type SqlValue,
  type Statement,
  statement,
  timedStatement,
} from '../../platform/storage/database.js';
import { scheduleFromRow, scheduleRunFromRow } from './rows-store.js';
import type { AttemptResult, NewAttempt, NextTick, Schedule, ScheduleRun } from './schedule.js';
import type { ScheduleRunsTable, SchedulesTable } from './tables.js';

const active = 'enabled = 1 AND retired_at IS NULL';

const readDue = statement(
  'schedules_due',
  `SELECT * FROM schedules WHERE ${active} AND due_at <= ? ORDER BY due_at, id LIMIT ?`,
);
const readNextDue = timedStatement(
  'schedules_next_due',
  (now) => `SELECT min(due_at) AS due_at, ${now} AS now FROM schedules WHERE ${active}`,
);
const readSchedule = statement('schedule_to_execute', 'SELECT * FROM schedules WHERE id = ?');

const advance = statement(
  'advance_schedule',
  `UPDATE schedules SET next_tick = ?, due_at = ?
   WHERE id = ? AND next_tick = ? AND revision = ? AND ${active} RETURNING 1 AS changed`,
);
// The revision changes too, so that an `advance` that was computed before does not apply.
const disable = statement(
  'disable_schedule',
  `UPDATE schedules SET enabled = 0, disabled_reason = ?, revision = revision + 1, updated_at = ?
   WHERE id = ? AND revision = ? AND enabled = 1 RETURNING 1 AS changed`,
);

const begin = statement(
  'begin_schedule_run',
  `INSERT INTO schedule_runs (id, schedule_id, triggered_by, tick_at, attempt, job_id, status, input, triggered_at, created_at)
   SELECT CAST(? AS text), id, CAST(? AS text), CAST(? AS bigint), CAST(? AS integer), CAST(? AS text), 'running',
     CAST(? AS text), CAST(? AS bigint), CAST(? AS bigint) FROM schedules WHERE id = ?
   ON CONFLICT DO NOTHING RETURNING 1 AS changed`,
);
const finish = statement(
  'finish_schedule_run',
  `UPDATE schedule_runs SET status = ?, status_code = ?, run_id = coalesce(?, run_id),
     session_id = coalesce(?, session_id), error = ?, input = coalesce(?, input), output = ?, requirements = ?, completed_at = ?
   WHERE id = ? AND status = 'running' RETURNING 1 AS changed`,
);
// The running ones stay: they are few, and their end is still to be recorded.
const trim = statement(
  'trim_schedule_runs',
  `DELETE FROM schedule_runs WHERE id IN (
     SELECT id FROM schedule_runs WHERE schedule_id = ? AND status <> 'running'
     ORDER BY created_at DESC, id DESC LIMIT 100 OFFSET ?)`,
);
const readRunning = statement(
  'schedule_runs_in_progress',
  `SELECT * FROM schedule_runs WHERE schedule_id = ? AND status = 'running' ORDER BY created_at, id LIMIT 100`,
);
const readOfJob = statement(
  'schedule_runs_of_job',
  'SELECT * FROM schedule_runs WHERE job_id = ? ORDER BY attempt',
);

/**
 * What the execution of schedules reads and writes, for all users. Rare reads of lists are in `ScheduleStore`. All
 * statements are prepared: a service that has no schedules never loads the query builder for them.
 */
export class ScheduleTicksStore {
  /** `keptRuns`: how many attempts of each schedule the history keeps. */
  constructor(
    protected readonly database: Database,
    private readonly keptRuns: number,
  ) {}

  /** The schedules whose tick is due, the longest due first. */
  async due(now: number, limit: number): Promise<Schedule[]> {
    return (await this.database.read<SchedulesTable>(readDue, [now, limit])).map(scheduleFromRow);
  }

  /** When the next schedule is due, and the time of the database; undefined when none is enabled. */
  async nextDue(): Promise<{ readonly dueAt: number; readonly now: number } | undefined> {
    const [row] = await this.database.read<{ due_at: number | null; now: number }>(readNextDue, []);
    return row === undefined || row.due_at === null ? undefined : { dueAt: row.due_at, now: row.now };
  }

  /** A schedule as it is now, of any owner. */
  async current(id: string): Promise<Schedule | undefined> {
    const [row] = await this.database.read<SchedulesTable>(readSchedule, [id]);
    return row === undefined ? undefined : scheduleFromRow(row);
  }

  /** Moves a schedule from its tick to the next one. False when another process did, or the schedule has changed. */
  advance(
    { id, nextTick, revision }: Pick<Schedule, 'id' | 'nextTick' | 'revision'>,
    next: NextTick,
  ): Promise<boolean> {
    return this.#changes(advance, [next.tick, next.dueAt, id, nextTick, revision]);
  }

  /** Disables a schedule that cannot be executed, and says why. False when it has changed since it was read. */
  disable(
    { id, revision }: Pick<Schedule, 'id' | 'revision'>,
    reason: string,
    now: number,
  ): Promise<boolean> {
    return this.#changes(disable, [reason, now, id, revision]);
  }

  /** Records that an attempt begins. False when it is recorded already, or when the schedule is gone. */
  begin(attempt: NewAttempt): Promise<boolean> {
    const { id, scheduleId, trigger, tickAt, jobId, at, input } = attempt;
    return this.#changes(begin, [
      id,
      trigger,
      tickAt,
      attempt.attempt,
      jobId,
      json(input),
      at,
      at,
      scheduleId,
    ]);
  }

  /** Records how an attempt ended. False when it has ended already. What is null leaves what was known before. */
  finish(id: string, result: AttemptResult, now: number): Promise<boolean> {
    const { status, statusCode, runId, sessionId, error, input, output, requirements } = result;
    const values = [
      status,
      statusCode,
      runId,
      sessionId,
      error,
      json(input),
      json(output),
      json(requirements),
    ];
    return this.#changes(finish, [...values, now, id]);
  }

  /** Removes the oldest attempts of a schedule beyond those that the history keeps. */
  async trim(scheduleId: string): Promise<void> {
    const { database, keptRuns } = this;
    await database.change(trim, [scheduleId, keptRuns]);
  }

  /** The attempts of a schedule that are in progress. */
  async running(scheduleId: string): Promise<ScheduleRun[]> {
    return (await this.database.read<ScheduleRunsTable>(readRunning, [scheduleId])).map(scheduleRunFromRow);
  }

  /** The attempts of one execution, in their order. */
  async attemptsOf(jobId: string): Promise<ScheduleRun[]> {
    return (await this.database.read<ScheduleRunsTable>(readOfJob, [jobId])).map(scheduleRunFromRow);
  }

  async #changes(change: Statement, parameters: readonly SqlValue[]): Promise<boolean> {
    return (await this.database.change(change, parameters)).length > 0;
  }
}

function json(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
