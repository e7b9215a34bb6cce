import type { RunWrite } from '../../core/runs/journal/ports.js';
import type { Run } from '../../core/runs/run.js';
import { runSpanName, statusOfRun, traceIdOf } from '../../core/traces/span.js';
import type { Statement } from '../../platform/storage/database.js';
import {
  columnsOf,
  type Fields,
  noRows,
  type PlanBuilder,
  type RowInsert,
  type Rows,
  type RowUpdate,
  rowsOf,
  valuesOf,
} from '../../platform/storage/write-plan.js';
import type { TracesTable } from './tables.js';

/** The row only says that the run happened; what it did is in its journal. */
const fields: Fields<TracesTable, [run: Run]> = [
  ['run_id', (run) => run.runId],
  ['trace_id', (run) => traceIdOf(run)],
  ['name', (run) => runSpanName(run)],
  ['status', (run) => statusOfRun(run)],
  ['kind', (run) => run.kind],
  ['component_id', (run) => run.componentId],
  ['session_id', (run) => run.sessionId],
  ['user_id', (run) => run.userId],
  ['start_time bigint', (run) => run.createdAt],
  ['end_time bigint', (run) => run.updatedAt],
];

/**
 * A run whose session was deleted leaves its trace, and its id may be chosen again. One that continues may have lost
 * its trace, or never had one: it was copied with its session.
 */
const beginTraces: RowInsert = {
  does: 'insert',
  name: 'begun_traces',
  table: 'traces',
  columns: columnsOf(fields),
  key: ['run_id'],
  conflict: 'replace',
};

const changeTraces: RowUpdate = {
  does: 'update',
  name: 'changed_traces',
  table: 'traces',
  columns: ['run_id', 'status', 'end_time bigint'],
  set: { status: 'given.status', end_time: 'given.end_time' },
  where: 'stored.run_id = given.run_id',
};

/** The traces that begin with these writes, and those that pause, end or continue. */
export function addTraceEffects(plan: PlanBuilder, writes: readonly RunWrite[]): void {
  plan.effect(beginTraces, rowsOf(writes, begun));
  plan.effect(changeTraces, rowsOf(writes, changed));
}

function begun({ insert, steps, claims }: RunWrite): Rows {
  const run = insert ?? claims?.run;
  // A nested run is part of the trace of its parent.
  if (run?.parentRunId !== null || steps.some(({ kind }) => kind === 'introduction')) return noRows;
  return [valuesOf(fields, run)];
}

function changed({ runId, update, claims }: RunWrite): Rows {
  if (!update || claims?.run !== undefined) return noRows;
  const status = statusOfRun(update);
  return claims || status !== 'UNSET' ? [[runId, status, update.updatedAt]] : noRows;
}

/** Ends the traces of runs that are removed with their sessions: no process writes to them again. */
export const endTracesOfSessions: Statement = {
  name: 'end_traces_of_sessions',
  sqlite: `UPDATE traces SET status = 'OK', end_time = max(start_time, ?1)
    WHERE session_id IN (SELECT value FROM json_each(?2)) AND status = 'UNSET'`,
  postgres: `UPDATE traces SET status = 'OK', end_time = greatest(start_time, $1)
    WHERE session_id = ANY($2::text[]) AND status = 'UNSET'`,
};
