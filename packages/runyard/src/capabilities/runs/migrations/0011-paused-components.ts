import type { Migration } from '../../../platform/storage/database.js';

/** Finds the components with paused runs without reading the runs. */
export const pausedComponents: Migration = {
  version: 11,
  name: 'paused-components',

  // With the second condition, which holds for every run, the index is not taken for reads that have one of their own.
  up: () => [
    `CREATE INDEX runs_paused ON runs (kind, component_id)
      WHERE status = 'paused' AND parent_run_id IS NULL`,
  ],

  down: () => ['DROP INDEX runs_paused'],
};
