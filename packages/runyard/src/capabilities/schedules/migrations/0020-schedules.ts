import type { Migration } from '../../../platform/storage/database.js';

/** Calls of the service's own routes at given times, and the history of their attempts. */
export const schedules: Migration = {
  version: 20,
  name: 'schedules',

  up: () => [
    // `payload` and `creator` are JSON. `next_tick` is the exact time of the next tick, `due_at` the same with its jitter.
    `CREATE TABLE schedules (
      id text NOT NULL PRIMARY KEY,
      name text NOT NULL,
      name_space text NOT NULL,
      description text,
      method text NOT NULL,
      endpoint text NOT NULL,
      payload text,
      cron_expr text NOT NULL,
      timezone text NOT NULL,
      timeout_seconds integer NOT NULL,
      max_retries integer NOT NULL,
      retry_delay_seconds integer NOT NULL,
      overlap text NOT NULL,
      missed text NOT NULL,
      jitter_seconds integer NOT NULL,
      enabled integer NOT NULL,
      disabled_reason text,
      source text NOT NULL,
      retired_at bigint,
      user_id text,
      creator text NOT NULL,
      revision integer NOT NULL,
      next_tick bigint,
      due_at bigint,
      created_at bigint NOT NULL,
      updated_at bigint
    )`,
    // A name is one schedule: of two who take it at once, one gets it.
    'CREATE UNIQUE INDEX schedules_by_name ON schedules (name_space, name)',
    'CREATE INDEX schedules_by_creation ON schedules (created_at, id)',
    'CREATE INDEX schedules_by_owner ON schedules (user_id, created_at, id)',
    // What a process looks for when it looks for work.
    'CREATE INDEX schedules_due ON schedules (due_at, id) WHERE enabled = 1 AND retired_at IS NULL',
    // One row for each attempt. `input`, `output` and `requirements` are JSON.
    `CREATE TABLE schedule_runs (
      id text NOT NULL PRIMARY KEY,
      schedule_id text NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
      triggered_by text NOT NULL,
      tick_at bigint NOT NULL,
      attempt integer NOT NULL,
      job_id text NOT NULL,
      status text NOT NULL,
      status_code integer,
      run_id text,
      session_id text,
      error text,
      input text,
      output text,
      requirements text,
      triggered_at bigint,
      completed_at bigint,
      created_at bigint NOT NULL
    )`,
    'CREATE INDEX schedule_runs_by_schedule ON schedule_runs (schedule_id, created_at, id)',
    // An execution that is taken up again continues its attempts.
    'CREATE UNIQUE INDEX schedule_runs_by_job ON schedule_runs (job_id, attempt)',
    `CREATE INDEX schedule_runs_running ON schedule_runs (schedule_id) WHERE status = 'running'`,
    'CREATE INDEX schedule_runs_by_age ON schedule_runs (created_at, id)',
  ],

  down: () => ['DROP TABLE schedule_runs', 'DROP TABLE schedules'],
};
