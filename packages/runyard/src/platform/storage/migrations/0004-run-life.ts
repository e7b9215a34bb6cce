import type { Migration } from '../database.js';

/** What a run needs to be decided on, to be started once, to be cancelled from anywhere, and to begin as a copy. */
export const runLife: Migration = {
  version: 4,
  name: 'run-life',

  up(dialect) {
    const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
    return [
      'ALTER TABLE runs ADD COLUMN lineage text',
      'ALTER TABLE runs ADD COLUMN wake_at bigint',
      `CREATE INDEX runs_to_wake ON runs (wake_at) WHERE status = 'paused' AND wake_at IS NOT NULL`,
      ...approvals,
      `CREATE TABLE idempotency_keys (
        user_key text NOT NULL,
        kind text NOT NULL,
        component_id text NOT NULL,
        key text NOT NULL,
        run_id text NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
        payload text NOT NULL,
        created_at bigint NOT NULL,
        CONSTRAINT idempotency_keys_pk PRIMARY KEY (user_key, kind, component_id, key)
      )${clustered}`,
      // For the removal of runs, which takes their keys along.
      'CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run_id)',
      // No reference to runs: the request may come before the run. One for each who asked: a request of a user who
      // cannot see the run must not stand in the way of its owner's.
      `CREATE TABLE run_cancellations (
        run_id text NOT NULL,
        user_key text NOT NULL,
        kind text NOT NULL,
        component_id text NOT NULL,
        session_id text,
        user_id text,
        reason text NOT NULL,
        requested_at bigint NOT NULL,
        CONSTRAINT run_cancellations_pk PRIMARY KEY (run_id, user_key)
      )${clustered}`,
      'CREATE INDEX run_cancellations_by_time ON run_cancellations (requested_at)',
    ];
  },

  down: () => [
    'DROP TABLE run_cancellations',
    'DROP TABLE idempotency_keys',
    'DROP TABLE approvals',
    'DROP INDEX runs_to_wake',
    'ALTER TABLE runs DROP COLUMN wake_at',
    'ALTER TABLE runs DROP COLUMN lineage',
  ],
};

const approvals = [
  `CREATE TABLE approvals (
    approval_id text NOT NULL PRIMARY KEY,
    run_id text NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
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
  // Lists are newest first. The filters with few values, and those that are seldom used, follow one of these.
  'CREATE INDEX approvals_by_creation ON approvals (created_at, approval_id)',
  'CREATE INDEX approvals_by_status ON approvals (status, created_at, approval_id)',
  // A user's own list, and how many of theirs are pending.
  'CREATE INDEX approvals_by_user ON approvals (user_id, status, created_at, approval_id)',
  'CREATE INDEX approvals_by_component ON approvals (component_id, created_at, approval_id)',
  'CREATE INDEX approvals_by_run ON approvals (run_id, created_at, approval_id)',
];
