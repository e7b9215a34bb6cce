import type { MissedTicks, Overlap } from '../../core/schedules/schedule-definition.js';
import type { AttemptStatus, ScheduleSource, Trigger } from './schedule.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    schedules: SchedulesTable;
    schedule_runs: ScheduleRunsTable;
  }
}

export interface SchedulesTable {
  id: string;
  name: string;
  /** Where the name is unique: `''` for all, `user:<id>` where users are kept apart, `code`. */
  name_space: string;
  description: string | null;
  method: string;
  endpoint: string;
  /** JSON. */
  payload: string | null;
  cron_expr: string;
  timezone: string;
  timeout_seconds: number;
  max_retries: number;
  retry_delay_seconds: number;
  overlap: Overlap;
  missed: MissedTicks;
  jitter_seconds: number;
  enabled: number;
  disabled_reason: string | null;
  source: ScheduleSource;
  /** Since when no code defines it. */
  retired_at: number | null;
  user_id: string | null;
  /** JSON: a `KeptCaller`. */
  creator: string;
  revision: number;
  next_tick: number | null;
  due_at: number | null;
  created_at: number;
  updated_at: number | null;
}

export interface ScheduleRunsTable {
  id: string;
  schedule_id: string;
  triggered_by: Trigger;
  tick_at: number;
  attempt: number;
  job_id: string;
  status: AttemptStatus;
  status_code: number | null;
  run_id: string | null;
  session_id: string | null;
  error: string | null;
  /** JSON. */
  input: string | null;
  output: string | null;
  requirements: string | null;
  triggered_at: number | null;
  completed_at: number | null;
  created_at: number;
}
