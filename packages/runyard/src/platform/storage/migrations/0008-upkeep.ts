import type { Migration } from './migration.js';

/** What finding sessions by name and removing old data need. */
export const upkeep: Migration = {
  version: 8,
  name: 'upkeep',

  up: () => [
    // The name as searches see it. Names from before this version are found as far as the database folds letters.
    'ALTER TABLE sessions ADD COLUMN search_name text',
    'UPDATE sessions SET search_name = lower(name) WHERE name IS NOT NULL',
    'CREATE INDEX sessions_by_search_name ON sessions (search_name, created_at, session_id)',
    'CREATE INDEX sessions_by_kind ON sessions (kind, created_at, session_id)',
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

  down: () => [
    'DROP TABLE retention_progress',
    'DROP INDEX idempotency_keys_by_time',
    'DROP INDEX runs_ended',
    'DROP INDEX sessions_by_kind',
    'DROP INDEX sessions_by_search_name',
    'ALTER TABLE sessions DROP COLUMN search_name',
  ],
};
