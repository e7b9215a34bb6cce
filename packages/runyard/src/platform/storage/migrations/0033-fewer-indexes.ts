import type { Migration } from '../database.js';

/**
 * Every run writes an entry into each index of its tables. What two indexes answered, one answers, and what the key of
 * a table finds has no index beside it.
 */
export const fewerIndexes: Migration = {
  version: 33,
  name: 'fewer-indexes',

  up: () => [
    // The runs of a session have one order. A component's are found along it, however many others are between them.
    'DROP INDEX runs_history',
    'DROP INDEX runs_by_session',
    'DROP INDEX runs_in_session',
    'CREATE INDEX runs_in_session ON runs (session_id, session_seq, created_at, component_id)',
    // There are three kinds: all sessions in the order of their creation are three lists, merged.
    'DROP INDEX sessions_by_creation',
    'DROP INDEX sessions_by_kind',
    'CREATE INDEX sessions_by_kind ON sessions (kind, created_at, session_id, search_name)',
    // A trace that began with its run is found by the id of the run.
    'DROP INDEX traces_by_trace',
    `CREATE INDEX traces_by_trace ON traces (trace_id, start_time)
      WHERE run_id <> substr(trace_id, 1, 8) || '-' || substr(trace_id, 9, 4) || '-' || substr(trace_id, 13, 4)
        || '-' || substr(trace_id, 17, 4) || '-' || substr(trace_id, 21, 12)`,
    // Each run has a row without a purpose, which leads to the others. What has changed is found day by day.
    'DROP INDEX run_usage_by_update',
    'DROP INDEX run_usage_by_day',
    `CREATE INDEX run_usage_by_day ON run_usage (day, updated_at) WHERE purpose = ''`,
  ],

  down: () => [
    'DROP INDEX run_usage_by_day',
    'CREATE INDEX run_usage_by_day ON run_usage (day)',
    `CREATE INDEX run_usage_by_update ON run_usage (updated_at, day) WHERE purpose = ''`,
    'DROP INDEX traces_by_trace',
    'CREATE INDEX traces_by_trace ON traces (trace_id, start_time)',
    'DROP INDEX sessions_by_kind',
    'CREATE INDEX sessions_by_kind ON sessions (kind, created_at, session_id)',
    'CREATE INDEX sessions_by_creation ON sessions (created_at, session_id, search_name, kind)',
    'DROP INDEX runs_in_session',
    'CREATE INDEX runs_in_session ON runs (session_id, session_seq, created_at)',
    'CREATE INDEX runs_by_session ON runs (session_id, kind, component_id, created_at, run_id)',
    `CREATE INDEX runs_history ON runs (session_id, component_id, session_seq)
      WHERE status = 'completed'`,
  ],
};
