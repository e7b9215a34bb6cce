import { type Database, statement } from '../../../platform/storage/database.js';
import { scheduleRunFromRow } from '../rows-store.js';
import type { ScheduleRun } from '../schedule.js';
import type { ScheduleRunsTable } from '../tables.js';

declare module '../../../platform/storage/schema.js' {
  interface Schema {
    schedule_turns: { schedule_id: string; job_id: string };
  }
}

const take = statement(
  'take_schedule_turn',
  `INSERT INTO schedule_turns (schedule_id, job_id) SELECT id, CAST(? AS text) FROM schedules WHERE id = ?
   ON CONFLICT (schedule_id) DO NOTHING RETURNING job_id`,
);
const takeOver = statement(
  'take_over_schedule_turn',
  'UPDATE schedule_turns SET job_id = ? WHERE schedule_id = ? AND job_id = ? RETURNING job_id',
);
const giveBack = statement(
  'give_schedule_turn_back',
  'DELETE FROM schedule_turns WHERE schedule_id = ? AND job_id = ? RETURNING job_id',
);
const readHolder = statement('schedule_turn', 'SELECT job_id FROM schedule_turns WHERE schedule_id = ?');
const readUnfinished = statement(
  'unfinished_schedule_runs',
  `SELECT * FROM schedule_runs WHERE status = 'running' AND created_at < ? AND id > ? ORDER BY id LIMIT ?`,
);

/** Which execution of a schedule has its turn. Of several who take it at once, one gets it. */
export class TurnStore {
  constructor(private readonly database: Database) {}

  /** Takes the turn if no execution has it. Answers with the job that has it now; undefined: the schedule is gone. */
  async take(scheduleId: string, jobId: string): Promise<string | undefined> {
    const [taken] = await this.database.change(take, [jobId, scheduleId]);
    return taken === undefined ? this.holder(scheduleId) : jobId;
  }

  /** Takes the turn from a job that has ended without giving it back. */
  async takeOver(scheduleId: string, from: string, jobId: string): Promise<void> {
    await this.database.change(takeOver, [jobId, scheduleId, from]);
  }

  async giveBack(scheduleId: string, jobId: string): Promise<void> {
    await this.database.change(giveBack, [scheduleId, jobId]);
  }

  async holder(scheduleId: string): Promise<string | undefined> {
    const [row] = await this.database.read<{ job_id: string }>(readHolder, [scheduleId]);
    return row?.job_id;
  }

  /** Attempts that are in progress since before a time, of all schedules, by their ids. */
  async unfinished(before: number, after: string, limit: number): Promise<ScheduleRun[]> {
    const rows = await this.database.read<ScheduleRunsTable>(readUnfinished, [before, after, limit]);
    return rows.map(scheduleRunFromRow);
  }
}
