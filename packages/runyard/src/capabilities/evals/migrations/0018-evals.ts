import type { Migration } from '../../../platform/storage/database.js';

/** Evals, and what each of their cases came out as. */
export const evals: Migration = {
  version: 18,
  name: 'evals',

  up: () => [
    `CREATE TABLE eval_runs (
      eval_run_id text NOT NULL PRIMARY KEY,
      user_id text,
      eval_type text NOT NULL,
      name text,
      agent_id text,
      team_id text,
      workflow_id text,
      component_name text,
      model_id text,
      model_provider text,
      dataset_id text,
      status text NOT NULL,
      error text,
      total integer NOT NULL,
      done integer NOT NULL,
      failed integer NOT NULL,
      eval_input text NOT NULL,
      eval_data text,
      plan text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    )`,
    // Lists are newest first, and those of one user or one component as well.
    'CREATE INDEX eval_runs_by_creation ON eval_runs (created_at, eval_run_id)',
    'CREATE INDEX eval_runs_by_user ON eval_runs (user_id, created_at, eval_run_id)',
    'CREATE INDEX eval_runs_by_agent ON eval_runs (agent_id, created_at) WHERE agent_id IS NOT NULL',
    'CREATE INDEX eval_runs_by_team ON eval_runs (team_id, created_at) WHERE team_id IS NOT NULL',
    'CREATE INDEX eval_runs_by_workflow ON eval_runs (workflow_id, created_at) WHERE workflow_id IS NOT NULL',
    'CREATE INDEX eval_runs_by_dataset ON eval_runs (dataset_id, created_at) WHERE dataset_id IS NOT NULL',
    // Removed with their eval.
    `CREATE TABLE eval_results (
      eval_run_id text NOT NULL REFERENCES eval_runs (eval_run_id) ON DELETE CASCADE,
      position integer NOT NULL,
      case_id text NOT NULL,
      iteration integer NOT NULL,
      input text NOT NULL,
      expected_output text,
      output text,
      status text NOT NULL,
      scores text NOT NULL,
      error text,
      run_id text,
      session_id text,
      duration_ms integer,
      run_time_ms double precision,
      memory_bytes bigint,
      usage text,
      created_at bigint NOT NULL,
      PRIMARY KEY (eval_run_id, position)
    )`,
  ],

  down: () => ['DROP TABLE eval_results', 'DROP TABLE eval_runs'],
};
