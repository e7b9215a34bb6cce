import type { Migration } from '../../../platform/storage/database.js';

/**
 * A narrow row for each recorded run, so that traces are listed and searched without reading what the runs hold. The
 * spans are the run's journal. No reference to runs: that a run happened, when, and how it ended outlives its session.
 */
export const traces: Migration = {
  version: 6,
  name: 'traces',

  up: (dialect) => [
    // The trace that the caller's own system began, as its `traceparent` header said.
    'ALTER TABLE runs ADD COLUMN trace_parent text',
    `CREATE TABLE traces (
      run_id text NOT NULL PRIMARY KEY,
      trace_id text NOT NULL,
      name text NOT NULL,
      status text NOT NULL,
      kind text NOT NULL,
      component_id text NOT NULL,
      session_id text NOT NULL,
      user_id text,
      start_time bigint NOT NULL,
      end_time bigint NOT NULL
    )${dialect === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
    // Lists are newest first. What is counted and filtered by time, length and status is found in this index alone.
    'CREATE INDEX traces_by_start ON traces (start_time, run_id, status, end_time)',
    // A trace that a caller's system began may hold several runs.
    'CREATE INDEX traces_by_trace ON traces (trace_id, start_time)',
    'CREATE INDEX traces_by_user ON traces (user_id, start_time, run_id) WHERE user_id IS NOT NULL',
    // All that the sessions of many traces are counted and filtered by.
    `CREATE INDEX traces_by_session ON traces
      (session_id, start_time, run_id, status, end_time, user_id, kind, component_id, name)`,
    'CREATE INDEX traces_by_component ON traces (kind, component_id, start_time, run_id)',
    'CREATE INDEX traces_by_name ON traces (name, start_time, run_id)',
    `CREATE INDEX traces_failed ON traces (start_time, run_id) WHERE status = 'ERROR'`,
  ],

  down: () => ['DROP TABLE traces', 'ALTER TABLE runs DROP COLUMN trace_parent'],
};
