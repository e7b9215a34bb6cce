import type { EventBlock, RefusedWrite, RunUpdate, RunWrite } from '../../../core/runs/journal/ports.js';
import type { Run } from '../../../core/runs/run.js';
import type { Database, SqlValue } from '../../../platform/storage/database.js';
import { type BatchRefusal, writeBatch } from '../../../platform/storage/postgres/batch.js';
import { unitOf } from '../../../platform/storage/sqlite/unit.js';
import { decodeText } from '../../../platform/storage/text.js';
import {
  columnsOf,
  nameOf,
  noRows,
  PlanBuilder,
  type RowDelete,
  type RowInsert,
  type RowLock,
  type Rows,
  type RowUpdate,
  rowsOf,
  type Sql,
  valuesOf,
  type WritePlan,
} from '../../../platform/storage/write-plan.js';
import { addApprovalEffects } from '../../approvals/write-store.js';
import { addMediaEffects } from '../../media/write-store.js';
import { addUsageEffects } from '../../metrics/usage-write-store.js';
import {
  addSessionEffects,
  addSessionGuards,
  touchKnownSessions,
  touchSessions,
} from '../../sessions/write-store.js';
import { addTraceEffects } from '../../traces/write-store.js';
import { keyOf, keyRows, takeKeys } from './idempotency-store.js';
import { type JournalTables, jobTables, ofTables, runTables } from './journal-tables-store.js';
import { lastVersions, storedWrite, withUnpacked } from './packed-run-store.js';
import { queueTurn, turnsOf } from './queue-store.js';
import {
  changingFields,
  helperFields,
  insertedFields,
  newRunFields,
  type StoredWrite,
  stepFields,
  updatedFields,
} from './rows-store.js';
import { forgottenTexts, removeTexts, textRows, writeTexts } from './text-store.js';

type Reason = RefusedWrite['reason'];

export interface CommitOptions {
  /** Whether the traces of runs are recorded. */
  readonly traces: boolean;
  /** Left out: those of runs. */
  readonly tables?: JournalTables;
}

/** A lease ends by the clock of the database, counted from when the write arrives there. */
const leaseEnd: Sql = ({ now }) => `coalesce(${now} + given.lease_ms, given.lease_expires_at)`;

/** A run that waits for any process has no lease: when it was stored says since when it waits. */
const waits = `given.lease_owner IS NULL AND given.status IN ('pending', 'running')`;
const changedAt: Sql = ({ now }) => `CASE WHEN ${waits} THEN ${now} ELSE given.updated_at END`;

/** The runs of one write do not see each other. */
const firstTurn = (tables: JournalTables): Sql =>
  `CASE WHEN ${waits} THEN ${queueTurn(tables, 'given')} + given.queue_turn ELSE 0 END`;

/**
 * Each run gets its place in its session from the session's row, which was touched before and is locked. One whose
 * session is refused gets none, and is undone with the batch.
 */
const place: Sql = ({ written }) =>
  `coalesce((SELECT numbered.last_run_seq FROM ${written('sessions', [touchSessions, touchKnownSessions])} AS numbered
    WHERE numbered.session_id = given.session_id), 0) - given.following_runs`;

const insertRuns: RowInsert = {
  does: 'insert',
  name: 'inserted_runs',
  table: 'runs',
  columns: columnsOf(insertedFields),
  helpers: columnsOf(helperFields),
  computed: {
    updated_at: changedAt,
    lease_expires_at: leaseEnd,
    session_seq: place,
    queue_turn: firstTurn(runTables),
  },
  key: ['run_id'],
  conflict: 'keep',
};

const insertJobs: RowInsert = {
  does: 'insert',
  name: 'inserted_jobs',
  table: jobTables.runs,
  columns: columnsOf(insertedFields),
  helpers: columnsOf(helperFields),
  computed: { updated_at: changedAt, lease_expires_at: leaseEnd, queue_turn: firstTurn(jobTables) },
  key: ['run_id'],
  conflict: 'keep',
};

