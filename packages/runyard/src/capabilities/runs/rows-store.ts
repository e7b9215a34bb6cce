import type { Json } from '../../core/json.js';
import type { RunUpdate, RunWrite } from '../../core/runs/ports.js';
import type {
  Run,
  RunInput,
  RunKind,
  RunLineage,
  RunResult,
  RunStatus,
  StepKind,
  StepRecord,
} from '../../core/runs/run.js';
import type { RunsTable, StepsTable } from '../../platform/storage/schema.js';

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

export function runValues(run: Run): ColumnValue[] {
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
    jsonOrNull(run.result),
    run.attempt,
    run.leaseOwner,
    run.leaseExpiresAt,
    run.nextEventIndex,
    run.updatedAt,
    jsonOrNull(run.lineage),
    run.wakeAt,
    run.traceParent,
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
] as const satisfies readonly (keyof RunsTable)[];

export function updateValues({ attempt }: RunWrite, update: RunUpdate): ColumnValue[] {
  return [
    attempt,
    update.status,
    jsonOrNull(update.result),
    update.leaseOwner,
    update.leaseExpiresAt,
    update.nextEventIndex,
    update.updatedAt,
    update.wakeAt,
  ];
}

/** When the run became what the write says. */
export function changedAt({ insert, update }: RunWrite): number {
  return (update ?? insert)?.updatedAt ?? Date.now();
}

export function runFromRow(row: RunsTable): Run {
  return {
    runId: row.run_id,
    kind: row.kind as RunKind,
    componentId: row.component_id,
    componentName: row.component_name,
    sessionId: row.session_id,
    userId: row.user_id,
    parentRunId: row.parent_run_id,
    model: row.model,
    modelProvider: row.model_provider,
    input: JSON.parse(row.input) as RunInput,
    createdAt: row.created_at,
    status: row.status as RunStatus,
    result: row.result === null ? null : (JSON.parse(row.result) as RunResult),
    attempt: row.attempt,
    leaseOwner: row.lease_owner,
    leaseExpiresAt: row.lease_expires_at,
    nextEventIndex: row.next_event_index,
    updatedAt: row.updated_at,
    wakeAt: row.wake_at,
    lineage: row.lineage === null ? null : (JSON.parse(row.lineage) as RunLineage),
    traceParent: row.trace_parent,
  };
}

export function stepValues(step: StepRecord): ColumnValue[] {
  return [
    step.runId,
    step.seq,
    step.key,
    step.kind,
    step.name,
    step.parentKey,
    step.status,
    step.attempt,
    jsonOrNull(step.input),
    jsonOrNull(step.output),
    jsonOrNull(step.error),
    step.startedAt,
    step.endedAt,
  ];
}

export function stepFromRow(row: StepsTable): StepRecord {
  return {
    runId: row.run_id,
    seq: row.seq,
    key: row.key,
    kind: row.kind as StepKind,
    name: row.name,
    parentKey: row.parent_key,
    status: row.status as StepRecord['status'],
    attempt: row.attempt,
    input: parsedOrNull(row.input),
    output: parsedOrNull(row.output),
    error: parsedOrNull(row.error),
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

/** A user as part of a key, which holds no null. No user's key is that of nobody. */
export function userKey(userId: string | null): string {
  return userId === null ? '-' : `u:${userId}`;
}

function jsonOrNull(value: unknown): string | null {
  // A member that was left out is stored like null: both read back as null.
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function parsedOrNull(text: string | null): Json {
  return text === null ? null : (JSON.parse(text) as Json);
}
