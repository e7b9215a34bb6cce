import type { Migration } from '../../../platform/storage/database.js';

/**
 * The order of waiting runs: how urgent each is, and its turn among those of its user and component. Only waiting runs
 * are in the indexes, so that a run that begins at once writes nothing into them.
 */
export const queueOrder: Migration = {
  version: 34,
  name: 'queue-order',

  up: () =>
    ['runs', 'jobs'].flatMap((table) => {
      const waiting = `status IN ('pending', 'running') AND coalesce(lease_expires_at, 0) = 0`;
      return [
        `ALTER TABLE ${table} ADD COLUMN priority integer NOT NULL DEFAULT 1`,
        `ALTER TABLE ${table} ADD COLUMN queue_turn bigint NOT NULL DEFAULT 0`,
        `CREATE INDEX ${table}_waiting ON ${table} (priority, queue_turn, created_at, run_id) WHERE ${waiting}`,
        `CREATE INDEX ${table}_waiting_turns
          ON ${table} (priority, coalesce(user_id, ''), kind, component_id, queue_turn) WHERE ${waiting}`,
      ];
    }),

  down: () =>
    ['runs', 'jobs'].flatMap((table) => [
      `DROP INDEX ${table}_waiting_turns`,
      `DROP INDEX ${table}_waiting`,
      `ALTER TABLE ${table} DROP COLUMN queue_turn`,
      `ALTER TABLE ${table} DROP COLUMN priority`,
    ]),
};
