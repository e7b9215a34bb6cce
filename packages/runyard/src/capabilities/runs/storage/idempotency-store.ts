import type { IdempotencyKey, RunWrite, StartedUnderKey } from '../../../core/runs/journal/ports.js';
import { type Database, statement, type WriteRow } from '../../../platform/storage/database.js';
import type { BatchSection } from '../../../platform/storage/postgres/batch.js';
import { userKey } from './rows-store.js';

type KeyWrite = NonNullable<RunWrite['idempotency']>;

const keyIs = 'user_key = ? AND kind = ? AND component_id = ? AND key = ?';

const readKey = statement(
  'idempotent_run',
  `SELECT run_id, payload FROM idempotency_keys WHERE ${keyIs} AND created_at > ?`,
);

const keyIsFree = `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE ${keyIs} AND created_at > ?)`;

const takeKey = `
  INSERT INTO idempotency_keys (user_key, kind, component_id, key, run_id, payload, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (user_key, kind, component_id, key)
  DO UPDATE SET run_id = excluded.run_id, payload = excluded.payload, created_at = excluded.created_at`;

/** Takes the keys that are free, or were used too long ago to matter. Of two at once, the second waits and finds it taken. */
export const takeKeys: BatchSection = {
  name: 'taken_keys',
  columns: [
    ['run_id', 'text'],
    ['user_key', 'text'],
    ['kind', 'text'],
    ['component_id', 'text'],
    ['key', 'text'],
    ['payload', 'text'],
    ['created_at', 'bigint'],
    ['since', 'bigint'],
  ],
  sql: (from) => `
    INSERT INTO idempotency_keys AS stored (run_id, user_key, kind, component_id, key, payload, created_at)
    SELECT given.run_id, given.user_key, given.kind, given.component_id, given.key, given.payload, given.created_at
    FROM ${from} ORDER BY given.user_key, given.kind, given.component_id, given.key
    ON CONFLICT (user_key, kind, component_id, key)
    DO UPDATE SET run_id = excluded.run_id, payload = excluded.payload, created_at = excluded.created_at
    WHERE stored.created_at <= (SELECT given.since FROM ${from} WHERE given.run_id = excluded.run_id)
    RETURNING run_id`,
};

export async function runUnderKey(
  database: Database,
  key: IdempotencyKey,
  since: number,
): Promise<StartedUnderKey | undefined> {
  const [row] = await database.read<{ run_id: string; payload: string }>(readKey, [...keyOf(key), since]);
  return row && { runId: row.run_id, payload: row.payload };
}

export function sqliteKeyGuard(write: KeyWrite): WriteRow {
  return { sql: keyIsFree, parameters: [...keyOf(write), write.since], guard: 'found' };
}

export function sqliteKeyRow(write: KeyWrite): WriteRow {
  return { sql: takeKey, parameters: [...keyOf(write), write.runId, write.payload, write.now] };
}

export function keyValues(write: KeyWrite): unknown[] {
  return [write.runId, ...keyOf(write), write.payload, write.now, write.since];
}

export function keyOf({ userId, kind, componentId, key }: IdempotencyKey): string[] {
  return [userKey(userId), kind, componentId, key];
}
