import type { RefusedWrite, RunWrite } from '../../../core/runs/journal/ports.js';
import { databaseNow, type PostgresDatabase } from '../../../platform/storage/database.js';
import {
  type BatchRefusal,
  type BatchSection,
  type FilledSection,
  type GuardSection,
  writeBatch,
} from '../../../platform/storage/postgres/batch.js';
import { decodeText } from '../../../platform/storage/text.js';
import { approvalRows, cancelApprovals, recordApprovals } from '../../approvals/write-store.js';
import { removeUsage, usageRows, writeUsage } from '../../metrics/usage-write-store.js';
import {
  lockSessions,
  removeState,
  replaceSummaries,
  sessionValues,
  setState,
  stateValues,
  summaryValues,
  touchKnownSessions,
  touchSessions,
} from '../../sessions/postgres-write-store.js';
import { beginTraces, changeTraces, traceRows } from '../../traces/write-store.js';
import { keyOf, keyValues, takeKeys } from './idempotency-store.js';
import {
  changedAt,
  runColumns,
  runValues,
  stepColumns,
  stepValues,
  updateColumns,
  updateValues,
} from './rows-store.js';
import type { CommitOptions } from './sqlite-commit-store.js';
import { textValues, writeTexts } from './text-store.js';

const bigColumns = new Set([
  'created_at',
  'updated_at',
  'lease_expires_at',
  'wake_at',
  'started_at',
  'ended_at',
]);
const integerColumns = new Set(['attempt', 'next_event_index', 'seq', 'first_index', 'event_count']);

function typed(columns: readonly string[]): [string, string][] {
  return columns.map((name) => [
    name,
    bigColumns.has(name) ? 'bigint' : integerColumns.has(name) ? 'integer' : 'text',
  ]);
}

function given(columns: readonly string[]): string {
  return columns.map((column) => `given.${column}`).join(', ');
}

/**
 * A lease ends by the clock of the database, counted from when the write arrives there. A run that waits for any
 * process has no lease: when it was stored says since when it waits.
 */
function leasedValue(column: string): string {
  if (column === 'updated_at')
    return `CASE WHEN given.lease_owner IS NULL AND given.status IN ('pending', 'running')
      THEN ${databaseNow.postgres} ELSE given.updated_at END`;
  if (column !== 'lease_expires_at') return `given.${column}`;
  return `coalesce(${databaseNow.postgres} + given.lease_ms, given.lease_expires_at)`;
}

/**
 * Each run gets its place in its session from the session's row, which was touched before and is locked. It is read
 * from what the touching returned: the rest of the statement sees the tables as they were before it waited for locks.
 * One whose session is refused has none, and is undone with the batch.
 */
function insertRuns(touched: readonly BatchSection[]): BatchSection {
  const numbers = touched.map(({ name }) => `SELECT session_id, last_run_seq FROM ${name}`);
  return {
    name: 'inserted_runs',
    columns: [...typed(runColumns), ['place', 'integer'], ['lease_ms', 'bigint']],
    sql: (from) => `
    INSERT INTO runs (${runColumns.join(', ')}, session_seq)
    SELECT ${runColumns.map(leasedValue).join(', ')}, coalesce(numbers.last_run_seq, 0) + 1
      - row_number() OVER (PARTITION BY given.session_id ORDER BY given.place DESC)
    FROM ${from} LEFT JOIN (${numbers.join(' UNION ALL ')}) AS numbers ON numbers.session_id = given.session_id
    ORDER BY given.run_id
    ON CONFLICT (run_id) DO NOTHING RETURNING run_id`,
  };
}

/** By which of the sections that touch sessions a batch has. */
const insertAfter = {
  made: insertRuns([touchSessions]),
  known: insertRuns([touchKnownSessions]),
  both: insertRuns([touchSessions, touchKnownSessions]),
};

/** Whoever takes a run over has to wait for this lock, or has taken it over before and is found out. */
const holdRuns: BatchSection = {
  name: 'held_runs',
  columns: typed(['run_id', 'attempt']),
  sql: (from) => `
    SELECT runs.run_id FROM ${from} JOIN runs ON runs.run_id = given.run_id AND runs.attempt = given.attempt
    ORDER BY runs.run_id FOR NO KEY UPDATE OF runs`,
};

/** A row is updated once in a statement: this only makes sure, and `updateRuns` stores the new attempt. */
const claimRuns: BatchSection = {
  name: 'claimed_runs',
  columns: typed(['run_id', 'attempt', 'status']),
  sql: (from) => `
    SELECT runs.run_id FROM ${from} JOIN runs ON runs.run_id = given.run_id AND runs.attempt = given.attempt
      AND runs.status = given.status AND coalesce(runs.lease_expires_at, 0) <= ${databaseNow.postgres}
    ORDER BY runs.run_id FOR NO KEY UPDATE OF runs`,
};

