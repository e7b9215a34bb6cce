import type { Json } from '../../../core/json.js';
import { readColumn } from '../../../core/runs/journal/codec.js';
import { holdsLongText, isPacked, packed, unpacked } from '../../../core/runs/journal/long-texts.js';
import type { EventBlock, RunUpdate, RunWrite } from '../../../core/runs/journal/ports.js';
import { runInput, runLineage, runResult } from '../../../core/runs/journal/records.js';
import { list, nullable, text } from '../../../core/runs/journal/shapes.js';
import { levelOf } from '../../../core/runs/leases/priority.js';
import type { Run, StepRecord } from '../../../core/runs/run.js';
import { type Fields, nameOf } from '../../../platform/storage/write-plan.js';
import type { PackedColumns, RunsTable, StepsTable } from '../tables.js';
import type { TextLookup } from './text-store.js';

type TextIds = ((text: string) => string) | undefined;

/** What the row of a run holds, instead of rows for its steps and events. */
export interface PackedJournal extends Readonly<PackedColumns> {
  /** Its result as JSON, which had to be made to pack the journal. */
  readonly result: string | null;
}

/** A write, and how it is stored. Beside it: a copy of a write, which has many fields, costs much. */
export interface StoredWrite {
  readonly write: RunWrite;
  readonly packed: PackedJournal | undefined;
  /** The events that the row held before. */
  readonly unpackedEvents: EventBlock | undefined;
}

/** What of a run changes. The attempt changes when a run that rested continues. */
export const changingFields: Fields<RunsTable, [run: RunUpdate, attempt: number, stored: StoredWrite]> = [
  ['attempt integer', (_run, attempt) => attempt],
  ['status', (run) => run.status],
  ['result', (run, _attempt, stored) => resultOf(run, stored)],
  ['lease_owner', (run) => run.leaseOwner],
  ['lease_expires_at bigint', (run) => run.leaseExpiresAt],
  ['next_event_index integer', (run) => run.nextEventIndex],
  ['updated_at bigint', (run) => run.updatedAt],
  ['wake_at bigint', (run) => run.wakeAt],
  ['definition', (run) => run.definition],
  ['askers', (run) => JSON.stringify(run.askers)],
];

const runFields: Fields<RunsTable, [run: Run, attempt: number, stored: StoredWrite]> = [
  ['run_id', (run) => run.runId],
  ['kind', (run) => run.kind],
  ['component_id', (run) => run.componentId],
  ['component_name', (run) => run.componentName],
  ['session_id', (run) => run.sessionId],
  ['user_id', (run) => run.userId],
  ['parent_run_id', (run) => run.parentRunId],
  ['model', (run) => run.model],
  ['model_provider', (run) => run.modelProvider],
  ['input', (run) => JSON.stringify(run.input)],
  ['created_at bigint', (run) => run.createdAt],
  ['lineage', (run) => jsonOrNull(run.lineage)],
  ['trace_parent', (run) => run.traceParent],
  ['priority integer', (run) => levelOf(run.input.options.priority)],
  ...changingFields,
];

/** What is given of a run that changes. */
export const updatedFields: Fields<
  RunsTable & { lease_ms: number },
  [run: RunUpdate, attempt: number, stored: StoredWrite]
> = [
  ['run_id', (_run, _attempt, { write }) => write.runId],
  ...changingFields,
  ['lease_ms bigint', (_run, _attempt, { write }) => write.leaseMs ?? null],
];

/** `turn`: how many waiting runs of the same write have theirs before; `following`: how many of its session come after. */
type NewRun = readonly [run: Run, attempt: number, stored: StoredWrite, turn: number, following: number];

export const insertedFields: Fields<RunsTable & PackedColumns & { queue_turn: number }, NewRun> = [
  ...runFields,
  ['packed_steps', (_run, _attempt, { packed }) => packed?.packed_steps ?? null],
  ['packed_events', (_run, _attempt, { packed }) => packed?.packed_events ?? null],
  ['queue_turn bigint', (_run, _attempt, _stored, turn) => turn],
];

