import type { Dialect, Migration } from '../database.js';

/** What finding sessions by name and removing old data need. */
export const upkeep: Migration = {
  version: 8,
  name: 'upkeep',

  up: (dialect) => [
    // The name as searches see it. Names from before this version are found as far as the database folds letters.
    'ALTER TABLE sessions ADD COLUMN search_name text',
    // One that is stored as JSON behind a mark (`encodeText`) would be cut in the middle: it is found when it is
    // renamed.
    `UPDATE sessions SET search_name = lower(substr(name, 1, 255))
      WHERE name IS NOT NULL AND substr(name, 1, 1) <> '\u0001'`,
    // Names are as long as people like, and PostgreSQL bounds what an index holds: only the bounded form is in one.
    // A search for a name reads this index alone, in the order of the list.
    'DROP INDEX sessions_by_name',
    'DROP INDEX sessions_by_creation',
    'CREATE INDEX sessions_by_creation ON sessions (created_at, session_id, search_name, kind)',
    'CREATE INDEX sessions_by_kind ON sessions (kind, created_at, session_id)',
    // The kind stands last, so that the components of one kind are read from it in their order.
    'DROP INDEX sessions_by_component',
    'CREATE INDEX sessions_by_component ON sessions (component_id, created_at, session_id, kind)',
    // What is used last is listed by kind and by component: the filters are checked within the index.
    'DROP INDEX sessions_by_update',
    'CREATE INDEX sessions_by_update ON sessions (updated_at, session_id, kind, component_id)',
    // Both databases list sessions without a user in the same place; SQLite does so by itself.
    ...(dialect === 'postgres' ? usersIndex('user_id NULLS FIRST') : []),
    // The runs of a session in their order, whatever ran.
    'CREATE INDEX runs_in_session ON runs (session_id, created_at, run_id)',
    // What was decided is kept when a session is removed with its runs.
    ...approvals(dialect, ''),
    // Whose events may be old enough to go: an entry comes when a run ends, and only then.
    `CREATE INDEX runs_ended ON runs (updated_at, run_id)
      WHERE status IN ('completed', 'error', 'cancelled', 'regenerated')`,
    'CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at)',
    // Up to when each kind of old data has been removed.
    `CREATE TABLE retention_progress (
      name text NOT NULL PRIMARY KEY,
      removed_until bigint NOT NULL
    )`,
  ],

  down: (dialect) => [
    'DROP TABLE retention_progress',
    'DROP INDEX idempotency_keys_by_time',
    'DROP INDEX runs_ended',
    'DELETE FROM approvals WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = approvals.run_id)',
    ...approvals(dialect, ' REFERENCES runs (run_id) ON DELETE CASCADE'),
    'DROP INDEX runs_in_session',
    ...(dialect === 'postgres' ? usersIndex('user_id') : []),
    'DROP INDEX sessions_by_update',
    'CREATE INDEX sessions_by_update ON sessions (updated_at, session_id)',
    'DROP INDEX sessions_by_component',
    'CREATE INDEX sessions_by_component ON sessions (component_id, created_at, session_id)',
    'DROP INDEX sessions_by_kind',
    'DROP INDEX sessions_by_creation',
    'CREATE INDEX sessions_by_creation ON sessions (created_at, session_id)',
    // A name that was given since may be longer than what an index holds.
    'CREATE INDEX sessions_by_name ON sessions (substr(name, 1, 255), session_id)',
    'ALTER TABLE sessions DROP COLUMN search_name',
  ],
};

function usersIndex(user: string): string[] {
  return [
    'DROP INDEX sessions_by_user',
    `CREATE INDEX sessions_by_user ON sessions (${user}, created_at, session_id)`,
  ];
}

/** Approvals as they are, with or without being tied to their runs. SQLite cannot change that in place. */
function approvals(dialect: Dialect, tie: string): string[] {
  if (dialect === 'postgres') {
    const name = 'approvals_run_id_fkey';
    return [
      tie === ''
        ? `ALTER TABLE approvals DROP CONSTRAINT ${name}`
        : `ALTER TABLE approvals ADD CONSTRAINT ${name} FOREIGN KEY (run_id)${tie}`,
    ];
  }
  return [
    `CREATE TABLE other_approvals (
      approval_id text NOT NULL PRIMARY KEY,
      run_id text NOT NULL${tie},
      session_id text NOT NULL,
      source_type text NOT NULL,
      component_id text NOT NULL,
      source_name text,
      user_id text,
      approval_type text NOT NULL,
      pause_type text NOT NULL,
      status text NOT NULL,
      tool_name text NOT NULL,
      tool_args text NOT NULL,
      requirement text,
      resolution_data text,
      resolved_by text,
      resolved_at bigint,
      expires_at bigint,
      schedule_id text,
      schedule_run_id text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    )`,
    'INSERT INTO other_approvals SELECT * FROM approvals',
    'DROP TABLE approvals',
    'ALTER TABLE other_approvals RENAME TO approvals',
    'CREATE INDEX approvals_by_creation ON approvals (created_at, approval_id)',
    'CREATE INDEX approvals_by_status ON approvals (status, created_at, approval_id)',
    'CREATE INDEX approvals_by_user ON approvals (user_id, status, created_at, approval_id)',
    'CREATE INDEX approvals_by_component ON approvals (component_id, created_at, approval_id)',
    'CREATE INDEX approvals_by_run ON approvals (run_id, created_at, approval_id)',
  ];
}
