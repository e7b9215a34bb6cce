import type { RunQueue } from '../../../core/runs/leases/run-queue.js';
import type { Run } from '../../../core/runs/run.js';
import { type Database, type Statement, timedStatement } from '../../../platform/storage/database.js';
import type { RunsTable } from '../tables.js';
import { runColumns, runFromRow } from './rows-store.js';
import { textsOf } from './text-store.js';

/** The statuses in which a process has to hold the run. The indexes name them in the same words. */
export const isHeld = `status IN ('pending', 'running')`;

export type Page = Parameters<RunQueue['waiting']>;

/** A list of runs by a condition that may read the time, and an order. Its pages are of all components or of some. */
export function runList(name: string, condition: (now: string) => string, order: string) {
  const sql = (filter: string) => (now: string) =>
    `SELECT ${runColumns.join(', ')} FROM runs WHERE ${condition(now)}${filter}
     ORDER BY ${order}, run_id LIMIT ? OFFSET ?`;
  const isOneOf = (list: string) => sql(` AND kind || ' ' || component_id ${list}`);
  const readAll = timedStatement(name, sql(''));
  const readSome: Statement = {
    name: `${name}_of`,
    sqlite: timedStatement('', isOneOf('IN (SELECT value FROM json_each(?))')).sqlite,
    postgres: timedStatement('', isOneOf('= ANY(?::text[])')).postgres,
  };
  return async (database: Database, [limit, passed, of]: Page): Promise<Run[]> => {
    if (of?.length === 0) return [];
    const rows = await (of === undefined
      ? database.read<RunsTable>(readAll, [limit, passed])
      : database.read<RunsTable>(readSome, [of, limit, passed]));
    return runsOf(database, rows);
  };
}

export async function runsOf(database: Database, rows: readonly RunsTable[]): Promise<Run[]> {
  const texts = await textsOf(database, rows);
  return rows.map((row) => runFromRow(row, texts));
}
