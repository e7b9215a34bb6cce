import type { Migration } from '../../../platform/storage/database.js';

const isHeld = `status IN ('pending', 'running')`;
const isWaiting = `${isHeld} AND coalesce(lease_expires_at, 0) = 0`;
const isLeased = `${isHeld} AND coalesce(lease_expires_at, 0) > 0`;

const withIndexes = (leased: string, turns: string) =>
  ['runs', 'jobs'].flatMap((table) => [
    `DROP INDEX ${table}_leased`,
    `CREATE INDEX ${table}_leased ON ${table} (coalesce(lease_expires_at, 0)) WHERE ${leased}`,
    `DROP INDEX ${table}_waiting_turns`,
    `CREATE INDEX ${table}_waiting_turns
      ON ${table} (priority, coalesce(user_id, ''), kind, component_id, queue_turn) WHERE ${turns}`,
  ]);

/**
 * A look at the queue can use one index alone: that of the leases holds no waiting runs, and that of the turns is for
 * statements that name its last condition, which holds for every run. With fresh statistics, PostgreSQL took the
 * waiting runs from one of these two, and sorted all of them.
 */
export const leasedRuns: Migration = {
  version: 36,
  name: 'leased-runs',
  up: () => withIndexes(isLeased, `${isWaiting} AND queue_turn >= 0`),
  down: () => withIndexes(isHeld, isWaiting),
};
