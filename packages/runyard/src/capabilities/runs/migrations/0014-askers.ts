import type { Migration } from '../../../platform/storage/database.js';

/** Who asked for a run: they do not decide on its calls. */
export const askers: Migration = {
  version: 14,
  name: 'askers',

  // Of runs from before only the user is known; who made an account is looked up when a call is decided on.
  up: () => ["ALTER TABLE runs ADD COLUMN askers text NOT NULL DEFAULT '[]'"],

  down: () => ['ALTER TABLE runs DROP COLUMN askers'],
};
