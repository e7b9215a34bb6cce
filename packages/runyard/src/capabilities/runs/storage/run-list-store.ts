import type { RunQueue } from '../../../core/runs/leases/run-queue.js';
import type { Run } from '../../../core/runs/run.js';
import { type Database, type Statement, timedStatement } from '../../../platform/storage/database.js';
import type { RunsTable } from '../tables.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';
import { runColumns, runFromRow } from './rows-store.js';
import { textsOf } from './text-store.js';

// In the words of the indexes: each condition has one of its own, which holds nothing else.
/** The statuses in which a process has to hold the run. */
export const isHeld = `status IN ('pending', 'running')`;
export const isWaiting = `${isHeld} AND coalesce(lease_expires_at, 0) = 0`;
/** By a process, which may have ended. */
export const isLeased = `${isHeld} AND coalesce(lease_expires_at, 0) > 0`;

export type Page = Parameters<RunQueue['waiting']>;

/** A list of runs by a condition that may read the time, and an order. Its pages are of all components or of some. */
export function runList(name: string, condition: (now: string) => string, order: string) {
  const statementsOf = ofTables(({ prefix, runs }) => {
    const sql = (filter: string) => (now: string) =>
      `SELECT ${runColumns.join(', ')} FROM ${runs} WHERE ${condition(now)}${filter}
       ORDER BY ${order} LIMIT ? OFFSET ?`;
    const isOneOf = (list: string) => sql(` AND kind || ' ' || component_id ${list}`);
    const readAll = timedStatement(prefix + name, sql(''));
    const readSome: Statement = {
      name: `${prefix}${name}_of`,
      sqlite: timedStatement('', isOneOf('IN (SELECT value FROM json_each(?))')).sqlite,
      postgres: timedStatement('', isOneOf('= ANY(?::text[])')).postgres,
    };
    return { readAll, readSome };
  });
  return async (database: Database, tables: JournalTables, [limit, passed, of]: Page): Promise<Run[]> => {
    if (of?.length === 0) return [];
    const { readAll, readSome } = statementsOf(tables);
    const rows = await (of === undefined
      ? database.read<RunsTable>(readAll, [limit, passed])
      : database.read<RunsTable>(readSome, [of, limit, passed]));
    return runsOf(database, rows, tables);
  };
}

export async function runsOf(
  database: Database,
  rows: readonly RunsTable[],
  tables: JournalTables = runTables,
): Promise<Run[]> {
  const texts = await textsOf(database, rows, [], tables);
  return rows.map((row) => runFromRow(row, texts));
}