/** A further attempt writes rows: what the row of the run held is among them. */
const stillPacked = (column: string): Sql =>
  `CASE WHEN stored.attempt = given.attempt THEN stored.${column} END`;

/** What is written of every execution, whether it is of a run or of a job. */
const writesOf = ofTables((tables) => {
  const { prefix, runs, steps, events } = tables;

  /** A process that takes a run over has to wait for this lock, or has taken it over before and is found. */
  const holdRuns: RowLock = {
    does: 'lock',
    name: `${prefix}held_runs`,
    table: runs,
    columns: ['run_id', 'attempt integer'],
    where: 'stored.run_id = given.run_id AND stored.attempt = given.attempt',
  };

  /** A row is updated once in a statement: this only makes sure, and `updateRuns` stores the new attempt. */
  const claimRuns: RowLock = {
    does: 'lock',
    name: `${prefix}claimed_runs`,
    table: runs,
    columns: ['run_id', 'attempt integer', 'status'],
    where: ({ now }) => `stored.run_id = given.run_id AND stored.attempt = given.attempt
      AND stored.status = given.status AND coalesce(stored.lease_expires_at, 0) <= ${now}`,
  };

  const updateRuns: RowUpdate = {
    does: 'update',
    name: `${prefix}updated_runs`,
    table: runs,
    columns: columnsOf(updatedFields),
    set: {
      ...Object.fromEntries(changingFields.map(([column]) => [nameOf(column), `given.${nameOf(column)}`])),
      updated_at: changedAt,
      lease_expires_at: leaseEnd,
      queue_turn: `CASE WHEN ${waits} THEN ${queueTurn(tables, 'stored')} ELSE stored.queue_turn END`,
      packed_steps: stillPacked('packed_steps'),
      packed_events: stillPacked('packed_events'),
    },
    where: 'stored.run_id = given.run_id',
  };

  /** One that changes its input, too. Apart from the others, because hardly a run does. */
  const updateInputs: RowUpdate = {
    ...updateRuns,
    name: `${prefix}updated_inputs`,
    columns: [...updateRuns.columns, 'input'],
    set: { ...updateRuns.set, input: 'given.input' },
  };

  const removeSteps: RowDelete = {
    does: 'delete',
    name: `${prefix}removed_steps`,
    table: steps,
    columns: ['run_id', 'seq integer'],
    where: 'stored.run_id = given.run_id AND stored.seq = given.seq',
  };

  const writeSteps: RowInsert = {
    does: 'insert',
    name: `${prefix}written_steps`,
    table: steps,
    columns: columnsOf(stepFields),
    key: ['run_id', 'seq'],
    conflict: 'replace',
    unordered: true,
  };

  const writeEvents: RowInsert = {
    does: 'insert',
    name: `${prefix}written_events`,
    table: events,
    columns: ['run_id', 'first_index integer', 'event_count integer', 'payload'],
    key: ['run_id', 'first_index'],
    conflict: 'replace',
    unordered: true,
  };

  return { holdRuns, claimRuns, updateRuns, updateInputs, removeSteps, writeSteps, writeEvents };
});

const replaceRuns: RowUpdate = {
  does: 'update',
  name: 'replaced_runs',
  table: 'runs',
  columns: ['run_id', 'updated_at bigint'],
  set: { status: `'regenerated'`, updated_at: 'given.updated_at' },
  where: `stored.run_id = given.run_id AND stored.status = 'completed'`,
};

