import type { SessionWrite, StateChange, SummaryWrite } from '../../core/runs/ports.js';
import type { WriteRow } from '../../platform/storage/database.js';
import { stateValue } from './store.js';

const upsertSession = `
  INSERT INTO sessions (session_id, kind, component_id, user_id, name, created_at, updated_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
  ON CONFLICT (session_id) DO UPDATE
  SET updated_at = max(sessions.updated_at, excluded.updated_at), name = coalesce(sessions.name, excluded.name)
  WHERE sessions.user_id IS excluded.user_id`;

const setState = `
  INSERT INTO session_state (session_id, key, value) VALUES (?, ?, ?)
  ON CONFLICT (session_id, key) DO UPDATE SET value = excluded.value`;

const removeState = 'DELETE FROM session_state WHERE session_id = ? AND key = ?';

const replaceSummary = `
  INSERT INTO session_summaries (session_id, summary, topics, covers_until, updated_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (session_id) DO UPDATE SET summary = excluded.summary, topics = excluded.topics,
    covers_until = excluded.covers_until, updated_at = excluded.updated_at
  WHERE session_summaries.covers_until <= excluded.covers_until`;

/** Creates or touches a session, on SQLite. Changes nothing when the session belongs to someone else. */
export function sqliteSessionRow(write: SessionWrite): WriteRow {
  return {
    sql: upsertSession,
    parameters: [write.sessionId, write.kind, write.componentId, write.userId, write.name, write.now],
    guard: 'changed',
  };
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
