import type { Migration } from '../database.js';

/**
 * The order of the runs of a session. The database numbers them when it stores them: the clocks of the processes
 * that execute them differ.
 */
export const sessionOrder: Migration = {
  version: 10,
  name: 'session-order',

  up: () => [
    'ALTER TABLE runs ADD COLUMN session_seq integer NOT NULL DEFAULT 0',
    `UPDATE runs SET session_seq = numbered.place
      FROM (
        SELECT run_id, row_number() OVER (PARTITION BY session_id ORDER BY created_at, run_id) AS place FROM runs
      ) AS numbered
      WHERE runs.run_id = numbered.run_id`,
    // The time is there for lists that are bounded by it.
    'DROP INDEX runs_in_session',
    'CREATE INDEX runs_in_session ON runs (session_id, session_seq, created_at)',
    'DROP INDEX runs_history',
    `CREATE INDEX runs_history ON runs (session_id, component_id, session_seq)
      WHERE status = 'completed'`,
    // The number that the session's last run got: the next one is found without looking at the runs.
    'ALTER TABLE sessions ADD COLUMN last_run_seq integer NOT NULL DEFAULT 0',
    `UPDATE sessions SET last_run_seq =
      coalesce((SELECT max(runs.session_seq) FROM runs WHERE runs.session_id = sessions.session_id), 0)`,
  ],

  down: () => [
    'ALTER TABLE sessions DROP COLUMN last_run_seq',
    'DROP INDEX runs_history',
    `CREATE INDEX runs_history ON runs (session_id, component_id, created_at, run_id)
      WHERE status = 'completed'`,
    'DROP INDEX runs_in_session',
    'CREATE INDEX runs_in_session ON runs (session_id, created_at, run_id)',
    'ALTER TABLE runs DROP COLUMN session_seq',
  ],
};
