import type { HeldRun, LeaseClaim } from '../../../core/runs/journal/ports.js';
import type { Run } from '../../../core/runs/run.js';
import {
  type Database,
  databaseNow,
  type SqlValue,
  type Statement,
  statement,
  timedStatement,
  timeOf,
} from '../../../platform/storage/database.js';
import type { RunsTable } from '../tables.js';
import { runColumns, runFromRow } from './rows-store.js';
import { textsOf } from './text-store.js';

/** The statuses in which a process has to hold the run. The indexes name them in the same words. */
const isHeld = `status IN ('pending', 'running')`;

/** Bounds how many rows one statement locks. */
const renewedAtOnce = 500;

const runList = runColumns.join(', ');

const expired = (now: string, filter: string) =>
  `SELECT ${runList} FROM runs WHERE ${isHeld} AND coalesce(lease_expires_at, 0) <= ${now}${filter}
   ORDER BY created_at, run_id LIMIT ? OFFSET ?`;

const due = (now: string, filter: string) =>
  `SELECT ${runList} FROM runs WHERE status = 'paused' AND wake_at IS NOT NULL AND wake_at <= ${now}${filter}
   ORDER BY wake_at, run_id LIMIT ? OFFSET ?`;

const readExpired = timedStatement('expired_runs', (now) => expired(now, ''));
const readExpiredOf = ofComponents('expired_runs_of', expired);
const readDue = timedStatement('runs_to_wake', (now) => due(now, ''));
const readDueOf = ofComponents('runs_to_wake_of', due);

const readLeaseOwners = statement(
  'lease_owners',
  `SELECT DISTINCT lease_owner FROM runs WHERE ${isHeld} AND lease_owner IS NOT NULL`,
);

const readWaiting: Statement = {
  name: 'waiting_runs',
  sqlite: `SELECT run_id, attempt FROM runs
    WHERE run_id IN (SELECT value FROM json_each(?)) AND ${isHeld} AND lease_owner IS NULL`,
  postgres: `SELECT run_id, attempt FROM runs WHERE run_id = ANY($1::text[]) AND ${isHeld} AND lease_owner IS NULL`,
};

// A run that rests or ended in the meantime is not there to be taken over.
const claimRun = ({ now }: { now: string }) => `
  UPDATE runs SET attempt = attempt + 1, lease_owner = ?, lease_expires_at = ${now} + ?,
    next_event_index = next_event_index + ?, updated_at = ${now}
  WHERE run_id = ? AND attempt = ? AND ${isHeld} AND (lease_expires_at IS NULL OR lease_expires_at <= ${now})
  RETURNING ${runList}`;

const claim: Statement = {
  name: 'claim_run',
  sqlite: claimRun({ now: databaseNow.sqlite }),
  postgres: statement('', claimRun({ now: databaseNow.postgres })).postgres,
};

/** PostgreSQL locks in the order of the ids, as commits do: two that wait for each other would be a deadlock. */
const changeLeases = (
  name: string,
  change: Record<'sqlite' | 'postgres', string>,
  which: string,
): Statement => ({
  name,
  sqlite: `UPDATE runs SET ${change.sqlite} WHERE lease_owner = ? AND ${isHeld} ${which} RETURNING run_id, attempt`,
  postgres: statement(
    '',
    `WITH locked AS (
       SELECT run_id FROM runs WHERE lease_owner = ? AND ${isHeld} ${which} ORDER BY run_id FOR NO KEY UPDATE)
     UPDATE runs SET ${change.postgres} FROM locked WHERE runs.run_id = locked.run_id
     RETURNING runs.run_id, runs.attempt`,
  ).postgres,
});

const releaseLeases = changeLeases(
  'release_leases',
  // the run waits from now on, however long its last step took
  {
    sqlite: `lease_owner = NULL, lease_expires_at = NULL, updated_at = ${databaseNow.sqlite}`,
    postgres: `lease_owner = NULL, lease_expires_at = NULL, updated_at = ${databaseNow.postgres}`,
  },
  '',
);

