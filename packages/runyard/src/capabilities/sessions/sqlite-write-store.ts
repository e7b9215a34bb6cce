import type { SessionWrite, StateChange, SummaryWrite } from '../../core/runs/journal/ports.js';
import type { WriteRow } from '../../platform/storage/database.js';
import { searchNameOf } from './search-name.js';
import { stateValue } from './store.js';

// Only what changes with every run: SQLite writes the indexes of all columns that it is told to set.
const upsertSession = `
  INSERT INTO sessions
    (session_id, kind, component_id, user_id, name, search_name, created_at, updated_at, last_run_seq)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1)
  ON CONFLICT (session_id) DO UPDATE SET updated_at = max(sessions.updated_at, excluded.updated_at),
    last_run_seq = sessions.last_run_seq + 1
  WHERE sessions.user_id IS excluded.user_id`;

const touchSession = `
  UPDATE sessions SET updated_at = max(updated_at, ?3), last_run_seq = last_run_seq + 1
  WHERE session_id = ?1 AND user_id IS ?2`;

const nameSession = `
  UPDATE sessions SET name = ?2, search_name = ?3 WHERE session_id = ?1 AND name IS NULL AND ?2 IS NOT NULL`;

const adoptSession = `
  UPDATE sessions SET kind = ?2, component_id = ?3 WHERE session_id = ?1 AND component_id = ''`;

const describeSession = 'UPDATE sessions SET metadata = ?2 WHERE session_id = ?1 AND metadata IS NULL';

const setState = `
  INSERT INTO session_state (session_id, key, value) VALUES (?, ?, ?)
  ON CONFLICT (session_id, key) DO UPDATE SET value = excluded.value`;

const removeState = 'DELETE FROM session_state WHERE session_id = ? AND key = ?';

const replaceSummary = `
  INSERT INTO session_summaries (session_id, summary, topics, covers_until, updated_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (session_id) DO UPDATE SET summary = excluded.summary, topics = excluded.topics,
    covers_until = excluded.covers_until, updated_at = excluded.updated_at
  WHERE session_summaries.covers_until <= excluded.covers_until`;

/**
 * Creates or touches a session, on SQLite, and numbers the run that comes with it. Changes nothing when the session
 * belongs to someone else.
 */
export function sqliteSessionRow(write: SessionWrite): WriteRow {
  if (write.existing)
    return {
      sql: touchSession,
      parameters: [write.sessionId, write.userId, write.now],
      guard: 'changed',
    };
  return {
    sql: upsertSession,
    parameters: [
      write.sessionId,
      write.kind,
      write.componentId,
      write.userId,
      write.name,
      searchNameOf(write.name),
      write.now,
    ],
    guard: 'changed',
  };
}

/** Gives a session that was made without them its name, its component and its metadata. */
export function sqliteSessionFilling(write: SessionWrite): WriteRow[] {
  const { sessionId, kind, componentId, name, metadata } = write;
  const rows: WriteRow[] = [
    { sql: nameSession, parameters: [sessionId, name, searchNameOf(name)] },
    { sql: adoptSession, parameters: [sessionId, kind, componentId] },
  ];
  if (metadata) rows.push({ sql: describeSession, parameters: [sessionId, JSON.stringify(metadata)] });
  return rows;
}

export function sqliteStateRows({ sessionId, set, remove }: StateChange): WriteRow[] {
  const rows: WriteRow[] = [];
  for (const key of remove) rows.push({ sql: removeState, parameters: [sessionId, key] });
  for (const [key, value] of Object.entries(set)) {
    rows.push({ sql: setState, parameters: [sessionId, key, stateValue(value)] });
  }
  return rows;
}

export function sqliteSummaryRow(write: SummaryWrite): WriteRow {
  const { sessionId, summary, topics, coversUntil, updatedAt } = write;
  return {
    sql: replaceSummary,
    parameters: [sessionId, summary, JSON.stringify(topics), coversUntil, updatedAt],
  };
}
