import { type Database, statement } from '../../platform/storage/database.js';
import type { MetricsRefreshTable, RefreshStatus } from './tables.js';

/** What is known of the refreshes of one database. */
export interface RefreshRecord {
  readonly status: RefreshStatus;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly error: string | null;
  readonly owner: string | null;
  readonly leaseExpiresAt: number | null;
  /** A time of the database up to which every change is counted; 0 when nothing is. */
  readonly countedUntil: number;
}

/** A process that wants to run the refresh. */
export interface RefreshClaim {
  readonly owner: string;
  /** By the clock of the database, as `expiresAt`. */
  readonly now: number;
  readonly expiresAt: number;
  /** An owner that is known to be dead: its lease does not count. */
  readonly gone: string | null;
}

/** How a refresh ended. */
export interface RefreshEnd {
  readonly status: 'completed' | 'failed';
  readonly error: string | null;
  readonly now: number;
}

const readRow = statement('metrics_refresh', `SELECT * FROM metrics_refresh WHERE id = 'metrics'`);

const makeRow = `
  INSERT INTO metrics_refresh (id, status, counted_until) VALUES ('metrics', 'idle', 0) ON CONFLICT (id) DO NOTHING`;

const claimRow = statement(
  'claim_metrics_refresh',
  `UPDATE metrics_refresh
   SET status = 'running', started_at = ?, finished_at = NULL, error = NULL, owner = ?, lease_expires_at = ?
   WHERE id = 'metrics' AND (status <> 'running' OR lease_expires_at <= ? OR owner = ?) RETURNING id`,
);

const renewLease = statement(
  'renew_metrics_refresh',
  `UPDATE metrics_refresh SET lease_expires_at = ?
   WHERE id = 'metrics' AND status = 'running' AND owner = ? RETURNING id`,
);

const endRefresh = statement(
  'end_metrics_refresh',
  `UPDATE metrics_refresh SET status = ?, error = ?, finished_at = ?, owner = NULL, lease_expires_at = NULL
   WHERE id = 'metrics' AND status = 'running' AND owner = ?`,
);

const advance = statement(
  'advance_metrics_refresh',
  `UPDATE metrics_refresh SET counted_until = ? WHERE id = 'metrics' AND counted_until < ?`,
);

/** Who refreshes the metrics of a database, and how far they are counted: one row that all processes share. */
export class RefreshStore {
  constructor(private readonly database: Database) {}

  async read(): Promise<RefreshRecord> {
    const [row] = await this.database.read<MetricsRefreshTable>(readRow, []);
    if (row === undefined) return { ...neverRefreshed };
    return {
      status: row.status,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      error: row.error,
      owner: row.owner,
      leaseExpiresAt: row.lease_expires_at,
      countedUntil: row.counted_until,
    };
  }

  /** Makes sure that there is a row to lock. */
  async prepare(): Promise<void> {
    const [row] = await this.database.read<MetricsRefreshTable>(readRow, []);
    if (row === undefined) await this.database.transaction((run) => run(makeRow));
  }

  /** Of several processes that want to refresh at the same time, one may. */
  async claim({ owner, now, expiresAt, gone }: RefreshClaim): Promise<boolean> {
    await this.prepare();
    return this.changes(claimRow, [now, owner, expiresAt, now, gone]);
  }

  /** False if another process has taken over. */
  renew(owner: string, expiresAt: number): Promise<boolean> {
    return this.changes(renewLease, [expiresAt, owner]);
  }

  async end(owner: string, { status, error, now }: RefreshEnd): Promise<void> {
    await this.changes(endRefresh, [status, error, now, owner]);
  }

  async advance(countedUntil: number): Promise<void> {
    await this.changes(advance, [countedUntil, countedUntil]);
  }

  private changes(
    { sqlite, postgres }: typeof claimRow,
    parameters: readonly (string | number | null)[],
  ): Promise<boolean> {
    const sql = this.database.dialect === 'sqlite' ? sqlite : postgres;
    return this.database.transaction(async (run) => (await run(sql, parameters)).length > 0);
  }
}

const neverRefreshed: RefreshRecord = {
  status: 'idle',
  startedAt: null,
  finishedAt: null,
  error: null,
  owner: null,
  leaseExpiresAt: null,
  countedUntil: 0,
};
