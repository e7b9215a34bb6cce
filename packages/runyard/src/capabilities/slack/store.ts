import { type Database, type Statement, statement } from '../../platform/storage/database.js';
import { queueStatement } from '../../platform/storage/queue-statement.js';
import type { SlackDeliveriesTable, SlackLane, SlackRunsTable } from './tables.js';

/** What Slack delivers, as it is stored before it is acknowledged. */
export interface NewDelivery {
  readonly mount: string;
  /** The event's id; of an interaction, the message and the time of the action. */
  readonly deliveryId: string;
  readonly lane: SlackLane;
  readonly orderKey: string;
  readonly position: string;
  readonly payload: string;
}

/** A delivery in the hands of this process. */
export interface StoredDelivery extends NewDelivery {
  readonly runId: string | null;
  readonly progress: string | null;
  /** This attempt included. */
  readonly attempts: number;
  /** How long ago it came when this process took it. */
  readonly ageMs: number;
  readonly leaseId: string;
}

/** A delivery that is not processed yet. */
export interface OpenDelivery {
  readonly mount: string;
  readonly deliveryId: string;
  readonly runId: string | null;
}

/** A run that came from Slack. */
export interface StoredSlackRun {
  readonly runId: string;
  readonly mount: string;
  readonly place: string;
  readonly notes: string;
}

const columns = ['mount', 'delivery_id', 'lane', 'order_key', 'position', 'payload'] as const;

// A delivery that is known is neither stored nor processed again. More than there may be wait at Slack.
const put = queueStatement(
  'put_slack_delivery',
  ({ now }) => `
    INSERT INTO slack_deliveries (${columns.join(', ')}, attempts, created_at, updated_at, next_at, lease_until)
    SELECT ${columns.map(() => 'CAST(? AS text)').join(', ')}, 0, ${now}, ${now}, ${now}, 0
    WHERE (SELECT count(*) FROM slack_deliveries WHERE mount = ? AND next_at IS NOT NULL) < ?
    ON CONFLICT (mount, delivery_id) DO NOTHING
    RETURNING 1 AS stored`,
);
const readKnown = statement(
  'slack_delivery_known',
  'SELECT 1 AS known FROM slack_deliveries WHERE mount = ? AND delivery_id = ?',
);

// What comes before it in its thread is processed first, and never at the same time.
const claim = queueStatement(
  'claim_slack_deliveries',
  ({ now, skipLocked }) => `
    UPDATE slack_deliveries
    SET lease_id = CAST(? AS text), lease_until = ${now} + CAST(? AS bigint), attempts = attempts + 1, updated_at = ${now}
    WHERE (mount, delivery_id) IN (
      SELECT mount, delivery_id FROM slack_deliveries AS due
      WHERE mount = ? AND lane = ? AND next_at <= ${now} AND lease_until <= ${now}
        AND NOT EXISTS (SELECT 1 FROM slack_deliveries AS other
          WHERE other.mount = due.mount AND other.order_key = due.order_key AND other.next_at IS NOT NULL
            AND other.delivery_id <> due.delivery_id
            AND (other.lease_until > ${now} OR other.position < due.position
              OR (other.position = due.position AND other.delivery_id < due.delivery_id)))
      ORDER BY next_at LIMIT ? ${skipLocked})
    RETURNING *, ${now} - created_at AS age`,
);
const readNextDue = queueStatement(
  'next_slack_delivery_due',
  ({ now, later }) => `
    SELECT min(${later}(next_at, lease_until)) - ${now} AS due_in FROM slack_deliveries
    WHERE mount = ? AND next_at IS NOT NULL`,
);