const updateRuns: BatchSection = {
  name: 'updated_runs',
  columns: [...typed(['run_id', ...updateColumns]), ['lease_ms', 'bigint']],
  sql: (from) => `
    UPDATE runs SET ${updateColumns.map((column) => `${column} = ${leasedValue(column)}`).join(', ')}
    FROM ${from} WHERE runs.run_id = given.run_id`,
};

const replaceRuns: BatchSection = {
  name: 'replaced_runs',
  columns: typed(['run_id', 'updated_at']),
  sql: (from) => `
    UPDATE runs SET status = 'regenerated', updated_at = given.updated_at
    FROM ${from} WHERE runs.run_id = given.run_id AND runs.status = 'completed'`,
};

const removeSteps: BatchSection = {
  name: 'removed_steps',
  columns: typed(['run_id', 'seq']),
  sql: (from) => `
    DELETE FROM steps USING ${from} WHERE steps.run_id = given.run_id AND steps.seq = given.seq`,
};

const writeSteps: BatchSection = {
  name: 'written_steps',
  columns: typed(stepColumns),
  sql: (from) => `
    INSERT INTO steps (${stepColumns.join(', ')}) SELECT ${given(stepColumns)} FROM ${from}
    ON CONFLICT (run_id, seq) DO UPDATE SET
    ${stepColumns
      .slice(2)
      .map((column) => `${column} = excluded.${column}`)
      .join(', ')}`,
};

const blockColumns = ['run_id', 'first_index', 'event_count', 'payload'];

const writeEvents: BatchSection = {
  name: 'written_events',
  columns: typed(blockColumns),
  sql: (from) => `
    INSERT INTO event_blocks (${blockColumns.join(', ')}) SELECT ${given(blockColumns)} FROM ${from}
    ON CONFLICT (run_id, first_index)
    DO UPDATE SET event_count = excluded.event_count, payload = excluded.payload`,
};

/**
 * On PostgreSQL a batch is one statement that succeeds as a whole. When some writes of it are refused, it is
 * made again without them: refusals are rare, round trips are not.
 */
export async function commitToPostgres(
  database: PostgresDatabase,
  writes: readonly RunWrite[],
  options: CommitOptions,
): Promise<RefusedWrite[]> {
  const refused: RefusedWrite[] = [];
  for (const wave of waves(writes)) {
    let remaining: readonly RunWrite[] = wave;
    while (remaining.length > 0) {
      const reasons = reasonsByRun(remaining, await writeWave(database, remaining, options));
      if (reasons.size === 0) break;
      for (const [runId, reason] of reasons) refused.push({ runId, reason });
      remaining = remaining.filter(({ runId }) => !reasons.has(runId));
    }
  }
  return refused;
}

/**
 * A statement writes each row once. Writes of one run, writes of different users that meet in one session, and runs
 * that are started under one key depend on each other's outcome: they come one after the other.
 */
function waves(writes: readonly RunWrite[]): RunWrite[][] {
  const all: RunWrite[][] = [];
  let runs = new Set<string>();
  let keys = new Set<string>();
  let users = new Map<string, string | null>();
  for (const write of writes) {
    const { runId, session, replaces, idempotency } = write;
    const key = idempotency && JSON.stringify(keyOf(idempotency));
    const known = session && users.has(session.sessionId) && users.get(session.sessionId) !== session.userId;
    const written = runs.has(runId) || (replaces !== undefined && runs.has(replaces));
    if (all.length === 0 || written || known || (key !== undefined && keys.has(key))) {
      all.push([]);
      runs = new Set();
      keys = new Set();
      users = new Map();
    }
    runs.add(runId);
    if (replaces !== undefined) runs.add(replaces);
    if (key !== undefined) keys.add(key);
    if (session) users.set(session.sessionId, session.userId);
    all.at(-1)!.push(write);
  }
  return all;
}

function writeWave(
  database: PostgresDatabase,
  writes: readonly RunWrite[],
  { traces }: CommitOptions,
): Promise<readonly BatchRefusal[]> {
  return writeBatch(database, guardsOf(writes), [
    ...effectsOf(writes),
    ...(traces ? traceSections(writes) : []),
  ]);
}

function traceSections(writes: readonly RunWrite[]): FilledSection[] {
  const { begun, changed } = traceRows(writes);
  return [
    { section: beginTraces, rows: begun },
    { section: changeTraces, rows: changed },
  ];
}

