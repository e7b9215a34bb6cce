import type { Migration } from '../../../platform/storage/database.js';

/** What runs used, and the sums of each day. */
export const usage: Migration = {
  version: 7,
  name: 'usage',

  up(dialect) {
    const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
    return [
      // One row for the run itself and its main model (the purpose is empty; the members of a team may add others),
      // and one for each purpose and model that it used. `updated_at` is the database's own time.
      `CREATE TABLE run_usage (
        session_id text NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
        run_id text NOT NULL,
        purpose text NOT NULL,
        provider text NOT NULL,
        model text NOT NULL,
        kind text NOT NULL,
        user_id text,
        day integer NOT NULL,
        run_count integer NOT NULL,
        input_tokens bigint NOT NULL,
        output_tokens bigint NOT NULL,
        total_tokens bigint NOT NULL,
        audio_input_tokens bigint NOT NULL,
        audio_output_tokens bigint NOT NULL,
        audio_total_tokens bigint NOT NULL,
        cache_read_tokens bigint NOT NULL,
        cache_write_tokens bigint NOT NULL,
        reasoning_tokens bigint NOT NULL,
        cost double precision,
        updated_at bigint NOT NULL,
        CONSTRAINT run_usage_pk PRIMARY KEY (session_id, run_id, purpose, provider, model)
      )${clustered}`,
      'CREATE INDEX run_usage_by_day ON run_usage (day)',
      // What has changed since the days were last summed up.
      `CREATE INDEX run_usage_by_update ON run_usage (updated_at, day) WHERE purpose = ''`,
      `CREATE TABLE daily_metrics (
        day integer NOT NULL PRIMARY KEY,
        id text NOT NULL,
        agent_runs_count bigint NOT NULL,
        agent_sessions_count bigint NOT NULL,
        team_runs_count bigint NOT NULL,
        team_sessions_count bigint NOT NULL,
        workflow_runs_count bigint NOT NULL,
        workflow_sessions_count bigint NOT NULL,
        users_count bigint NOT NULL,
        token_metrics text NOT NULL,
        model_metrics text NOT NULL,
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL
      )`,
      // One row: the result of the last refresh, which process runs it, and up to when everything is counted.
      `CREATE TABLE metrics_refresh (
        id text NOT NULL PRIMARY KEY,
        status text NOT NULL,
        started_at bigint,
        finished_at bigint,
        error text,
        owner text,
        lease_expires_at bigint,
        counted_until bigint NOT NULL
      )`,
    ];
  },

  down: () => ['DROP TABLE metrics_refresh', 'DROP TABLE daily_metrics', 'DROP TABLE run_usage'],
};
