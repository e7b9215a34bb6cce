import type { Migration } from '../../../platform/storage/database.js';

/** What runs are compared by when the code changes while they wait. */
export const definitions: Migration = {
  version: 13,
  name: 'definitions',

  // Runs from before have none: they are compared step by step.
  up: () => ['ALTER TABLE runs ADD COLUMN definition text'],

  down: () => ['ALTER TABLE runs DROP COLUMN definition'],
};
