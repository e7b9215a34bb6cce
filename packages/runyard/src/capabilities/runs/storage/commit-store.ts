import type { EventBlock, RefusedWrite, RunUpdate, RunWrite } from '../../../core/runs/journal/ports.js';
import type { Database, SqlValue } from '../../../platform/storage/database.js';
import { type BatchRefusal, writeBatch } from '../../../platform/storage/postgres/batch.js';
import { unitOf } from '../../../platform/storage/sqlite/unit.js';
import { decodeText } from '../../../platform/storage/text.js';
import {
  columnsOf,
  nameOf,
  noRows,
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
import { approvalEffects } from '../../approvals/write-store.js';
import { mediaEffects } from '../../media/write-store.js';
import { usageEffects } from '../../metrics/usage-write-store.js';
import {
  sessionEffects,
  sessionGuards,
  touchKnownSessions,
  touchSessions,
} from '../../sessions/write-store.js';
import { traceEffects } from '../../traces/write-store.js';
import { keyOf, keyRows, takeKeys } from './idempotency-store.js';
import { type JournalTables, jobTables, ofTables, runTables } from './journal-tables-store.js';
import { lastVersions, packedWrite, type StoredWrite, withUnpacked } from './packed-run-store.js';
import { queueTurn } from './queue-store.js';
import { changingFields, runFields, stepFields } from './rows-store.js';
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

const insertedColumns = [
  ...columnsOf(runFields),
  'packed_steps',
  'packed_events',
  'queue_turn bigint',
] as const;

const insertRuns: RowInsert = {
  does: 'insert',
  name: 'inserted_runs',
  table: 'runs',
  columns: insertedColumns,
  helpers: ['following_runs integer', 'lease_ms bigint'],
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
  columns: insertedColumns,
  helpers: ['following_runs integer', 'lease_ms bigint'],
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
    columns: ['run_id', ...columnsOf(changingFields), 'lease_ms bigint'],
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
  const packed = given.map((write) => packedWrite(withUpdatedInsert(write)));
  // at once where nothing has to be read first: a database that is closed then still takes the write
  const writes = given.some(({ claims }) => claims) ? await withUnpacked(database, tables, packed) : packed;
  if (database.dialect === 'sqlite') {
    const units = writes.map((write) => unitOf(planOf([write], options)));
    const refusals = await database.write(units.map(({ rows }) => rows));
    for (const [index, { runId }] of writes.entries()) {
      const reason = units[index]?.reasons[refusals[index] ?? -1];
      if (reason !== undefined) refused.push({ runId, reason });
    }
    return refused;
  }
  for (let remaining of waves(writes)) {
    // A batch succeeds as a whole. It is repeated without what it refuses: refusals are rare, round trips are not.
    while (remaining.length > 0) {
      const reasons = reasonsByRun(remaining, await writeBatch(database, planOf(remaining, options)));
      if (reasons.size === 0) break;
      for (const [runId, reason] of reasons) refused.push({ runId, reason });
      remaining = remaining.filter(({ runId }) => !reasons.has(runId));
    }
  }
  return refused;
}

function planOf(
  writes: readonly StoredWrite[],
  { traces, tables = runTables }: CommitOptions,
): WritePlan<Reason> {
  const { holdRuns, claimRuns, updateRuns, updateInputs, removeSteps, writeSteps, writeEvents } =
    writesOf(tables);
  const held = [
    { write: holdRuns, rows: rowsOf(writes, heldRun), reason: 'fenced' },
    { write: claimRuns, rows: rowsOf(writes, claimedRun), reason: 'fenced' },
  ] as const;
  const updated = { write: updateRuns, rows: rowsOf(writes, changedRun) };
  const journal = [
    { write: removeSteps, rows: rowsOf(writes, stepsToRemove) },
    { write: removeTexts(tables), rows: rowsOf(writes, forgottenTexts) },
    { write: writeTexts(tables), rows: rowsOf(writes, textRows) },
    { write: writeSteps, rows: rowsOf(writes, distinctSteps) },
    { write: writeEvents, rows: rowsOf(writes, eventRows) },
  ];
  // a job has no session, and leaves neither traces nor usage
  if (tables === jobTables)
    return {
      guards: [...held, { write: insertJobs, rows: newRuns(writes), reason: 'run_exists' }],
      effects: [updated, ...journal],
    };
  return {
    guards: [
      ...sessionGuards(writes),
      ...held,
      { write: takeKeys, rows: rowsOf(writes, keyRows), reason: 'key_taken' },
      { write: insertRuns, rows: newRuns(writes), reason: 'run_exists' },
    ],
    effects: [
      updated,
      { write: updateInputs, rows: rowsOf(writes, changedInput) },
      { write: replaceRuns, rows: rowsOf(writes, replacedRun) },
      ...journal,
      ...approvalEffects(writes),
      ...sessionEffects(writes),
      ...usageEffects(writes),
      ...mediaEffects(writes),
      ...(traces ? traceEffects(writes) : []),
    ],
  };
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
  const following = new Map<string, number>();
  const turns = turnsOf(writes);
  const rows: SqlValue[][] = [];
  for (const { runId, insert, texts, leaseMs, packed } of writes.toReversed()) {
    if (!insert) continue;
    const count = following.get(insert.sessionId) ?? 0;
    following.set(insert.sessionId, count + 1);
    const journal = [packed?.packed_steps ?? null, packed?.packed_events ?? null];
    const values = valuesOf(runFields, insert, insert.attempt, texts?.idOf);
    rows.push([...values, ...journal, turns.get(runId) ?? 0, count, leaseMs ?? null]);
  }
  return rows;
}

/** How many runs of the same user, component and priority come before each waiting run of a batch. */
function turnsOf(writes: readonly StoredWrite[]): ReadonlyMap<string, number> {
  const turns = new Map<string, number>();
  const ahead = new Map<string, number>();
  for (const { runId, insert } of writes) {
    if (!insert || insert.leaseOwner !== null) continue;
    const { userId, kind, componentId, input } = insert;
    const line = JSON.stringify([userId, kind, componentId, input.options.priority]);
    const turn = ahead.get(line) ?? 0;
    turns.set(runId, turn);
    ahead.set(line, turn + 1);
  }
  return turns;
}

function changedRun(write: RunWrite): Rows {
  return write.update && !write.forgotten?.input ? [changedValues(write, write.update)] : noRows;
}

function changedInput(write: RunWrite): Rows {
  const input = write.forgotten?.input;
  return write.update && input ? [[...changedValues(write, write.update), JSON.stringify(input)]] : noRows;
}

function changedValues({ runId, attempt, texts, leaseMs }: RunWrite, update: RunUpdate): SqlValue[] {
  return [runId, ...valuesOf(changingFields, update, attempt, texts?.idOf), leaseMs ?? null];
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

function distinctSteps({ steps, texts, packed }: StoredWrite): Rows {
  if (packed !== undefined) return noRows;
  return lastVersions(steps).map((step) => valuesOf(stepFields, step, texts?.idOf));
}

/** A block that was in the row of the run may be changed by the same write. */
function eventRows({ runId, events, unpackedEvents, forgotten, packed }: StoredWrite): Rows {
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
  for (const write of writes) {
    const { runId, session, replaces, idempotency } = write;
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
    wave.push(write);
  }
  return all;
}

function reasonsByRun(
  writes: readonly RunWrite[],
  refusals: readonly BatchRefusal<Reason>[],
): Map<string, Reason> {
  const foreignSessions = new Set<string>();
  const reasons = new Map<string, Reason>();
  for (const { reason, id } of refusals) {
    if (reason === 'foreign_session') foreignSessions.add(decodeText(id));
    else reasons.set(decodeText(id), reason);
  }
  for (const { runId, session } of writes) {
    const foreign = session !== undefined && foreignSessions.has(session.sessionId);
    if (foreign && !reasons.has(runId)) reasons.set(runId, 'foreign_session');
  }
  return reasons;
}
