import type { RunWrite, SessionWrite, SummaryWrite } from '../../core/runs/journal/ports.js';
import type { SqlValue } from '../../platform/storage/database.js';
import {
  type Assignments,
  type Column,
  noRows,
  type PlanBuilder,
  type RowDelete,
  type RowInsert,
  type RowLock,
  type Rows,
  type RowUpdate,
} from '../../platform/storage/write-plan.js';
import { searchNameOf } from './search-name.js';
import { stateValue } from './store.js';

/*
 * How sessions change together with their runs. They are the only rows that several replicas write at the same time:
 * they are locked in the order of their ids before anything else is, so that two batches never wait for each other.
 */

const lockSessions: RowLock = {
  does: 'lock',
  name: 'locked_sessions',
  table: 'sessions',
  columns: ['session_id'],
  where: 'stored.session_id = given.session_id',
};

const columns: readonly Column[] = [
  'session_id',
  'kind',
  'component_id',
  'user_id',
  'name',
  'search_name',
  'metadata',
  'updated_at bigint',
  'last_run_seq integer',
];

const isOfUser = 'stored.user_id IS NOT DISTINCT FROM given.user_id';

/** The runs that come with a batch get the next numbers: concurrent batches wait for the row, and each counts on. */
const counted: Assignments = {
  updated_at: ({ greatest }) => `${greatest}(stored.updated_at, given.updated_at)`,
  last_run_seq: 'stored.last_run_seq + given.last_run_seq',
};

/** A session that was made without a name, a component or metadata gets them with its first run. */
const filled: RowUpdate['seldom'] = {
  set: {
    name: 'coalesce(stored.name, given.name)',
    search_name: `CASE WHEN stored.name IS NULL THEN coalesce(given.search_name, stored.search_name)
      ELSE stored.search_name END`,
    metadata: 'coalesce(stored.metadata, given.metadata)',
    kind: `CASE WHEN stored.component_id = '' THEN given.kind ELSE stored.kind END`,
    component_id: `CASE WHEN stored.component_id = '' THEN given.component_id ELSE stored.component_id END`,
  },
  where: `stored.session_id = given.session_id AND (stored.component_id = ''
    OR (stored.name IS NULL AND given.name IS NOT NULL)
    OR (stored.metadata IS NULL AND given.metadata IS NOT NULL))`,
};

/** Makes a session, or numbers the runs that come with it. Changes nothing when it belongs to another user. */
export const touchSessions: RowInsert = {
  does: 'insert',
  name: 'touched_sessions',
  table: 'sessions',
  columns,
  computed: { created_at: 'given.updated_at' },
  key: ['session_id'],
  conflict: counted,
  seldom: filled,
  where: isOfUser,
  returning: 'last_run_seq',
};

/** Of sessions that were there when their runs began: those removed since then are not made again. */
export const touchKnownSessions: RowUpdate = {
  does: 'update',
  name: 'touched_known_sessions',
  table: 'sessions',
  columns,
  set: counted,
  seldom: filled,
  where: `stored.session_id = given.session_id AND ${isOfUser}`,
  returning: 'last_run_seq',
};

const setState: RowInsert = {
  does: 'insert',
  name: 'set_state',
  table: 'session_state',
  columns: ['session_id', 'key', 'value'],
  key: ['session_id', 'key'],
  conflict: 'replace',
};

const removeState: RowDelete = {
  does: 'delete',
  name: 'removed_state',
  table: 'session_state',
  columns: ['session_id', 'key'],
  where: 'stored.session_id = given.session_id AND stored.key = given.key',
};

const replaceSummaries: RowInsert = {
  does: 'insert',
  name: 'replaced_summaries',
  table: 'session_summaries',
  columns: ['session_id', 'summary', 'topics', 'covers_until bigint', 'updated_at bigint'],
  key: ['session_id'],
  conflict: 'replace',
  where: 'stored.covers_until <= given.covers_until',
};

export function addSessionGuards(
  plan: Pick<PlanBuilder<'foreign_session'>, 'guard'>,
  writes: readonly RunWrite[],
): void {
  const made: SqlValue[][] = [];
  const known: SqlValue[][] = [];
  for (const { write, runs } of mergedSessions(writes))
    (write.existing ? known : made).push(rowOf(write, runs));
  plan.guard(lockSessions, sessionsToLock(writes, made.length, known.length));
  plan.guard(touchSessions, made, 'foreign_session');
  plan.guard(touchKnownSessions, known, 'foreign_session');
}