export const helperFields: Fields<{ following_runs: number; lease_ms: number }, NewRun> = [
  ['following_runs integer', (_run, _attempt, _stored, _turn, following) => following],
  ['lease_ms bigint', (_run, _attempt, { write }) => write.leaseMs ?? null],
];

export const newRunFields = [...insertedFields, ...helperFields];

export const stepFields: Fields<StepsTable, [step: StepRecord, idOf: TextIds]> = [
  ['run_id', (step) => step.runId],
  ['seq integer', (step) => step.seq],
  ['key', (step) => step.key],
  ['kind', (step) => step.kind],
  ['name', (step) => step.name],
  ['parent_key', (step) => step.parentKey],
  ['status', (step) => step.status],
  ['attempt integer', (step) => step.attempt],
  ['input', (step, idOf) => jsonOrNull(step.input, idOf)],
  ['output', (step, idOf) => jsonOrNull(step.output, idOf)],
  ['error', (step) => jsonOrNull(step.error)],
  ['started_at bigint', (step) => step.startedAt],
  ['ended_at bigint', (step) => step.endedAt],
];

export const runColumns = runFields.map(([column]) => nameOf(column));
export const stepColumns = stepFields.map(([column]) => nameOf(column));

export function runFromRow(row: RunsTable, texts: TextLookup): Run {
  const about = `Run '${row.run_id}'`;
  return {
    runId: row.run_id,
    kind: row.kind,
    componentId: row.component_id,
    componentName: row.component_name,
    sessionId: row.session_id,
    userId: row.user_id,
    parentRunId: row.parent_run_id,
    model: row.model,
    modelProvider: row.model_provider,
    input: readColumn(runInput, JSON.parse(row.input), about, 'input'),
    createdAt: row.created_at,
    status: row.status,
    result: readColumn(nullable(runResult), parsedOrNull(row.result, row.run_id, texts), about, 'result'),
    attempt: row.attempt,
    leaseOwner: row.lease_owner,
    leaseExpiresAt: row.lease_expires_at,
    nextEventIndex: row.next_event_index,
    updatedAt: row.updated_at,
    wakeAt: row.wake_at,
    lineage: readColumn(nullable(runLineage), parsedOrNull(row.lineage, row.run_id, texts), about, 'lineage'),
    traceParent: row.trace_parent,
    definition: row.definition,
    askers: readColumn(list(text), JSON.parse(row.askers), about, 'askers'),
  };
}

export function stepFromRow(row: StepsTable, texts: TextLookup): StepRecord {
  return {
    runId: row.run_id,
    seq: row.seq,
    key: row.key,
    kind: row.kind,
    name: row.name,
    parentKey: row.parent_key,
    status: row.status,
    attempt: row.attempt,
    input: parsedOrNull(row.input, row.run_id, texts),
    output: parsedOrNull(row.output, row.run_id, texts),
    error: parsedOrNull(row.error, row.run_id, texts),
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

/** A user as part of a key, which holds no null. The key for no user is never that of a user. */
export function userKey(userId: string | null): string {
  return userId === null ? '-' : `u:${userId}`;
}

function resultOf({ result }: RunUpdate, { write, packed: journal }: StoredWrite): string | null {
  return journal === undefined ? jsonOrNull(result, write.texts?.idOf) : journal.result;
}

export function jsonOrNull(value: unknown, idOf?: TextIds): string | null {
  // A member that was left out is stored like null: both read back as null.
  if (value === null || value === undefined) return null;
  return idOf !== undefined && holdsLongText(value) ? packed(value, idOf) : JSON.stringify(value);
}

function parsedOrNull(stored: string | null, runId: string, texts: TextLookup): Json {
  if (stored === null) return null;
  return isPacked(stored) ? unpacked(stored, (id) => texts(runId, id)) : JSON.parse(stored);
}