const held = 'mount = ? AND delivery_id = ? AND lease_id = ?';
const renew = queueStatement(
  'renew_slack_deliveries',
  ({ now, among }) => `
    UPDATE slack_deliveries SET lease_until = ${now} + CAST(? AS bigint)
    WHERE next_at IS NOT NULL AND lease_id ${among} RETURNING lease_id`,
);
const save = queueStatement(
  'save_slack_delivery',
  ({ now }) => `
    UPDATE slack_deliveries SET progress = ?, updated_at = ${now} WHERE ${held} RETURNING 1 AS saved`,
);
const assign = queueStatement(
  'assign_slack_delivery',
  ({ now }) => `
    UPDATE slack_deliveries SET run_id = ?, updated_at = ${now} WHERE ${held} RETURNING 1 AS saved`,
);
// What a user wrote is kept with the run, and not here.
const finish = queueStatement(
  'finish_slack_delivery',
  ({ now }) => `
    UPDATE slack_deliveries SET next_at = NULL, lease_id = NULL, lease_until = 0, payload = '', progress = NULL,
      last_error = ?, updated_at = ${now}
    WHERE ${held} RETURNING 1 AS saved`,
);
const retry = queueStatement(
  'retry_slack_delivery',
  ({ now }) => `
    UPDATE slack_deliveries SET next_at = ${now} + CAST(? AS bigint), lease_id = NULL, lease_until = 0, last_error = ?,
      updated_at = ${now}
    WHERE ${held} RETURNING 1 AS saved`,
);
// An attempt that failed because Slack could not be reached does not count.
const defer = queueStatement(
  'defer_slack_delivery',
  ({ now }) => `
    UPDATE slack_deliveries SET next_at = ${now} + CAST(? AS bigint), lease_id = NULL, lease_until = 0, last_error = ?,
      attempts = attempts - 1, updated_at = ${now}
    WHERE ${held} RETURNING 1 AS saved`,
);
const readOpen = statement(
  'open_slack_deliveries',
  `SELECT mount, delivery_id, run_id FROM slack_deliveries
   WHERE mount = ? AND order_key = ? AND next_at IS NOT NULL AND delivery_id <> ? AND position < ?
   ORDER BY position LIMIT ?`,
);
const drop = queueStatement(
  'drop_slack_delivery',
  ({ now }) => `
    UPDATE slack_deliveries SET next_at = NULL, payload = '', progress = NULL, last_error = ?, updated_at = ${now}
    WHERE mount = ? AND delivery_id = ? AND next_at IS NOT NULL AND run_id IS NULL AND lease_until <= ${now}
    RETURNING 1 AS dropped`,
);
const release = statement(
  'release_slack_delivery',
  `UPDATE slack_deliveries SET lease_id = NULL, lease_until = 0, attempts = attempts - 1 WHERE ${held}`,
);
const removeOld = queueStatement(
  'remove_slack_deliveries',
  ({ now, inOrder }) => `
    DELETE FROM slack_deliveries WHERE (mount, delivery_id) IN (
      SELECT mount, delivery_id FROM slack_deliveries
      WHERE next_at IS NULL AND updated_at < ${now} - CAST(? AS bigint)
      ORDER BY updated_at LIMIT ? ${inOrder})
    RETURNING 1 AS removed`,
);

const putRun = queueStatement(
  'put_slack_run',
  ({ now }) => `
    INSERT INTO slack_runs (run_id, mount, thread_key, place, notes, created_at, updated_at)
    VALUES (?, ?, ?, ?, '{}', ${now}, ${now}) ON CONFLICT (run_id) DO NOTHING`,
);
const readRun = statement('slack_run', 'SELECT * FROM slack_runs WHERE run_id = ? AND mount = ?');
const readRunsOfThread = statement(
  'slack_runs_of_thread',
  'SELECT * FROM slack_runs WHERE mount = ? AND thread_key = ? ORDER BY created_at DESC, run_id DESC LIMIT ?',
);
const writeNotes = queueStatement(
  'write_slack_notes',
  ({ now }) => `UPDATE slack_runs SET notes = ?, updated_at = ${now} WHERE run_id = ? AND mount = ?`,
);
const removeOldRuns = queueStatement(
  'remove_slack_runs',
  ({ now, inOrder }) => `
    DELETE FROM slack_runs WHERE run_id IN (
      SELECT run_id FROM slack_runs
      WHERE updated_at < ${now} - CAST(? AS bigint) AND (updated_at < ${now} - CAST(? AS bigint)
        OR NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = slack_runs.run_id))
      ORDER BY updated_at LIMIT ? ${inOrder})
    RETURNING 1 AS removed`,
);

/** What Slack delivered, and the runs that it led to. */
export class SlackStore {
  constructor(private readonly database: Database) {}

  /** `known`: it was delivered before. `full`: too much waits, and Slack is to deliver it again later. */
  async put(delivery: NewDelivery, most: number): Promise<'stored' | 'known' | 'full'> {
    const { mount, deliveryId, lane, orderKey, position, payload } = delivery;
    const parameters = [mount, deliveryId, lane, orderKey, position, payload, mount, most];
    if ((await this.database.change(put, parameters)).length > 0) return 'stored';
    const known = await this.database.read(readKnown, [mount, deliveryId]);
    return known.length > 0 ? 'known' : 'full';
  }

  /** Takes what is due. No other process gets it before the lease ends. */
  async claim(
    mount: string,
    lane: SlackLane,
    leaseId: string,
    leaseMs: number,
    limit: number,
  ): Promise<StoredDelivery[]> {
    const rows = await this.database.change<SlackDeliveriesTable & { age: number }>(claim, [
      leaseId,
      leaseMs,
      mount,
      lane,
      limit,
    ]);
    return rows.map((row) => fromRow(row, leaseId));
  }

