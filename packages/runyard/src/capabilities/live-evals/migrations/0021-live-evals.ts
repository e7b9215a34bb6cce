import type { Migration } from '../../../platform/storage/database.js';

/** What evals on live traffic found: a row for each run that an eval chose, and one for each of its scores. */
export const liveEvals: Migration = {
  version: 21,
  name: 'live-evals',

  up(dialect) {
    const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
    return [
      // `updated_at` is the database's own time; `day` that of the run's creation, as in run_usage.
      `CREATE TABLE run_evals (
        run_id text NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
        eval text NOT NULL,
        kind text NOT NULL,
        component_id text NOT NULL,
        user_id text,
        day integer NOT NULL,
        outcome text NOT NULL,
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL,
        CONSTRAINT run_evals_pk PRIMARY KEY (run_id, eval)
      )${clustered}`,
      // How many an eval graded within the last hour.
      'CREATE INDEX run_evals_by_eval ON run_evals (eval, created_at, outcome)',
      'CREATE INDEX run_evals_by_day ON run_evals (day)',
      // What has changed since the days were last summed up.
      'CREATE INDEX run_evals_by_update ON run_evals (updated_at, day)',
      'CREATE INDEX run_evals_by_creation ON run_evals (created_at, run_id, eval)',
      `CREATE TABLE run_scores (
        run_id text NOT NULL,
        eval text NOT NULL,
        scorer text NOT NULL,
        score double precision,
        passed integer,
        reason text,
        judge_id text,
        judge_provider text,
        CONSTRAINT run_scores_pk PRIMARY KEY (run_id, eval, scorer),
        CONSTRAINT run_scores_eval FOREIGN KEY (run_id, eval)
          REFERENCES run_evals (run_id, eval) ON DELETE CASCADE
      )${clustered}`,
      `ALTER TABLE daily_metrics ADD COLUMN eval_metrics text NOT NULL DEFAULT '[]'`,
    ];
  },

  down: () => [
    'ALTER TABLE daily_metrics DROP COLUMN eval_metrics',
    'DROP TABLE run_scores',
    'DROP TABLE run_evals',
  ],
};
