import type { Run } from '../../core/runs/run.js';
import { type Database, type Statement, statement } from '../../platform/storage/database.js';
import { queueStatement } from '../../platform/storage/queue-statement.js';
import type { PushConfig, PushOrigin } from './push-config.js';
import type { PushConfigsTable, PushState } from './tables.js';

/** What a client gave, checked. */
export interface PushConfigValues extends PushOrigin {
  readonly runId: string;
  readonly configId: string;
  readonly url: string;
  readonly token: string | null;
  readonly scheme: string | null;
  readonly credentials: string | null;
}

/** How an attempt ended. */
export interface PushOutcome {
  readonly state: PushState;
  /** The rest that was reported or given up; undefined while it is still to be delivered. */
  readonly reported?: string | undefined;
  readonly error: string | null;
  /** For an attempt that is to be repeated: in how many milliseconds. */
  readonly retryInMs?: number | undefined;
}

/** The states of runs that are reported. A regenerated run has given way to another one. */
const reportedStatuses = ['paused', 'completed', 'error', 'cancelled'] as const;

/** Which rest of a run this is. A run that continues and rests again has sent further events by then. */
export function restOf({ status, nextEventIndex }: Pick<Run, 'status' | 'nextEventIndex'>): string {
  return `${status}:${nextEventIndex}`;
}

export function isReported({ status }: Pick<Run, 'status'>): boolean {
  return reportedStatuses.some((one) => one === status);
}

/** As `isReported` and `restOf`: a rest of the run that was not reported yet. */
const unreported = `EXISTS (SELECT 1 FROM runs WHERE runs.run_id = push_configs.run_id
  AND runs.status IN (${reportedStatuses.map((status) => `'${status}'`).join(', ')})
  AND runs.status || ':' || runs.next_event_index <> push_configs.reported)`;

const columns = [
  'run_id',
  'config_id',
  'mount',
  'dialect',
  'issuer',
  'url',
  'token',
  'scheme',
  'credentials',
] as const;

const given = columns
  .slice(2)
  .map((column) => `${column} = excluded.${column}`)
  .join(', ');

// One more than there may be is refused; one that is there already is replaced. What could not be delivered to an address
// is delivered to the one that replaces it.
const put = queueStatement(
  'put_push_config',
  ({ now }) => `
    INSERT INTO push_configs (${columns.join(', ')}, created_at, updated_at, state, reported, attempts, lease_until)
    SELECT ${columns.map(() => 'CAST(? AS text)').join(', ')}, ${now}, ${now}, 'waiting', '', 0, 0
    WHERE (SELECT count(*) FROM push_configs WHERE run_id = ? AND config_id <> ?) < ?
    ON CONFLICT (run_id, config_id) DO UPDATE SET ${given}, updated_at = excluded.updated_at,
      reported = CASE WHEN push_configs.state = 'failed' THEN '' ELSE push_configs.reported END
    RETURNING *`,
);

const readOne = statement('push_config', 'SELECT * FROM push_configs WHERE run_id = ? AND config_id = ?');
const readAll = statement(
  'push_configs_of_run',
  'SELECT * FROM push_configs WHERE run_id = ? ORDER BY config_id LIMIT ?',
);
const removeOne = statement(
  'remove_push_config',
  'DELETE FROM push_configs WHERE run_id = ? AND config_id = ? RETURNING 1 AS removed',
);

const opened = (now: string) =>
  `SET next_at = ${now}, state = 'pending', attempts = 0, last_error = NULL, updated_at = ${now}`;