  /** In how many milliseconds something is due; undefined when nothing is. */
  async dueInMs(mount: string): Promise<number | undefined> {
    const [row] = await this.database.read<{ due_in: number | null }>(readNextDue, [mount]);
    return row?.due_in ?? undefined;
  }

  /** Of these leases, those that are still held. */
  async renew(leaseIds: readonly string[], leaseMs: number): Promise<ReadonlySet<string>> {
    const rows = await this.database.change<{ lease_id: string }>(renew, [leaseMs, leaseIds]);
    return new Set(rows.map((row) => row.lease_id));
  }

  /** The following answer false when another process has the delivery. */
  save(of: StoredDelivery, progress: string): Promise<boolean> {
    return this.#held(save, [progress], of);
  }

  /** Names the run of a delivery before it begins, and where it is answered. */
  async assign(of: StoredDelivery, runId: string, threadKey: string, place: string): Promise<boolean> {
    await this.database.change(putRun, [runId, of.mount, threadKey, place]);
    return this.#held(assign, [runId], of);
  }

  finish(of: StoredDelivery, error: string | null): Promise<boolean> {
    return this.#held(finish, [error], of);
  }

  retry(of: StoredDelivery, inMs: number, error: string): Promise<boolean> {
    return this.#held(retry, [inMs, error], of);
  }

  /** Like `retry`, but the attempt does not count. */
  defer(of: StoredDelivery, inMs: number, error: string): Promise<boolean> {
    return this.#held(defer, [inMs, error], of);
  }

  /** What is not processed yet of a thread, before a place in it. */
  async openBefore(
    { mount, deliveryId }: NewDelivery,
    orderKey: string,
    position: string,
    limit: number,
  ): Promise<OpenDelivery[]> {
    const parameters = [mount, orderKey, deliveryId, position, limit];
    const rows = await this.database.read<SlackDeliveriesTable>(readOpen, parameters);
    return rows.map((row) => ({ mount: row.mount, deliveryId: row.delivery_id, runId: row.run_id }));
  }

  /** Gives up a delivery that no process holds and that has no run; false when that is not so. */
  async drop({ mount, deliveryId }: OpenDelivery, error: string): Promise<boolean> {
    return (await this.database.change(drop, [error, mount, deliveryId])).length > 0;
  }

  /** Gives an attempt back that was not completed, for another process. */
  async release({ mount, deliveryId, leaseId }: StoredDelivery): Promise<void> {
    await this.database.change(release, [mount, deliveryId, leaseId]);
  }

  async removeOld(keptMs: number, limit: number): Promise<number> {
    return (await this.database.change(removeOld, [keptMs, limit])).length;
  }

  async run(mount: string, runId: string): Promise<StoredSlackRun | undefined> {
    const [row] = await this.database.read<SlackRunsTable>(readRun, [runId, mount]);
    return row && runFromRow(row);
  }

  /** The newest first. */
  async runsOfThread(mount: string, threadKey: string, limit: number): Promise<StoredSlackRun[]> {
    const rows = await this.database.read<SlackRunsTable>(readRunsOfThread, [mount, threadKey, limit]);
    return rows.map(runFromRow);
  }

  async writeNotes(mount: string, runId: string, notes: string): Promise<void> {
    await this.database.change(writeNotes, [notes, runId, mount]);
  }

  /** Removes what is known of runs that are gone for so long, and of those that nothing was written to for longer. */
  async removeOldRuns(goneMs: number, unusedMs: number, limit: number): Promise<number> {
    return (await this.database.change(removeOldRuns, [goneMs, unusedMs, limit])).length;
  }

  async #held(
    change: Statement,
    values: readonly (string | number | null)[],
    { mount, deliveryId, leaseId }: StoredDelivery,
  ): Promise<boolean> {
    return (await this.database.change(change, [...values, mount, deliveryId, leaseId])).length > 0;
  }
}

function fromRow(row: SlackDeliveriesTable & { age: number }, leaseId: string): StoredDelivery {
  const { mount, lane, position, payload, progress, attempts } = row;
  return {
    mount,
    deliveryId: row.delivery_id,
    lane,
    orderKey: row.order_key,
    position,
    payload,
    runId: row.run_id,
    progress,
    attempts,
    ageMs: row.age,
    leaseId,
  };
}

function runFromRow({ run_id: runId, mount, place, notes }: SlackRunsTable): StoredSlackRun {
  return { runId, mount, place, notes };
}
