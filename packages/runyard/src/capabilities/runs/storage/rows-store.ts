import type { Json } from '../../../core/json.js';
import { readColumn } from '../../../core/runs/journal/codec.js';
import { holdsLongText, isPacked, packed, unpacked } from '../../../core/runs/journal/long-texts.js';
import type { RunUpdate, RunWrite } from '../../../core/runs/journal/ports.js';
import { runInput, runLineage, runResult } from '../../../core/runs/journal/records.js';
import { list, nullable, text } from '../../../core/runs/journal/shapes.js';
import type { Run, StepRecord } from '../../../core/runs/run.js';
import type { RunsTable, StepsTable } from '../tables.js';
import type { TextLookup } from './text-store.js';

/** How runs and steps stand in their tables: the columns in one order, both ways. */
export const runColumns = [
  'run_id',
  'kind',
  'component_id',
  'component_name',
  'session_id',
  'user_id',
  'parent_run_id',
  'model',
  'model_provider',
  'input',
  'created_at',
  'status',
  'result',
  'attempt',
  'lease_owner',
  'lease_expires_at',
  'next_event_index',
  'updated_at',
  'lineage',
  'wake_at',
  'trace_parent',
  'definition',
  'askers',
] as const satisfies readonly (keyof RunsTable)[];

export const stepColumns = [
  'run_id',
  'seq',
  'key',
  'kind',
  'name',
  'parent_key',
  'status',
  'attempt',
  'input',
  'output',
  'error',
  'started_at',
  'ended_at',
] as const satisfies readonly (keyof StepsTable)[];

type ColumnValue = string | number | null;

type TextIds = ((text: string) => string) | undefined;

export function runValues(run: Run, idOf: TextIds): ColumnValue[] {
  return [
    run.runId,
    run.kind,
    run.componentId,
    run.componentName,
    run.sessionId,
    run.userId,
    run.parentRunId,
    run.model,
    run.modelProvider,
    JSON.stringify(run.input),
    run.createdAt,
    run.status,
    jsonOrNull(run.result, idOf),
    run.attempt,
    run.leaseOwner,
    run.leaseExpiresAt,
    run.nextEventIndex,
    run.updatedAt,
    jsonOrNull(run.lineage),
    run.wakeAt,
    run.traceParent,
    run.definition,
    JSON.stringify(run.askers),
  ];
}

/** What of a run changes, in this order. The attempt changes when a run that rested goes on. */
export const updateColumns = [
  'attempt',
  'status',
  'result',
  'lease_owner',
  'lease_expires_at',
  'next_event_index',
  'updated_at',
  'wake_at',
  'definition',
  'askers',
] as const satisfies readonly (keyof RunsTable)[];

export function updateValues({ attempt, texts }: RunWrite, update: RunUpdate): ColumnValue[] {
  return [
    attempt,
    update.status,
    jsonOrNull(update.result, texts?.idOf),
    update.leaseOwner,
    update.leaseExpiresAt,
    update.nextEventIndex,
    update.updatedAt,
    update.wakeAt,
    update.definition,
    JSON.stringify(update.askers),
  ];
}

/** When the run became what the write says. */
export function changedAt({ insert, update }: RunWrite): number {
  return (update ?? insert)?.updatedAt ?? Date.now();
}

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

export function stepValues(step: StepRecord, idOf: TextIds): ColumnValue[] {
  return [
    step.runId,
    step.seq,
    step.key,
    step.kind,
    step.name,
    step.parentKey,
    step.status,
    step.attempt,
    jsonOrNull(step.input, idOf),
    jsonOrNull(step.output, idOf),
    jsonOrNull(step.error),
    step.startedAt,
    step.endedAt,
  ];
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

/** A user as part of a key, which holds no null. No user's key is that of nobody. */
export function userKey(userId: string | null): string {
  return userId === null ? '-' : `u:${userId}`;
}

function jsonOrNull(value: unknown, idOf?: TextIds): string | null {
  // A member that was left out is stored like null: both read back as null.
  if (value === null || value === undefined) return null;
  return idOf !== undefined && holdsLongText(value) ? packed(value, idOf) : JSON.stringify(value);
}

function parsedOrNull(stored: string | null, runId: string, texts: TextLookup): Json {
  if (stored === null) return null;
  return isPacked(stored) ? unpacked(stored, (id) => texts(runId, id)) : JSON.parse(stored);
}
