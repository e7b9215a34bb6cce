import { type Database, statement } from '../../../platform/storage/database.js';
import { jobTables, ofTables, runTables } from '../storage/journal-tables-store.js';
import { isWaiting } from '../storage/run-list-store.js';

/** Of a longer queue no more is counted: what it costs is bounded. */
export const mostCounted = 10_000;

const readDepth = ofTables(({ prefix, runs }) =>
  statement(
    `${prefix}queue_depth`,
    `SELECT count(*) AS depth FROM (
       SELECT 1 FROM ${runs} WHERE ${isWaiting} LIMIT ${mostCounted}) AS waiting`,
  ),
);

/** How many runs and jobs wait in a database for a process with a free slot. */
export async function queueDepth(database: Database): Promise<{ runs: number; jobs: number }> {
  const [runs, jobs] = await Promise.all(
    [runTables, jobTables].map(async (tables) => {
      const [row] = await database.read<{ depth: number }>(readDepth(tables), []);
      return row?.depth ?? 0;
    }),
  );
  return { runs: runs ?? 0, jobs: jobs ?? 0 };
}
