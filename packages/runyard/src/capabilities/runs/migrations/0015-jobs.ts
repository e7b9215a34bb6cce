import type { Migration } from '../../../platform/storage/database.js';

/**
 * Jobs: long work of the service, executed like runs. The tables are those of runs, apart from them, so that no list of
 * runs shows a job. A job has no session.
 */
export const jobs: Migration = {
  version: 15,
  name: 'jobs',

  up: (dialect) => {
    const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
    return [
      `CREATE TABLE jobs (
        run_id text NOT NULL PRIMARY KEY,
        kind text NOT NULL,
        component_id text NOT NULL,
        component_name text,
        session_id text NOT NULL,
        user_id text,
        parent_run_id text,
        model text,
        model_provider text,
        input text NOT NULL,
        created_at bigint NOT NULL,
        lineage text,
        trace_parent text,
        attempt integer NOT NULL,
        status text NOT NULL,
        result text,
        lease_owner text,
        lease_expires_at bigint,
        next_event_index integer NOT NULL,
        updated_at bigint NOT NULL,
        wake_at bigint,
        definition text,
        askers text NOT NULL
      )`,
      // As those of runs: what waits or is executed, and what has ended.
      `CREATE INDEX jobs_leased ON jobs (coalesce(lease_expires_at, 0))
        WHERE status IN ('pending', 'running')`,
      `CREATE INDEX jobs_ended ON jobs (updated_at, run_id)
        WHERE status IN ('completed', 'error', 'cancelled', 'regenerated')`,
      `CREATE TABLE job_steps (
        run_id text NOT NULL REFERENCES jobs (run_id) ON DELETE CASCADE,
        seq integer NOT NULL,
        key text NOT NULL,
        kind text NOT NULL,
        name text NOT NULL,
        parent_key text,
        status text NOT NULL,
        attempt integer NOT NULL,
        input text,
        output text,
        error text,
        started_at bigint NOT NULL,
        ended_at bigint,
        CONSTRAINT job_steps_pk PRIMARY KEY (run_id, seq)
      )`,
      `CREATE TABLE job_event_blocks (
        run_id text NOT NULL REFERENCES jobs (run_id) ON DELETE CASCADE,
        first_index integer NOT NULL,
        event_count integer NOT NULL,
        payload text NOT NULL,
        CONSTRAINT job_event_blocks_pk PRIMARY KEY (run_id, first_index)
      )`,
      `CREATE TABLE job_texts (
        run_id text NOT NULL REFERENCES jobs (run_id) ON DELETE CASCADE,
        text_id text NOT NULL,
        part integer NOT NULL,
        kept integer NOT NULL,
        payload text NOT NULL,
        CONSTRAINT job_texts_pk PRIMARY KEY (run_id, text_id, part)
      )`,
      `CREATE TABLE job_cancellations (
        run_id text NOT NULL,
        user_key text NOT NULL,
        kind text NOT NULL,
        component_id text NOT NULL,
        session_id text,
        user_id text,
        reason text NOT NULL,
        requested_at bigint NOT NULL,
        CONSTRAINT job_cancellations_pk PRIMARY KEY (run_id, user_key)
      )${clustered}`,
      'CREATE INDEX job_cancellations_by_time ON job_cancellations (requested_at)',
    ];
  },

  down: () =>
    ['job_cancellations', 'job_texts', 'job_event_blocks', 'job_steps', 'jobs'].map(
      (table) => `DROP TABLE ${table}`,
    ),
};