const readOfRuns: Statement = {
  name: 'push_configs_of_runs',
  sqlite: 'SELECT DISTINCT run_id FROM push_configs WHERE run_id IN (SELECT value FROM json_each(?))',
  postgres: 'SELECT DISTINCT run_id FROM push_configs WHERE run_id = ANY($1::text[])',
};
const openOfRuns = queueStatement(
  'open_pushes_of_runs',
  ({ now, among, inOrder }) => `
    UPDATE push_configs ${opened(now)} WHERE (run_id, config_id) IN (
      SELECT run_id, config_id FROM push_configs
      WHERE next_at IS NULL AND run_id ${among} AND ${unreported}
      ORDER BY run_id, config_id ${inOrder})
    RETURNING 1 AS opened`,
);
// A row that is locked is in the hands of a process that looks at it itself.
const openAll = queueStatement(
  'open_pushes',
  ({ now, skipLocked }) => `
    UPDATE push_configs ${opened(now)} WHERE (run_id, config_id) IN (
      SELECT run_id, config_id FROM push_configs WHERE next_at IS NULL AND ${unreported}
      ORDER BY run_id, config_id ${skipLocked})
    RETURNING 1 AS opened`,
);

// The attempt counts from its beginning: what ends the process each time is not repeated for ever.
const claim = queueStatement(
  'claim_pushes',
  ({ now, skipLocked }) => `
    UPDATE push_configs
    SET lease_id = CAST(? AS text), lease_until = ${now} + CAST(? AS bigint), attempts = attempts + 1, updated_at = ${now}
    WHERE (run_id, config_id) IN (
      SELECT run_id, config_id FROM push_configs
      WHERE mount = ? AND next_at <= ${now} AND lease_until <= ${now}
      ORDER BY next_at LIMIT ? ${skipLocked})
    RETURNING *`,
);
const readNextDue = queueStatement(
  'next_push_due',
  ({ now, later }) => `
    SELECT min(${later}(next_at, lease_until)) - ${now} AS due_in FROM push_configs
    WHERE mount = ? AND next_at IS NOT NULL`,
);

// Only by the process that has the lease.
const settle = queueStatement(
  'settle_push',
  ({ now }) => `
    UPDATE push_configs SET state = ?, reported = coalesce(CAST(? AS text), reported), last_error = ?,
      next_at = CASE WHEN ? = 'pending' THEN ${now} + CAST(? AS bigint) END,
      lease_id = NULL, lease_until = 0, updated_at = ${now}
    WHERE run_id = ? AND config_id = ? AND lease_id = ? RETURNING 1 AS settled`,
);
const release = statement(
  'release_push',
  `UPDATE push_configs SET lease_id = NULL, lease_until = 0, attempts = attempts - 1
   WHERE run_id = ? AND config_id = ? AND lease_id = ?`,
);

// What was registered for a run that was never stored, or is deleted; and what was last used long ago.
const removeOld = queueStatement(
  'remove_push_configs',
  ({ now, inOrder }) => `
    DELETE FROM push_configs WHERE (run_id, config_id) IN (
      SELECT run_id, config_id FROM push_configs
      WHERE updated_at < ${now} - CAST(? AS bigint) AND (updated_at < ${now} - CAST(? AS bigint)
        OR NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = push_configs.run_id))
      ORDER BY updated_at LIMIT ? ${inOrder})
    RETURNING 1 AS removed`,
);

const putKey = queueStatement(
  'put_push_key',
  ({ now }) => `INSERT INTO push_keys (name, private_key, created_at) VALUES (?, ?, ${now})
    ON CONFLICT (name) DO NOTHING`,
);
const readKey = statement('push_key', 'SELECT private_key FROM push_keys WHERE name = ?');

/** Where clients want to be notified of the runs of one database, and what was delivered. */
export class PushStore {
  constructor(private readonly database: Database) {}

  /** Stores or replaces a config; undefined when the run has as many as it may have. */
  async put(values: PushConfigValues, most: number): Promise<PushConfig | undefined> {
    const { runId, configId, mount, dialect, issuer, url, token, scheme, credentials } = values;
    const [row] = await this.database.change<PushConfigsTable>(put, [
      runId,
      configId,
      mount,
      dialect,
      issuer,
      url,
      token,
      scheme,
      credentials,
      runId,
      configId,
      most,
    ]);
    return row && fromRow(row);
  }

