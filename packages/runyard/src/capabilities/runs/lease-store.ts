import type { LeaseClaim } from '../../core/runs/ports.js';
import type { Run } from '../../core/runs/run.js';
import { type Database, type Statement, statement } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import type { RunsTable } from '../../platform/storage/schema.js';
import { runColumns, runFromRow } from './rows-store.js';
import { textsOf } from './text-store.js';

/** The statuses in which a process has to hold the run. The indexes name them in the same words. */
const heldStatuses = ['pending', 'running'] as const;

/** Parameters of one statement are bounded. */
const renewedAtOnce = 500;

const expired = (filter: string) =>
  `SELECT ${runColumns.join(', ')} FROM runs
   WHERE status IN ('pending', 'running') AND coalesce(lease_expires_at, 0) <= ?${filter}
   ORDER BY created_at, run_id LIMIT ? OFFSET ?`;

const due = (filter: string) =>
  `SELECT ${runColumns.join(', ')} FROM runs
   WHERE status = 'paused' AND wake_at IS NOT NULL AND wake_at <= ?${filter}
   ORDER BY wake_at, run_id LIMIT ? OFFSET ?`;

const readExpired = statement('expired_runs', expired(''));
const readExpiredOf = ofComponents('expired_runs_of', expired);
const readDue = statement('runs_to_wake', due(''));
const readDueOf = ofComponents('runs_to_wake_of', due);

const readLeaseOwners = statement(
  'lease_owners',
  `SELECT DISTINCT lease_owner FROM runs WHERE status IN ('pending', 'running') AND lease_owner IS NOT NULL`,
);

/** Which process executes which run, and until when nobody else may. */
export class LeaseStore {
  constructor(private readonly database: Database) {}

  async expired(now: number, limit: number, passed: number, of?: readonly string[]): Promise<Run[]> {
    if (of?.length === 0) return [];
    const rows = await (of === undefined
      ? this.database.read<RunsTable>(readExpired, [now, limit, passed])
      : this.database.read<RunsTable>(readExpiredOf, [now, of, limit, passed]));
    return this.#runs(rows);
  }

  async due(now: number, limit: number, passed: number, of?: readonly string[]): Promise<Run[]> {
    if (of?.length === 0) return [];
    const rows = await (of === undefined
      ? this.database.read<RunsTable>(readDue, [now, limit, passed])
      : this.database.read<RunsTable>(readDueOf, [now, of, limit, passed]));
    return this.#runs(rows);
  }

  async owners(): Promise<string[]> {
    const rows = await this.database.read<{ lease_owner: string }>(readLeaseOwners, []);
    return rows.map((row) => row.lease_owner);
  }

  async claim({ runId, attempt, owner, now, expiresAt, indexGap }: LeaseClaim): Promise<Run | undefined> {
    const row = await this.database.query
      .updateTable('runs')
      .set((run) => ({
        attempt: attempt + 1,
        lease_owner: owner,
        lease_expires_at: expiresAt,
        next_event_index: run('next_event_index', '+', indexGap),
        updated_at: now,
      }))
      .where('run_id', '=', runId)
      .where('attempt', '=', attempt)
      // A run that rests or ended in the meantime is not there to be taken over.
      .where('status', 'in', heldStatuses)
      .where((where) =>
        where.or([where('lease_expires_at', '<=', now), where('lease_expires_at', 'is', null)]),
      )
      .returning(runColumns)
      .executeTakeFirst();
    return row && runFromRow(row, await textsOf(this.database, [row]));
  }

  async #runs(rows: readonly RunsTable[]): Promise<Run[]> {
    const texts = await textsOf(this.database, rows);
    return rows.map((row) => runFromRow(row, texts));
  }

  async renew(owner: string, runIds: readonly string[], expiresAt: number): Promise<void> {
    for (let at = 0; at < runIds.length; at += renewedAtOnce) {
      const some = runIds.slice(at, at + renewedAtOnce);
      await this.database.query
        .updateTable('runs')
        .set({ lease_expires_at: expiresAt })
        .where('run_id', 'in', this.#lockedRunsOf(owner).where('run_id', 'in', some))
        .execute();
    }
  }

  async release(owner: string): Promise<void> {
    await this.database.query
      .updateTable('runs')
      // the run waits from now on, however long its last step took
      .set({ lease_owner: null, lease_expires_at: null, updated_at: Date.now() })
      .where('run_id', 'in', this.#lockedRunsOf(owner))
      .execute();
  }

  #lockedRunsOf(owner: string) {
    const runs = this.database.query
      .selectFrom('runs')
      .select('run_id')
      .where('lease_owner', '=', owner)
      // As text of the query, not as parameters: only so the planner knows that the index holds all of them.
      .where(
        'status',
        'in',
        heldStatuses.map((status) => queryBuilder().sql.lit(status)),
      );
    if (this.database.dialect === 'sqlite') return runs;
    // Locked in the order of the ids, as commits do: two that wait for each other would be a deadlock.
    return runs.orderBy('run_id').forNoKeyUpdate();
  }
}

/** A statement whose second parameter is a list of components. */
function ofComponents(name: string, sql: (filter: string) => string): Statement {
  const isOneOf = (list: string) => ` AND kind || ' ' || component_id ${list}`;
  return {
    name,
    sqlite: sql(isOneOf('IN (SELECT value FROM json_each(?))')),
    postgres: statement('', sql(isOneOf('= ANY(?::text[])'))).postgres,
  };
}
