import type { EventBlock, RefusedWrite, RunUpdate, RunWrite } from '../../core/runs/ports.js';
import type { SqliteDatabase, WriteRow } from '../../platform/storage/database.js';
import { sqliteSessionRow, sqliteStateRows, sqliteSummaryRow } from '../sessions/sqlite-write-store.js';
import { jsonOrNull, runColumns, runValues, stepColumns, stepValues } from './rows-store.js';

const placeholders = (count: number) => Array(count).fill('?').join(', ');

const runIsNew = 'SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM runs WHERE run_id = ?)';

const insertRun = `INSERT INTO runs (${runColumns.join(', ')}) VALUES (${placeholders(runColumns.length)})`;

const updateRun = `
  UPDATE runs SET status = ?, result = ?, lease_owner = ?, lease_expires_at = ?, next_event_index = ?, updated_at = ?
  WHERE run_id = ?`;

const runIsHeld = 'SELECT 1 FROM runs WHERE run_id = ? AND attempt = ?';

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

/**
 * On SQLite a write is a unit of rows. Its guards come first, and a guard that refuses has changed nothing, so
 * that a refused write leaves no trace and needs no savepoint.
 */
export async function commitToSqlite(
  database: SqliteDatabase,
  writes: readonly RunWrite[],
): Promise<RefusedWrite[]> {
  const units = writes.map(unitOf);
  const refusals = await database.write(units.map((unit) => unit.rows));
  const refused: RefusedWrite[] = [];
  refusals.forEach((row, index) => {
    if (row >= 0) refused.push({ runId: writes[index]!.runId, reason: units[index]!.reasons[row]! });
  });
  return refused;
}

function unitOf(write: RunWrite): { rows: WriteRow[]; reasons: Refusal[] } {
  const { runId, attempt, session, insert, update, events, state, summary } = write;
  const rows: WriteRow[] = [];
  const reasons: Refusal[] = [];
  const guard = (row: WriteRow, reason: Refusal) => {
    reasons[rows.length] = reason;
    rows.push(row);
  };

  if (insert) guard({ sql: runIsNew, parameters: [runId], guard: 'found' }, 'run_exists');
  else guard({ sql: runIsHeld, parameters: [runId, attempt], guard: 'found' }, 'fenced');
  if (session) guard(sqliteSessionRow(session), 'foreign_session');

  if (insert) rows.push({ sql: insertRun, parameters: runValues(insert) });
  if (update) rows.push(updateRow(runId, update));
  for (const step of write.steps) rows.push({ sql: upsertStep, parameters: stepValues(step) });
  if (events) rows.push(eventsRow(runId, events));
  if (state) rows.push(...sqliteStateRows(state));
  if (summary) rows.push(sqliteSummaryRow(summary));
  return { rows, reasons };
}

function updateRow(runId: string, update: RunUpdate): WriteRow {
  return {
    sql: updateRun,
    parameters: [
      update.status,
      jsonOrNull(update.result),
      update.leaseOwner,
      update.leaseExpiresAt,
      update.nextEventIndex,
      update.updatedAt,
      runId,
    ],
  };
}

function eventsRow(runId: string, { firstIndex, count, payload }: EventBlock): WriteRow {
  return { sql: upsertEvents, parameters: [runId, firstIndex, count, payload] };
}
