import type { Migration } from '../../../platform/storage/database.js';

/**
 * Long texts of runs, in parts: they stand once, and steps, results and events refer to them. What was stored before
 * holds its texts itself and stays as it is. `kept` is 0 for a text that only events refer to.
 */
export const runTexts: Migration = {
  version: 12,
  name: 'run-texts',

  up: () => [
    `CREATE TABLE run_texts (
      run_id text NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
      text_id text NOT NULL,
      part integer NOT NULL,
      kept integer NOT NULL,
      payload text NOT NULL,
      CONSTRAINT run_texts_pk PRIMARY KEY (run_id, text_id, part)
    )`,
  ],

  down: () => ['DROP TABLE run_texts'],
};
