import type { SessionWrite, StateChange, SummaryWrite } from '../../core/runs/ports.js';
import type { BatchSection } from '../../platform/storage/postgres/batch.js';
import { stateValue } from './store.js';

/*
 * Parts of the one statement that writes a batch on PostgreSQL. Sessions are the only rows that several replicas
 * write at the same time: they are locked in the order of their ids before anything else is, so that two batches
 * never wait for each other.
 */

export const lockSessions: BatchSection = {
  name: 'locked_sessions',
  columns: [['session_id', 'text']],
  sql: (given) => `
    SELECT sessions.session_id FROM ${given} JOIN sessions ON sessions.session_id = given.session_id
    ORDER BY sessions.session_id FOR NO KEY UPDATE OF sessions`,
};

export const touchSessions: BatchSection = {
  name: 'touched_sessions',
  columns: [
    ['session_id', 'text'],
    ['kind', 'text'],
    ['component_id', 'text'],
    ['user_id', 'text'],
    ['name', 'text'],
    ['now', 'bigint'],
  ],
  sql: (given) => `
    INSERT INTO sessions AS stored (session_id, kind, component_id, user_id, name, created_at, updated_at)
    SELECT session_id, kind, component_id, user_id, name, now, now FROM ${given} ORDER BY session_id
    ON CONFLICT (session_id) DO UPDATE
    SET updated_at = greatest(stored.updated_at, excluded.updated_at), name = coalesce(stored.name, excluded.name)
    WHERE stored.user_id IS NOT DISTINCT FROM excluded.user_id
    RETURNING session_id`,
};

export const setState: BatchSection = {
  name: 'set_state',
  columns: [
    ['session_id', 'text'],
    ['key', 'text'],
    ['value', 'text'],
  ],
  sql: (given) => `
    INSERT INTO session_state (session_id, key, value)
    SELECT given.session_id, given.key, given.value FROM ${given} ORDER BY given.session_id, given.key
    ON CONFLICT (session_id, key) DO UPDATE SET value = excluded.value`,
};

export const removeState: BatchSection = {
  name: 'removed_state',
  columns: [
    ['session_id', 'text'],
    ['key', 'text'],
  ],
  sql: (given) => `
    DELETE FROM session_state USING ${given}
    WHERE session_state.session_id = given.session_id AND session_state.key = given.key`,
};

export const replaceSummaries: BatchSection = {
  name: 'replaced_summaries',
  columns: [
    ['session_id', 'text'],
    ['summary', 'text'],
    ['topics', 'text'],
    ['covers_until', 'bigint'],
    ['updated_at', 'bigint'],
  ],
  sql: (given) => `
    INSERT INTO session_summaries AS stored (session_id, summary, topics, covers_until, updated_at)
    SELECT given.session_id, given.summary, given.topics, given.covers_until, given.updated_at
    FROM ${given} ORDER BY given.session_id
    ON CONFLICT (session_id) DO UPDATE SET summary = excluded.summary, topics = excluded.topics,
      covers_until = excluded.covers_until, updated_at = excluded.updated_at
    WHERE stored.covers_until <= excluded.covers_until`,
};

/** One row per session, as if the writes had come one after the other. All are of the same user. */
export function sessionValues(writes: readonly SessionWrite[]): unknown[][] {
  const sessions = new Map<string, SessionWrite>();
  for (const write of writes) {
    const earlier = sessions.get(write.sessionId);
    sessions.set(
      write.sessionId,
      earlier === undefined
        ? write
        : { ...earlier, name: earlier.name ?? write.name, now: Math.max(earlier.now, write.now) },
    );
  }
  return [...sessions.values()].map((write) => [
    write.sessionId,
    write.kind,
    write.componentId,
    write.userId,
    write.name,
    write.now,
  ]);
}

/** What all changes together set and remove: a statement may touch each row once. */
export function stateValues(changes: readonly StateChange[]): { set: unknown[][]; removed: unknown[][] } {
  const sessions = new Map<string, Map<string, string | undefined>>();
  for (const { sessionId, set, remove } of changes) {
    const keys = sessions.get(sessionId) ?? new Map<string, string | undefined>();
    sessions.set(sessionId, keys);
    for (const key of remove) keys.set(key, undefined);
    for (const [key, value] of Object.entries(set)) keys.set(key, stateValue(value));
  }
  const set: unknown[][] = [];
  const removed: unknown[][] = [];
  for (const [sessionId, keys] of sessions) {
    for (const [key, value] of keys) {
      if (value === undefined) removed.push([sessionId, key]);
      else set.push([sessionId, key, value]);
    }
  }
  return { set, removed };
}

/** One row per session: the one that would be left of them all. */
export function summaryValues(writes: readonly SummaryWrite[]): unknown[][] {
  const sessions = new Map<string, SummaryWrite>();
  for (const write of writes) {
    const earlier = sessions.get(write.sessionId);
    if (earlier === undefined || earlier.coversUntil <= write.coversUntil)
      sessions.set(write.sessionId, write);
  }
  return [...sessions.values()].map(({ sessionId, summary, topics, coversUntil, updatedAt }) => [
    sessionId,
    summary,
    JSON.stringify(topics),
    coversUntil,
    updatedAt,
  ]);
}
