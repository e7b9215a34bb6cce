import type { RefusedWrite, RunWrite } from '../../core/runs/ports.js';
import type { PostgresDatabase } from '../../platform/storage/database.js';
import { type BatchRefusal, type BatchSection, writeBatch } from '../../platform/storage/postgres/batch.js';
import { decodeText } from '../../platform/storage/text.js';
import {
  lockSessions,
  removeState,
  replaceSummaries,
  sessionValues,
  setState,
  stateValues,
  summaryValues,
  touchSessions,
} from '../sessions/postgres-write-store.js';
import { jsonOrNull, runColumns, runValues, stepColumns, stepValues } from './rows-store.js';

const bigColumns = new Set(['created_at', 'updated_at', 'lease_expires_at', 'started_at', 'ended_at']);
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

const insertRuns: BatchSection = {
  name: 'inserted_runs',
  columns: typed(runColumns),
  sql: (from) => `
    INSERT INTO runs (${runColumns.join(', ')}) SELECT ${given(runColumns)} FROM ${from} ORDER BY given.run_id
    ON CONFLICT (run_id) DO NOTHING RETURNING run_id`,
};

/** Whoever takes a run over has to wait for this lock, or has taken it over before and is found out. */
const holdRuns: BatchSection = {
  name: 'held_runs',
  columns: typed(['run_id', 'attempt']),
  sql: (from) => `
    SELECT runs.run_id FROM ${from} JOIN runs ON runs.run_id = given.run_id AND runs.attempt = given.attempt
    ORDER BY runs.run_id FOR NO KEY UPDATE OF runs`,
};

const updateColumns = [
  'status',
  'result',
  'lease_owner',
  'lease_expires_at',
  'next_event_index',
  'updated_at',
];

const updateRuns: BatchSection = {
  name: 'updated_runs',
  columns: typed(['run_id', ...updateColumns]),
  sql: (from) => `
    UPDATE runs SET ${updateColumns.map((column) => `${column} = given.${column}`).join(', ')}
    FROM ${from} WHERE runs.run_id = given.run_id`,
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
): Promise<RefusedWrite[]> {
  const refused: RefusedWrite[] = [];
  for (const wave of waves(writes)) {
    let remaining: readonly RunWrite[] = wave;
    while (remaining.length > 0) {
      const reasons = reasonsByRun(remaining, await writeWave(database, remaining));
      if (reasons.size === 0) break;
      for (const [runId, reason] of reasons) refused.push({ runId, reason });
      remaining = remaining.filter(({ runId }) => !reasons.has(runId));
    }
  }
  return refused;
}

/**
 * A statement writes each row once. Writes of one run, and writes of different users that meet in one session,
 * depend on each other's outcome: they come one after the other.
 */
function waves(writes: readonly RunWrite[]): RunWrite[][] {
  const all: RunWrite[][] = [];
  let runs = new Set<string>();
  let users = new Map<string, string | null>();
  for (const write of writes) {
    const { runId, session } = write;
    const known = session && users.has(session.sessionId) && users.get(session.sessionId) !== session.userId;
    if (all.length === 0 || runs.has(runId) || known) {
      all.push([]);
      runs = new Set();
      users = new Map();
    }
    runs.add(runId);
    if (session) users.set(session.sessionId, session.userId);
    all.at(-1)!.push(write);
  }
  return all;
}

function writeWave(
  database: PostgresDatabase,
  writes: readonly RunWrite[],
): Promise<readonly BatchRefusal[]> {
  const sessions = writes.flatMap(({ session }) => session ?? []);
  const changes = writes.flatMap(({ state }) => state ?? []);
  const state = stateValues(changes);
  const guards = [
    { section: lockSessions, rows: sessionsToLock(writes) },
    { section: touchSessions, rows: sessionValues(sessions), reason: 'foreign_session' },
    {
      section: holdRuns,
      rows: writes.filter(({ insert }) => !insert).map(({ runId, attempt }) => [runId, attempt]),
      reason: 'fenced',
    },
    {
      section: insertRuns,
      rows: writes.flatMap(({ insert }) => (insert ? [runValues(insert)] : [])),
      reason: 'run_exists',
    },
  ];
  const effects = [
    { section: updateRuns, rows: writes.flatMap(updateValues) },
    { section: writeSteps, rows: writes.flatMap(distinctSteps) },
    { section: writeEvents, rows: writes.flatMap(eventValues) },
    { section: setState, rows: state.set },
    { section: removeState, rows: state.removed },
    { section: replaceSummaries, rows: summaryValues(writes.flatMap(({ summary }) => summary ?? [])) },
  ];
  return writeBatch(database, guards, effects);
}

/** A session whose state or summary changes is locked; `touchSessions` does it for those that it writes anyway. */
function sessionsToLock(writes: readonly RunWrite[]): string[][] {
  const touched = new Set(writes.flatMap(({ session }) => session?.sessionId ?? []));
  const changed = new Set(
    writes.flatMap(({ state, summary }) => [state?.sessionId ?? [], summary?.sessionId ?? []].flat()),
  );
  if ([...changed].every((sessionId) => touched.has(sessionId))) return [];
  // One order over all of them.
  return [...new Set([...touched, ...changed])].map((sessionId) => [sessionId]);
}

function updateValues({ runId, update }: RunWrite): unknown[][] {
  if (update === undefined) return [];
  const { status, result, leaseOwner, leaseExpiresAt, nextEventIndex, updatedAt } = update;
  return [[runId, status, jsonOrNull(result), leaseOwner, leaseExpiresAt, nextEventIndex, updatedAt]];
}

/** The last version of each step. */
function distinctSteps({ steps }: RunWrite): unknown[][] {
  return [...new Map(steps.map((step) => [step.seq, step])).values()].map(stepValues);
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