/** Writes everything in one transaction, but for the writes that are refused: each of them is refused alone. */
export async function commitRuns(
  database: Database,
  given: readonly RunWrite[],
  options: CommitOptions,
): Promise<RefusedWrite[]> {
  const refused: RefusedWrite[] = [];
  if (given.length === 0) return refused;
  const { tables = runTables } = options;
  const packed = given.map((write) => storedWrite(withUpdatedInsert(write)));
  // at once where nothing has to be read first: a database that is closed then still takes the write
  const writes = given.some(({ claims }) => claims) ? await withUnpacked(database, tables, packed) : packed;
  if (database.dialect === 'sqlite') {
    const units = writes.map((write) => unitOf(planOf([write], options)));
    const refusals = await database.write(units.map(({ rows }) => rows));
    for (const [index, { write }] of writes.entries()) {
      const reason = units[index]?.reasons[refusals[index] ?? -1];
      if (reason !== undefined) refused.push({ runId: write.runId, reason });
    }
    return refused;
  }
  for (let remaining of waves(writes)) {
    // A batch succeeds as a whole. It is repeated without what it refuses: refusals are rare, round trips are not.
    while (remaining.length > 0) {
      const reasons = reasonsByRun(remaining, await writeBatch(database, planOf(remaining, options)));
      if (reasons.size === 0) break;
      for (const [runId, reason] of reasons) refused.push({ runId, reason });
      remaining = remaining.filter(({ write }) => !reasons.has(write.runId));
    }
  }
  return refused;
}

function planOf(
  stored: readonly StoredWrite[],
  { traces, tables = runTables }: CommitOptions,
): WritePlan<Reason> {
  const plan = new PlanBuilder<Reason>();
  const writes = stored.map(({ write }) => write);
  const { holdRuns, claimRuns, updateRuns, updateInputs, removeSteps, writeSteps, writeEvents } =
    writesOf(tables);
  // a job has no session, and leaves neither traces nor usage
  const isOfJobs = tables === jobTables;
  if (!isOfJobs) addSessionGuards(plan, writes);
  plan.guard(holdRuns, rowsOf(writes, heldRun), 'fenced');
  plan.guard(claimRuns, rowsOf(writes, claimedRun), 'fenced');
  if (!isOfJobs) plan.guard(takeKeys, rowsOf(writes, keyRows), 'key_taken');
  plan.guard(isOfJobs ? insertJobs : insertRuns, newRuns(stored), 'run_exists');
  plan.effect(updateRuns, rowsOf(stored, changedRun));
  if (!isOfJobs) {
    plan.effect(updateInputs, rowsOf(stored, changedInput));
    plan.effect(replaceRuns, rowsOf(writes, replacedRun));
  }
  plan.effect(removeSteps, rowsOf(writes, stepsToRemove));
  plan.effect(removeTexts(tables), rowsOf(writes, forgottenTexts));
  plan.effect(writeTexts(tables), rowsOf(writes, textRows));
  plan.effect(writeSteps, rowsOf(stored, distinctSteps));
  plan.effect(writeEvents, rowsOf(stored, eventRows));
  if (isOfJobs) return plan;
  addApprovalEffects(plan, writes);
  addSessionEffects(plan, writes);
  addUsageEffects(plan, writes);
  addMediaEffects(plan, writes);
  if (traces) addTraceEffects(plan, writes);
  return plan;
}

/** A run that is created and changed in the same write is created in its new state. */
function withUpdatedInsert(write: RunWrite): RunWrite {
  const { insert, update } = write;
  return insert && update ? { ...write, insert: { ...insert, ...update }, update: undefined } : write;
}

function heldRun({ runId, attempt, insert, claims }: RunWrite): Rows {
  return insert || claims ? noRows : [[runId, attempt]];
}

function claimedRun({ runId, insert, claims }: RunWrite): Rows {
  return insert || !claims ? noRows : [[runId, claims.attempt, claims.status]];
}

/** Each comes before those of its session that follow it, and has its turn after those of its user and component. */
function newRuns(writes: readonly StoredWrite[]): Rows {
  const only = writes.length === 1 ? writes[0] : undefined;
  if (only !== undefined) return only.write.insert ? [newRun(only.write.insert, only, 0, 0)] : noRows;
  const following = new Map<string, number>();
  const turns = turnsOf(writes);
  const rows: SqlValue[][] = [];
  for (const stored of writes.toReversed()) {
    const { runId, insert } = stored.write;
    if (!insert) continue;
    const count = following.get(insert.sessionId) ?? 0;
    following.set(insert.sessionId, count + 1);
    rows.push(newRun(insert, stored, turns.get(runId) ?? 0, count));
  }
  return rows;
}

