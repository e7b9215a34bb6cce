import type { IdempotencyKey, RunWrite, StartedUnderKey } from '../../../core/runs/journal/ports.js';
import { type Database, statement } from '../../../platform/storage/database.js';
import { noRows, type RowInsert, type Rows } from '../../../platform/storage/write-plan.js';
import { userKey } from './rows-store.js';

const readKey = statement(
  'idempotent_run',
  `SELECT run_id, payload FROM idempotency_keys
   WHERE user_key = ? AND kind = ? AND component_id = ? AND key = ? AND created_at > ?`,
);

/** Takes the keys that are free, or were used too long ago to matter. Of two at once, the second waits and finds it taken. */
export const takeKeys: RowInsert = {
  does: 'insert',
  name: 'taken_keys',
  table: 'idempotency_keys',
  columns: ['run_id', 'user_key', 'kind', 'component_id', 'key', 'payload', 'created_at bigint'],
  helpers: ['since bigint'],
  key: ['user_key', 'kind', 'component_id', 'key'],
  conflict: 'replace',
  where: 'stored.created_at <= given.since',
};

export async function runUnderKey(
  database: Database,
  key: IdempotencyKey,
  since: number,
): Promise<StartedUnderKey | undefined> {
  const [row] = await database.read<{ run_id: string; payload: string }>(readKey, [...keyOf(key), since]);
  return row && { runId: row.run_id, payload: row.payload };
}

export function keyRows({ idempotency: write }: RunWrite): Rows {
  return write ? [[write.runId, ...keyOf(write), write.payload, write.now, write.since]] : noRows;
}

export function keyOf({ userId, kind, componentId, key }: IdempotencyKey): string[] {
  return [userKey(userId), kind, componentId, key];
}
