import type { JournalTables } from './journal-tables-store.js';

// In the words of the indexes.
const isWaiting = `ahead.status IN ('pending', 'running') AND coalesce(ahead.lease_expires_at, 0) = 0`;

/** The turn of the run that is next in line, among those that are as urgent as `row`. */
export function nextTurn({ runs }: JournalTables, row: string): string {
  return `(SELECT ahead.queue_turn FROM ${runs} AS ahead
    WHERE ${isWaiting} AND ahead.priority = ${row}.priority
    ORDER BY ahead.queue_turn LIMIT 1)`;
}

/**
 * When it is the turn of a run that begins to wait. Runs of one user and component have one turn after the other, and
 * the first of them has that of the next in line. So the first runs in the order of their turns are those of all users
 * and components, however many one of them has queued, and the claiming process looks at those only.
 */
export function queueTurn(tables: JournalTables, row: string): string {
  const { runs } = tables;
  return `coalesce(
    (SELECT ahead.queue_turn + 1 FROM ${runs} AS ahead
      WHERE ${isWaiting} AND ahead.priority = ${row}.priority
        AND coalesce(ahead.user_id, '') = coalesce(${row}.user_id, '')
        AND ahead.kind = ${row}.kind AND ahead.component_id = ${row}.component_id
      ORDER BY ahead.queue_turn DESC LIMIT 1),
    ${nextTurn(tables, row)}, 0)`;
}
