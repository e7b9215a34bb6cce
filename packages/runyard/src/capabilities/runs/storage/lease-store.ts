import type { HeldRun, LeaseClaim, RunLeases } from '../../../core/runs/leases/run-leases.js';
import type { Run } from '../../../core/runs/run.js';
import {
  type Database,
  databaseNow,
  type Statement,
  statement,
  timeOf,
} from '../../../platform/storage/database.js';
import type { RunsTable } from '../tables.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';
import { nextTurn } from './queue-store.js';
import { runColumns } from './rows-store.js';
import { isHeld, isLeased, type Page, runList, runsOf } from './run-list-store.js';

/** Bounds how many rows one statement locks. */
const renewedAtOnce = 500;

const readExpired = runList(
  'expired_runs',
  (now) => `${isLeased} AND coalesce(lease_expires_at, 0) <= ${now}`,
  'created_at, run_id',
);

const statementsOf = ofTables((tables) => {
  const { prefix, runs } = tables;
  // A run that rests or ended in the meantime is not there to be taken over.
  const claimRun = ({ now }: { now: string }) => `
    UPDATE ${runs} SET attempt = attempt + 1, lease_owner = ?, lease_expires_at = ${now} + ?,
      next_event_index = next_event_index + ?, updated_at = ${now}
    WHERE run_id = ? AND attempt = ? AND ${isHeld} AND (lease_expires_at IS NULL OR lease_expires_at <= ${now})
    RETURNING ${runColumns.join(', ')}`;

  const claim: Statement = {
    name: `${prefix}claim_run`,
    sqlite: claimRun({ now: databaseNow.sqlite }),
    postgres: statement('', claimRun({ now: databaseNow.postgres })).postgres,
  };

  const readOwners = statement(
    `${prefix}lease_owners`,
    `SELECT DISTINCT lease_owner FROM ${runs} WHERE ${isLeased}`,
  );

  /** PostgreSQL locks in the order of the ids, as commits do: two that wait for each other would be a deadlock. */
  const changeLeases = (
    name: string,
    change: Record<'sqlite' | 'postgres', string>,
    which: string,
  ): Statement => ({
    name: prefix + name,
    sqlite: `UPDATE ${runs} SET ${change.sqlite} WHERE lease_owner = ? AND ${isLeased} ${which}
      RETURNING run_id, attempt`,
    postgres: statement(
      '',
      `WITH locked AS (
         SELECT run_id FROM ${runs} WHERE lease_owner = ? AND ${isLeased} ${which} ORDER BY run_id FOR NO KEY UPDATE)
       UPDATE ${runs} SET ${change.postgres} FROM locked WHERE ${runs}.run_id = locked.run_id
       RETURNING ${runs}.run_id, ${runs}.attempt`,
    ).postgres,
  });

  const released = `lease_owner = NULL, lease_expires_at = NULL, queue_turn = coalesce(${nextTurn(tables, runs)}, 0)`;
  const release = changeLeases(
    'release_leases',
    // the run waits from now on, however long its last step took; it had its turn before
    {
      sqlite: `${released}, updated_at = ${databaseNow.sqlite}`,
      postgres: `${released}, updated_at = ${databaseNow.postgres}`,
    },
    '',
  );

  /** Takes the length of the lease as text: PostgreSQL's placeholders would have to be numbered from within the change. */
  const renew = (leaseMs: number): Statement => {
    const ms = Math.round(leaseMs);
    const change = {
      sqlite: `lease_expires_at = ${databaseNow.sqlite} + ${ms}`,
      postgres: `lease_expires_at = ${databaseNow.postgres} + ${ms}`,
    };
    const { name, sqlite } = changeLeases(
      'renew_leases',
      change,
      'AND run_id IN (SELECT value FROM json_each(?))',
    );
    const { postgres } = changeLeases('renew_leases', change, 'AND run_id = ANY(?::text[])');
    return { name: `${name}_${ms}`, sqlite, postgres };
  };

  return { claim, readOwners, release, renew };
});

/** Which process executes which run, and until when no other may: by the clock of the database. */
export class LeaseStore implements RunLeases {
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor(
    private readonly database: Database,
    private readonly tables: JournalTables = runTables,
  ) {
    this.#statements = statementsOf(tables);
  }

  now(): Promise<number> {
    return timeOf(this.database);
  }

  expired(...page: Page): Promise<Run[]> {
    return readExpired(this.database, this.tables, page);
  }

  async owners(): Promise<string[]> {
    const rows = await this.database.read<{ lease_owner: string }>(this.#statements.readOwners, []);
    return rows.map((row) => row.lease_owner);
  }

  async claim({ runId, attempt, owner, leaseMs, indexGap }: LeaseClaim): Promise<Run | undefined> {
    const rows = await this.database.change<RunsTable>(this.#statements.claim, [
      owner,
      leaseMs,
      indexGap,
      runId,
      attempt,
    ]);
    return (await runsOf(this.database, rows, this.tables))[0];
  }

  async renew(owner: string, held: readonly HeldRun[], leaseMs: number): Promise<string[]> {
    const lost: string[] = [];
    for (let at = 0; at < held.length; at += renewedAtOnce) {
      const some = held.slice(at, at + renewedAtOnce);
      const rows = await this.database.change<{ run_id: string; attempt: number }>(
        this.#statements.renew(leaseMs),
        [owner, some.map(({ runId }) => runId)],
      );
      const renewed = new Map(rows.map((row) => [row.run_id, row.attempt]));
      for (const { runId, attempt } of some) if (renewed.get(runId) !== attempt) lost.push(runId);
    }
    return lost;
  }

  async release(owner: string): Promise<void> {
    await this.database.change(this.#statements.release, [owner]);
  }
}