function newRun(insert: Run, stored: StoredWrite, turn: number, following: number): SqlValue[] {
  return valuesOf(newRunFields, insert, insert.attempt, stored, turn, following);
}

function changedRun(stored: StoredWrite): Rows {
  const { update, forgotten } = stored.write;
  return update && !forgotten?.input ? [changedValues(stored, update)] : noRows;
}

function changedInput(stored: StoredWrite): Rows {
  const { update, forgotten } = stored.write;
  const input = forgotten?.input;
  return update && input ? [[...changedValues(stored, update), JSON.stringify(input)]] : noRows;
}

function changedValues(stored: StoredWrite, update: RunUpdate): SqlValue[] {
  return valuesOf(updatedFields, update, stored.write.attempt, stored);
}

function replacedRun({ replaces, insert, update }: RunWrite): Rows {
  return replaces === undefined ? noRows : [[replaces, (update ?? insert)?.updatedAt ?? Date.now()]];
}

/** Without those that the same write puts in their place. */
function stepsToRemove({ runId, removedSteps, steps }: RunWrite): Rows {
  if (removedSteps === undefined) return noRows;
  const written = new Set(steps.map(({ seq }) => seq));
  return removedSteps.filter((seq) => !written.has(seq)).map((seq) => [runId, seq]);
}

function distinctSteps({ write: { steps, texts }, packed }: StoredWrite): Rows {
  if (packed !== undefined) return noRows;
  return lastVersions(steps).map((step) => valuesOf(stepFields, step, texts?.idOf));
}

/** A block that was in the row of the run may be changed by the same write. */
function eventRows({ write: { runId, events, forgotten }, unpackedEvents, packed }: StoredWrite): Rows {
  if (packed !== undefined) return noRows;
  const blocks = new Map<number, EventBlock>();
  for (const block of [unpackedEvents, events, ...(forgotten?.blocks ?? [])])
    if (block !== undefined) blocks.set(block.firstIndex, block);
  return Array.from(blocks.values(), ({ firstIndex, count, payload }) => [runId, firstIndex, count, payload]);
}

/**
 * A statement writes each row once. Writes of one run, writes of different users that meet in one session, and runs
 * that are started under one key depend on each other's outcome: they come one after the other.
 */
function waves(writes: readonly StoredWrite[]): StoredWrite[][] {
  let wave: StoredWrite[] = [];
  const all = [wave];
  let runs = new Set<string>();
  let keys = new Set<string>();
  let users = new Map<string, string | null>();
  for (const stored of writes) {
    const { runId, session, replaces, idempotency } = stored.write;
    const key = idempotency && JSON.stringify(keyOf(idempotency));
    const known = session && users.has(session.sessionId) && users.get(session.sessionId) !== session.userId;
    const written = runs.has(runId) || (replaces !== undefined && runs.has(replaces));
    if (written || known || (key !== undefined && keys.has(key))) {
      wave = [];
      all.push(wave);
      runs = new Set();
      keys = new Set();
      users = new Map();
    }
    runs.add(runId);
    if (replaces !== undefined) runs.add(replaces);
    if (key !== undefined) keys.add(key);
    if (session) users.set(session.sessionId, session.userId);
    wave.push(stored);
  }
  return all;
}

function reasonsByRun(
  writes: readonly StoredWrite[],
  refusals: readonly BatchRefusal<Reason>[],
): Map<string, Reason> {
  const foreignSessions = new Set<string>();
  const reasons = new Map<string, Reason>();
  for (const { reason, id } of refusals) {
    if (reason === 'foreign_session') foreignSessions.add(decodeText(id));
    else reasons.set(decodeText(id), reason);
  }
  for (const { write } of writes) {
    const { runId, session } = write;
    const foreign = session !== undefined && foreignSessions.has(session.sessionId);
    if (foreign && !reasons.has(runId)) reasons.set(runId, 'foreign_session');
  }
  return reasons;
}
