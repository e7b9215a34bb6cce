import type { Migration } from '../../../platform/storage/database.js';

/** The vectors by which runs are recalled. They are removed with their run. */
export const recallVectors: Migration = {
  version: 29,
  name: 'recall',

  up: (dialect) => [
    `CREATE TABLE recall_vectors (
      run_id text NOT NULL PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
      embedder text NOT NULL,
      vector ${dialect === 'sqlite' ? 'blob' : 'bytea'} NOT NULL
    )`,
  ],

  down: () => ['DROP TABLE recall_vectors'],
};
