import type { HeldRun } from '../../../core/runs/leases/run-leases.js';
import type { RunQueue } from '../../../core/runs/leases/run-queue.js';
import type { Run } from '../../../core/runs/run.js';
import type { Database, Statement } from '../../../platform/storage/database.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';
import { isHeld, type Page, runList } from './run-list-store.js';

// In the words of its index.
const readWaiting = runList(
  'waiting_runs',
  () => `${isHeld} AND coalesce(lease_expires_at, 0) = 0`,
  'created_at, run_id',
);

const readDue = runList(
  'runs_to_wake',
  (now) => `status = 'paused' AND wake_at IS NOT NULL AND wake_at <= ${now}`,
  'wake_at, run_id',
);

const readStillWaiting = ofTables(
  ({ prefix, runs }): Statement => ({
    name: `${prefix}runs_still_waiting`,
    sqlite: `SELECT run_id, attempt FROM ${runs}
      WHERE run_id IN (SELECT value FROM json_each(?)) AND ${isHeld} AND lease_owner IS NULL`,
    postgres: `SELECT run_id, attempt FROM ${runs}
      WHERE run_id = ANY($1::text[]) AND ${isHeld} AND lease_owner IS NULL`,
  }),
);

/** The queue as the rows of the runs: a run that is stored without a lease waits. */
export class QueueStore implements RunQueue {
  constructor(
    private readonly database: Database,
    private readonly tables: JournalTables = runTables,
  ) {}

  waiting(...page: Page): Promise<Run[]> {
    return readWaiting(this.database, this.tables, page);
  }

  due(...page: Page): Promise<Run[]> {
    return readDue(this.database, this.tables, page);
  }

  async noLongerWaiting(waiting: readonly HeldRun[]): Promise<string[]> {
    const ids = waiting.map(({ runId }) => runId);
    const rows = await this.database.read<{ run_id: string; attempt: number }>(
      readStillWaiting(this.tables),
      [ids],
    );
    const stillThere = new Map(rows.map((row) => [row.run_id, row.attempt]));
    return waiting
      .filter(({ runId, attempt }) => stillThere.get(runId) !== attempt)
      .map(({ runId }) => runId);
  }
}