/** Takes the length of the lease as text: PostgreSQL's placeholders would have to be numbered from within the change. */
function renewLeases(leaseMs: number): Statement {
  const ms = Math.round(leaseMs);
  const change = {
    sqlite: `lease_expires_at = ${databaseNow.sqlite} + ${ms}`,
    postgres: `lease_expires_at = ${databaseNow.postgres} + ${ms}`,
  };
  const { sqlite } = changeLeases('renew_leases', change, 'AND run_id IN (SELECT value FROM json_each(?))');
  const { postgres } = changeLeases('renew_leases', change, 'AND run_id = ANY(?::text[])');
  return { name: 'renew_leases', sqlite, postgres };
}

/** Which process executes which run, and until when nobody else may: by the clock of the database. */
export class LeaseStore {
  constructor(private readonly database: Database) {}

  now(): Promise<number> {
    return timeOf(this.database);
  }

  async expired(limit: number, passed: number, of?: readonly string[]): Promise<Run[]> {
    if (of?.length === 0) return [];
    const rows = await (of === undefined
      ? this.database.read<RunsTable>(readExpired, [limit, passed])
      : this.database.read<RunsTable>(readExpiredOf, [of, limit, passed]));
    return this.#runs(rows);
  }

  async due(limit: number, passed: number, of?: readonly string[]): Promise<Run[]> {
    if (of?.length === 0) return [];
    const rows = await (of === undefined
      ? this.database.read<RunsTable>(readDue, [limit, passed])
      : this.database.read<RunsTable>(readDueOf, [of, limit, passed]));
    return this.#runs(rows);
  }

  async owners(): Promise<string[]> {
    const rows = await this.database.read<{ lease_owner: string }>(readLeaseOwners, []);
    return rows.map((row) => row.lease_owner);
  }

  async claim({ runId, attempt, owner, leaseMs, indexGap }: LeaseClaim): Promise<Run | undefined> {
    const rows = await this.#change<RunsTable>(claim, [owner, leaseMs, indexGap, runId, attempt]);
    return (await this.#runs(rows))[0];
  }

  async #runs(rows: readonly RunsTable[]): Promise<Run[]> {
    const texts = await textsOf(this.database, rows);
    return rows.map((row) => runFromRow(row, texts));
  }

  /** Answers with those that are lost. */
  async renew(owner: string, held: readonly HeldRun[], leaseMs: number): Promise<string[]> {
    const lost: string[] = [];
    for (let at = 0; at < held.length; at += renewedAtOnce) {
      const some = held.slice(at, at + renewedAtOnce);
      const rows = await this.#change<{ run_id: string; attempt: number }>(renewLeases(leaseMs), [
        owner,
        some.map(({ runId }) => runId),
      ]);
      const renewed = new Map(rows.map((row) => [row.run_id, row.attempt]));
      for (const { runId, attempt } of some) if (renewed.get(runId) !== attempt) lost.push(runId);
    }
    return lost;
  }

  async release(owner: string): Promise<void> {
    await this.#change(releaseLeases, [owner]);
  }

  async noLongerWaiting(waiting: readonly HeldRun[]): Promise<string[]> {
    const ids = waiting.map(({ runId }) => runId);
    const rows = await this.database.read<{ run_id: string; attempt: number }>(readWaiting, [ids]);
    const stillThere = new Map(rows.map((row) => [row.run_id, row.attempt]));
    return waiting
      .filter(({ runId, attempt }) => stillThere.get(runId) !== attempt)
      .map(({ runId }) => runId);
  }

  #change<Row>(change: Statement, parameters: readonly SqlValue[]): Promise<Row[]> {
    return this.database.transaction((run) => run<Row>(change[this.database.dialect], parameters));
  }
}

/** A statement whose first parameter is a list of components. */
function ofComponents(name: string, sql: (now: string, filter: string) => string): Statement {
  const isOneOf = (list: string) => ` AND kind || ' ' || component_id ${list}`;
  const { sqlite } = timedStatement(name, (now) => sql(now, isOneOf('IN (SELECT value FROM json_each(?))')));
  const { postgres } = timedStatement(name, (now) => sql(now, isOneOf('= ANY(?::text[])')));
  return { name, sqlite, postgres };
}