  async find(runId: string, configId: string): Promise<PushConfig | undefined> {
    const [row] = await this.database.read<PushConfigsTable>(readOne, [runId, configId]);
    return row && fromRow(row);
  }

  /** In the order of their ids. */
  async list(runId: string, limit: number): Promise<PushConfig[]> {
    return (await this.database.read<PushConfigsTable>(readAll, [runId, limit])).map(fromRow);
  }

  async remove(runId: string, configId: string): Promise<boolean> {
    return (await this.database.change(removeOne, [runId, configId])).length > 0;
  }

  /** Notes that there is something to deliver for runs that rest. Answers whether there is. */
  async open(runIds: readonly string[]): Promise<boolean> {
    // most runs have none, and a read costs less than a write that changes nothing
    const rows = await this.database.read<{ run_id: string }>(readOfRuns, [runIds]);
    if (rows.length === 0) return false;
    const ids = rows.map((row) => row.run_id);
    return (await this.database.change(openOfRuns, [ids])).length > 0;
  }

  /** The same for all runs: for those whose process ended before it could note it. */
  async openAll(): Promise<void> {
    await this.database.change(openAll, []);
  }

  /** Takes what is due. No other process gets it before the lease ends. */
  async claim(mount: string, leaseId: string, leaseMs: number, limit: number): Promise<PushConfig[]> {
    const rows = await this.database.change<PushConfigsTable>(claim, [leaseId, leaseMs, mount, limit]);
    return rows.map(fromRow);
  }

  /** In how many milliseconds something is due; undefined when nothing is. */
  async dueInMs(mount: string): Promise<number | undefined> {
    const [row] = await this.database.read<{ due_in: number | null }>(readNextDue, [mount]);
    return row?.due_in ?? undefined;
  }

  /** Notes how an attempt ended. False when another process has taken it meanwhile, or it was removed. */
  async settle(
    { runId, configId }: Pick<PushConfig, 'runId' | 'configId'>,
    leaseId: string,
    { state, reported, error, retryInMs }: PushOutcome,
  ): Promise<boolean> {
    const parameters = [
      state,
      reported ?? null,
      error,
      state,
      retryInMs ?? 0,
      runId,
      configId,
      leaseId,
    ] as const;
    return (await this.database.change(settle, parameters)).length > 0;
  }

  /** Gives an attempt back that was not made. */
  async release({ runId, configId }: Pick<PushConfig, 'runId' | 'configId'>, leaseId: string): Promise<void> {
    await this.database.change(release, [runId, configId, leaseId]);
  }

  /** Removes configs of runs that are gone for so long, and those that nothing was sent to for longer. */
  async removeOld(goneMs: number, unusedMs: number, limit: number): Promise<number> {
    return (await this.database.change(removeOld, [goneMs, unusedMs, limit])).length;
  }

  /** The key of a name, or the given one, which is the key from now on: of several processes one decides. */
  async key(name: string, make: () => Promise<string>): Promise<string> {
    const known = await this.findKey(name);
    if (known !== undefined) return known;
    await this.database.change(putKey, [name, await make()]);
    const stored = await this.findKey(name);
    if (stored === undefined) throw new Error('The key of push notifications could not be stored.');
    return stored;
  }

  async findKey(name: string): Promise<string | undefined> {
    const [row] = await this.database.read<{ private_key: string }>(readKey, [name]);
    return row?.private_key;
  }
}

function fromRow(row: PushConfigsTable): PushConfig {
  return {
    runId: row.run_id,
    configId: row.config_id,
    mount: row.mount,
    dialect: row.dialect,
    issuer: row.issuer,
    url: row.url,
    token: row.token,
    scheme: row.scheme,
    credentials: row.credentials,
    createdAt: row.created_at,
    delivery: {
      state: row.state,
      attempts: row.attempts,
      error: row.last_error,
      nextAt: row.next_at,
      updatedAt: row.updated_at,
    },
  };
}