function guardsOf(writes: readonly RunWrite[]): GuardSection[] {
  const later = writes.filter(({ insert }) => !insert);
  const { made, known } = sessionValues(writes.flatMap(({ session }) => session ?? []));
  return [
    { section: lockSessions, rows: sessionsToLock(writes) },
    { section: touchSessions, rows: made, reason: 'foreign_session' },
    { section: touchKnownSessions, rows: known, reason: 'foreign_session' },
    {
      section: holdRuns,
      rows: later.filter(({ claims }) => !claims).map(({ runId, attempt }) => [runId, attempt]),
      reason: 'fenced',
    },
    {
      section: claimRuns,
      rows: later.flatMap(({ runId, claims }) => (claims ? [[runId, claims.attempt, claims.status]] : [])),
      reason: 'fenced',
    },
    {
      section: takeKeys,
      rows: writes.flatMap(({ idempotency }) => (idempotency ? [keyValues(idempotency)] : [])),
      reason: 'key_taken',
    },
    // After the keys: of two reasons the last is told, and a run that is there already comes before all others.
    {
      section: insertAfter[known.length === 0 ? 'made' : made.length === 0 ? 'known' : 'both'],
      rows: writes.flatMap(({ insert, texts, leaseMs = null }, place) =>
        insert ? [[...runValues(insert, texts?.idOf), place, leaseMs]] : [],
      ),
      reason: 'run_exists',
    },
  ];
}

function effectsOf(writes: readonly RunWrite[]): FilledSection[] {
  const state = stateValues(writes.flatMap(({ state }) => state ?? []));
  const approvals = writes.flatMap(({ runId, approvals }) =>
    approvals ? [approvalRows(runId, approvals)] : [],
  );
  const usage = usageRows(writes);
  return [
    { section: updateRuns, rows: writes.flatMap(changedRun) },
    { section: replaceRuns, rows: writes.flatMap(replacedRun) },
    { section: removeSteps, rows: writes.flatMap(stepsToRemove) },
    { section: writeTexts, rows: writes.flatMap(textValues) },
    { section: writeSteps, rows: writes.flatMap(distinctSteps) },
    { section: writeEvents, rows: writes.flatMap(eventValues) },
    { section: recordApprovals, rows: approvals.flatMap(({ recorded }) => recorded) },
    { section: cancelApprovals, rows: approvals.flatMap(({ cancelled }) => cancelled) },
    { section: setState, rows: state.set },
    { section: removeState, rows: state.removed },
    { section: replaceSummaries, rows: summaryValues(writes.flatMap(({ summary }) => summary ?? [])) },
    { section: removeUsage, rows: usage.removed },
    { section: writeUsage, rows: usage.written },
  ];
}

/**
 * A session that gets or changes rows of its own is locked before its runs, as whoever deletes it does;
 * `touchSessions` does it for those that it writes anyway.
 */
function sessionsToLock(writes: readonly RunWrite[]): string[][] {
  const sessions = writes.flatMap(({ session }) => session ?? []);
  const made = new Set(sessions.filter(({ existing }) => !existing).map(({ sessionId }) => sessionId));
  const changed = new Set([
    ...sessions.map(({ sessionId }) => sessionId),
    ...writes.flatMap(({ state, summary, usage }) =>
      [state?.sessionId ?? [], summary?.sessionId ?? [], usage?.run.sessionId ?? []].flat(),
    ),
  ]);
  if ([...changed].every((sessionId) => made.has(sessionId))) return [];
  // One order over all of them.
  return [...changed].map((sessionId) => [sessionId]);
}

function changedRun(write: RunWrite): unknown[][] {
  const { runId, update, leaseMs = null } = write;
  return update ? [[runId, ...updateValues(write, update), leaseMs]] : [];
}

function replacedRun(write: RunWrite): unknown[][] {
  return write.replaces === undefined ? [] : [[write.replaces, changedAt(write)]];
}

/** Without those that the same write puts in their place. */
function stepsToRemove({ runId, removedSteps, steps }: RunWrite): unknown[][] {
  if (removedSteps === undefined) return [];
  const written = new Set(steps.map(({ seq }) => seq));
  return removedSteps.filter((seq) => !written.has(seq)).map((seq) => [runId, seq]);
}

/** The last version of each step. */
function distinctSteps({ steps, texts }: RunWrite): unknown[][] {
  const distinct = new Map(steps.map((step) => [step.seq, step]));
  return Array.from(distinct.values(), (step) => stepValues(step, texts?.idOf));
}

function eventValues({ runId, events }: RunWrite): unknown[][] {
  return events ? [[runId, events.firstIndex, events.count, events.payload]] : [];
}

function reasonsByRun(
  writes: readonly RunWrite[],
  refusals: readonly BatchRefusal[],
): Map<string, RefusedWrite['reason']> {
  const foreignSessions = new Set<string>();
  const reasons = new Map<string, RefusedWrite['reason']>();
  for (const { reason, id } of refusals) {
    if (reason === 'foreign_session') foreignSessions.add(decodeText(id));
    else reasons.set(decodeText(id), reason as RefusedWrite['reason']);
  }
  for (const { runId, session } of writes) {
    const foreign = session !== undefined && foreignSessions.has(session.sessionId);
    if (foreign && !reasons.has(runId)) reasons.set(runId, 'foreign_session');
  }
  return reasons;
}
