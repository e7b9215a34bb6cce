import type { SessionWrite, StateChange, SummaryWrite } from '../../core/runs/journal/ports.js';
import type { BatchSection } from '../../platform/storage/postgres/batch.js';
import { searchNameOf } from './search-name.js';
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
    ['search_name', 'text'],
    ['metadata', 'text'],
    ['now', 'bigint'],
    ['runs', 'integer'],
  ],
  sql: (given) => `
    INSERT INTO sessions AS stored
      (session_id, kind, component_id, user_id, name, search_name, metadata, created_at, updated_at, last_run_seq)
    SELECT session_id, kind, component_id, user_id, name, search_name, metadata, now, now, runs
    FROM ${given} ORDER BY session_id
    ON CONFLICT (session_id) DO UPDATE SET ${touched('excluded', 'updated_at', 'last_run_seq')}
    WHERE stored.user_id IS NOT DISTINCT FROM excluded.user_id
    RETURNING session_id, last_run_seq`,
};

/** Of sessions that were there when their runs began: those that were removed meanwhile are not made again. */
export const touchKnownSessions: BatchSection = {
  name: 'touched_known_sessions',
  columns: touchSessions.columns,
  sql: (given) => `
    UPDATE sessions AS stored SET ${touched('given', 'now', 'runs')}
    FROM ${given} WHERE stored.session_id = given.session_id AND stored.user_id IS NOT DISTINCT FROM given.user_id
    RETURNING stored.session_id, stored.last_run_seq`,
};

/**
 * A session that was made without a name, a component or metadata gets them with its first run. The runs that come
 * with the batch get the next numbers: concurrent batches wait for the row, and each counts on from the other.
 */
function touched(given: string, now: string, runs: string): string {
  return `updated_at = greatest(stored.updated_at, ${given}.${now}),
      last_run_seq = stored.last_run_seq + ${given}.${runs},
      name = coalesce(stored.name, ${given}.name),
      search_name = CASE WHEN stored.name IS NULL THEN coalesce(${given}.search_name, stored.search_name)
        ELSE stored.search_name END,
      metadata = coalesce(stored.metadata, ${given}.metadata),
      kind = CASE WHEN stored.component_id = '' THEN ${given}.kind ELSE stored.kind END,
      component_id = CASE WHEN stored.component_id = '' THEN ${given}.component_id ELSE stored.component_id END`;
}

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

/** What is written of sessions: those that may have to be made, and those that are known to be there. */
export interface SessionValues {
  readonly made: unknown[][];
  readonly known: unknown[][];
}

/** One row per session, as if the writes had come one after the other. All are of the same user. */
export function sessionValues(writes: readonly SessionWrite[]): SessionValues {
  const sessions = new Map<string, SessionWrite & { readonly runs: number }>();
  for (const write of writes) {
    const earlier = sessions.get(write.sessionId);
    sessions.set(
      write.sessionId,
      earlier === undefined
        ? { ...write, runs: 1 }
        : {
            ...earlier,
            existing: earlier.existing === true && write.existing === true,
            name: earlier.name ?? write.name,
            metadata: earlier.metadata ?? write.metadata ?? null,
            now: Math.max(earlier.now, write.now),
            runs: earlier.runs + 1,
          },
    );
  }
  const merged = [...sessions.values()];
  return {
    made: merged.filter(({ existing }) => !existing).map(sessionRow),
    known: merged.filter(({ existing }) => existing).map(sessionRow),
  };
}

function sessionRow(write: SessionWrite & { readonly runs: number }): unknown[] {
  return [
    write.sessionId,
    write.kind,
    write.componentId,
    write.userId,
    write.name,
    searchNameOf(write.name),
    write.metadata ? JSON.stringify(write.metadata) : null,
    write.now,
    write.runs,
  ];
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
