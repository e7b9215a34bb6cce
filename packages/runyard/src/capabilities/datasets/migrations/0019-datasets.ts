import type { Migration } from '../../../platform/storage/database.js';

/** Datasets of evals, and their cases. */
export const datasets: Migration = {
  version: 19,
  name: 'datasets',

  up: () => [
    `CREATE TABLE datasets (
      dataset_id text NOT NULL PRIMARY KEY,
      user_id text,
      name text NOT NULL,
      description text,
      metadata text,
      revision bigint NOT NULL,
      case_count integer NOT NULL,
      bytes bigint NOT NULL,
      last_position bigint NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    )`,
    // A name is used once by each owner, and once where there is no owner.
    'CREATE UNIQUE INDEX datasets_by_name ON datasets (user_id, name) WHERE user_id IS NOT NULL',
    'CREATE UNIQUE INDEX datasets_by_unowned_name ON datasets (name) WHERE user_id IS NULL',
    'CREATE INDEX datasets_by_creation ON datasets (created_at, dataset_id)',
    'CREATE INDEX datasets_by_user ON datasets (user_id, created_at, dataset_id)',
    // Removed with their dataset.
    `CREATE TABLE dataset_cases (
      dataset_id text NOT NULL REFERENCES datasets (dataset_id) ON DELETE CASCADE,
      case_id text NOT NULL,
      position bigint NOT NULL,
      content text NOT NULL,
      bytes integer NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (dataset_id, case_id)
    )`,
    'CREATE UNIQUE INDEX dataset_cases_by_position ON dataset_cases (dataset_id, position)',
  ],

  down: () => ['DROP TABLE dataset_cases', 'DROP TABLE datasets'],
};
