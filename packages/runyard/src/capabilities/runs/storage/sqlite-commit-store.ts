import type { EventBlock, RefusedWrite, RunUpdate, RunWrite } from '../../../core/runs/journal/ports.js';
import { databaseNow, type SqliteDatabase, type WriteRow } from '../../../platform/storage/database.js';
import { sqliteApprovalRows } from '../../approvals/write-store.js';
import { sqliteUsageRows } from '../../metrics/usage-write-store.js';
import {
  sqliteSessionFilling,
  sqliteSessionRow,
  sqliteStateRows,
  sqliteSummaryRow,
} from '../../sessions/sqlite-write-store.js';
import { sqliteTraceRows } from '../../traces/write-store.js';
import { sqliteKeyGuard, sqliteKeyRow } from './idempotency-store.js';
import {
  changedAt,
  runColumns,
  runValues,
  stepColumns,
  stepValues,
  updateColumns,
  updateValues,
} from './rows-store.js';
import { sqliteTextRows } from './text-store.js';

const placeholders = (count: number) => Array(count).fill('?').join(', ');

const runIsNew = 'SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM runs WHERE run_id = ?)';

// Its session was touched before it, and has the number.
const insertRun = `
  INSERT INTO runs (${runColumns.join(', ')}, session_seq)
  VALUES (${placeholders(runColumns.length)}, (SELECT last_run_seq FROM sessions WHERE session_id = ?))`;

const updateRun = `
  UPDATE runs SET ${updateColumns.map((column) => `${column} = ?`).join(', ')} WHERE run_id = ?`;

const runIsHeld = 'SELECT 1 FROM runs WHERE run_id = ? AND attempt = ?';

const runRests = `
  SELECT 1 FROM runs
  WHERE run_id = ? AND attempt = ? AND status = ? AND coalesce(lease_expires_at, 0) <= ${databaseNow.sqlite}`;

const replaceRun = `UPDATE runs SET status = 'regenerated', updated_at = ? WHERE run_id = ? AND status = 'completed'`;

const removeStep = 'DELETE FROM steps WHERE run_id = ? AND seq = ?';

const upsertStep = `
  INSERT INTO steps (${stepColumns.join(', ')}) VALUES (${placeholders(stepColumns.length)})
  ON CONFLICT (run_id, seq) DO UPDATE SET
  ${stepColumns
    .slice(2)
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}`;

const upsertEvents = `
  INSERT INTO event_blocks (run_id, first_index, event_count, payload) VALUES (?, ?, ?, ?)
  ON CONFLICT (run_id, first_index) DO UPDATE SET event_count = excluded.event_count, payload = excluded.payload`;

type Refusal = RefusedWrite['reason'];

export interface CommitOptions {
  /** Whether the traces of runs are recorded. */
  readonly traces: boolean;
}

/**
 * On SQLite a write is a unit of rows. Its guards come first, and a guard that refuses has changed nothing, so
 * that a refused write leaves no trace and needs no savepoint.
 */
export async function commitToSqlite(
  database: SqliteDatabase,
  writes: readonly RunWrite[],
  { traces }: CommitOptions,
): Promise<RefusedWrite[]> {
  const now = Date.now();
  const units = writes.map((write) => unitOf(withLease(write, now), traces));
  const refusals = await database.write(units.map((unit) => unit.rows));
  const refused: RefusedWrite[] = [];
  refusals.forEach((row, index) => {
    if (row >= 0) refused.push({ runId: writes[index]!.runId, reason: units[index]!.reasons[row]! });
  });
  return refused;
}

/** The process is on the same host as the file: its clock is the database's. */
function withLease(write: RunWrite, now: number): RunWrite {
  const { insert, update, leaseMs } = write;
  if (leaseMs === undefined && !isNobodys(update ?? insert)) return write;
  const lease = leaseMs === undefined ? { updatedAt: now } : { leaseExpiresAt: now + leaseMs };
  return {
    ...write,
    ...(insert !== undefined && { insert: { ...insert, ...lease } }),
    ...(update !== undefined && { update: { ...update, ...lease } }),
  };
}

/** A run that waits for any process has no lease: when it was stored says since when it waits. */
function isNobodys(run: RunUpdate | undefined): boolean {
  return run?.leaseOwner === null && (run.status === 'pending' || run.status === 'running');
}

function unitOf(write: RunWrite, traces: boolean): { rows: WriteRow[]; reasons: Refusal[] } {
  const { runId, session, insert, idempotency } = write;
  const rows: WriteRow[] = [];
  const reasons: Refusal[] = [];
  const guard = (row: WriteRow, reason: Refusal) => {
    reasons[rows.length] = reason;
    rows.push(row);
  };

  if (insert) guard({ sql: runIsNew, parameters: [runId], guard: 'found' }, 'run_exists');
  else guard(heldGuard(write), 'fenced');
  if (idempotency) guard(sqliteKeyGuard(idempotency), 'key_taken');
  if (session) guard(sqliteSessionRow(session), 'foreign_session');
  addEffects(rows, write);
  if (traces) rows.push(...sqliteTraceRows(write));
  return { rows, reasons };
}

function heldGuard({ runId, attempt, claims }: RunWrite): WriteRow {
  return claims === undefined
    ? { sql: runIsHeld, parameters: [runId, attempt], guard: 'found' }
    : { sql: runRests, parameters: [runId, claims.attempt, claims.status], guard: 'found' };
}

function addEffects(rows: WriteRow[], write: RunWrite): void {
  const { runId, session, insert, idempotency, update, events, state, summary } = write;
  if (session) rows.push(...sqliteSessionFilling(session));
  if (insert) {
    const parameters = [...runValues(insert, write.texts?.idOf), insert.sessionId];
    rows.push({ sql: insertRun, parameters });
  }
  if (idempotency) rows.push(sqliteKeyRow(idempotency));
  if (update) rows.push({ sql: updateRun, parameters: [...updateValues(write, update), runId] });
  if (write.replaces !== undefined) {
    rows.push({ sql: replaceRun, parameters: [changedAt(write), write.replaces] });
  }
  if (write.texts) rows.push(...sqliteTextRows(write));
  for (const seq of write.removedSteps ?? []) rows.push({ sql: removeStep, parameters: [runId, seq] });
  for (const step of write.steps)
    rows.push({ sql: upsertStep, parameters: stepValues(step, write.texts?.idOf) });
  if (events) rows.push(eventsRow(runId, events));
  if (write.approvals) rows.push(...sqliteApprovalRows(runId, write.approvals));
  if (state) rows.push(...sqliteStateRows(state));
  if (summary) rows.push(sqliteSummaryRow(summary));
  rows.push(...sqliteUsageRows(write));
}

function eventsRow(runId: string, { firstIndex, count, payload }: EventBlock): WriteRow {
  return { sql: upsertEvents, parameters: [runId, firstIndex, count, payload] };
}