export function addSessionEffects(plan: PlanBuilder, writes: readonly RunWrite[]): void {
  if (writes.some(changesState)) {
    const { set, removed } = stateRows(writes);
    plan.effect(setState, set);
    plan.effect(removeState, removed);
  }
  if (writes.some(summarises)) plan.effect(replaceSummaries, summaryRows(writes));
}

function changesState({ state }: RunWrite): boolean {
  return state !== undefined;
}

function summarises({ summary }: RunWrite): boolean {
  return summary !== undefined;
}

interface MergedSession {
  write: SessionWrite;
  /** How many runs come with it. One that names its session later has its place in it already. */
  runs: number;
}

/** One per session, as if the writes had come one after the other. All are of the same user. */
function mergedSessions(writes: readonly RunWrite[]): Iterable<MergedSession> {
  const only = writes.length === 1 ? writes[0] : undefined;
  if (only !== undefined) return only.session ? [{ write: only.session, runs: runsOf(only) }] : [];
  const sessions = new Map<string, MergedSession>();
  for (const given of writes) {
    const { session: write } = given;
    if (write === undefined) continue;
    const merged = sessions.get(write.sessionId);
    const added = runsOf(given);
    if (merged === undefined) {
      sessions.set(write.sessionId, { write, runs: added });
      continue;
    }
    const { write: earlier } = merged;
    merged.runs += added;
    merged.write = {
      ...earlier,
      existing: earlier.existing === true && write.existing === true,
      name: earlier.name ?? write.name,
      metadata: earlier.metadata ?? write.metadata ?? null,
      now: Math.max(earlier.now, write.now),
    };
  }
  return sessions.values();
}

function runsOf({ insert }: RunWrite): number {
  return insert === undefined ? 0 : 1;
}

/**
 * A session that gets or changes rows of its own is locked before its runs, as its deletion does it; `touchSessions`
 * locks those that it may make.
 */
function sessionsToLock(writes: readonly RunWrite[], made: number, known: number): Rows {
  if (known === 0 && writes.every(changesOnlyItsSession)) return noRows;
  const changed = new Set<string>();
  for (const { session, state, summary, usage } of writes) {
    if (session) changed.add(session.sessionId);
    if (state) changed.add(state.sessionId);
    if (summary) changed.add(summary.sessionId);
    if (usage) changed.add(usage.run.sessionId);
  }
  // One order over all of them.
  return changed.size === made ? noRows : Array.from(changed, (sessionId) => [sessionId]);
}

function changesOnlyItsSession({ session, state, summary, usage }: RunWrite): boolean {
  if (session === undefined) return false;
  const { sessionId } = session;
  return (
    (state === undefined || state.sessionId === sessionId) &&
    (summary === undefined || summary.sessionId === sessionId) &&
    (usage === undefined || usage.run.sessionId === sessionId)
  );
}

function rowOf(write: SessionWrite, runs: number): SqlValue[] {
  return [
    write.sessionId,
    write.kind,
    write.componentId,
    write.userId,
    write.name,
    searchNameOf(write.name),
    write.metadata ? JSON.stringify(write.metadata) : null,
    write.now,
    runs,
  ];
}

/** What all changes together set and remove: a statement may touch each row once. */
function stateRows(writes: readonly RunWrite[]): { set: Rows; removed: Rows } {
  const sessions = new Map<string, Map<string, string | undefined>>();
  for (const { state } of writes) {
    if (state === undefined) continue;
    const keys = sessions.get(state.sessionId) ?? new Map<string, string | undefined>();
    sessions.set(state.sessionId, keys);
    for (const key of state.remove) keys.set(key, undefined);
    for (const [key, value] of Object.entries(state.set)) keys.set(key, stateValue(value));
  }
  const set: string[][] = [];
  const removed: string[][] = [];
  for (const [sessionId, keys] of sessions) {
    for (const [key, value] of keys) {
      if (value === undefined) removed.push([sessionId, key]);
      else set.push([sessionId, key, value]);
    }
  }
  return { set, removed };
}

/** One row per session: the one that all of them result in. */
function summaryRows(writes: readonly RunWrite[]): Rows {
  const sessions = new Map<string, SummaryWrite>();
  for (const { summary } of writes) {
    if (summary === undefined) continue;
    const earlier = sessions.get(summary.sessionId);
    if (earlier === undefined || earlier.coversUntil <= summary.coversUntil)
      sessions.set(summary.sessionId, summary);
  }
  return Array.from(sessions.values(), ({ sessionId, summary, topics, coversUntil, updatedAt }) => [
    sessionId,
    summary,
    JSON.stringify(topics),
    coversUntil,
    updatedAt,
  ]);
}
