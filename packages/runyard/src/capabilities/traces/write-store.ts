import type { RunWrite } from '../../core/runs/journal/ports.js';
import type { Run } from '../../core/runs/run.js';
import { runSpanName, statusOfRun, traceIdOf } from '../../core/traces/span.js';
import type { Statement, WriteRow } from '../../platform/storage/database.js';
import type { BatchSection } from '../../platform/storage/postgres/batch.js';
import type { TracesTable } from './tables.js';

/*
 * How the trace of a run changes together with the run: rows of its unit on SQLite, sections of its batch on
 * PostgreSQL. The row only says that the run happened; what it did is in its journal.
 */

const columns = [
  ['run_id', 'text'],
  ['trace_id', 'text'],
  ['name', 'text'],
  ['status', 'text'],
  ['kind', 'text'],
  ['component_id', 'text'],
  ['session_id', 'text'],
  ['user_id', 'text'],
  ['start_time', 'bigint'],
  ['end_time', 'bigint'],
] as const satisfies readonly (readonly [keyof TracesTable, string])[];

const names = columns.map(([name]) => name);

/**
 * A run whose session was deleted leaves its trace, and its id may be chosen again. One that goes on may have none any
 * more, or never had one: it was copied with its session.
 */
const replacing = `ON CONFLICT (run_id) DO UPDATE SET ${names
  .slice(1)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')}`;

export const beginTraces: BatchSection = {
  name: 'begun_traces',
  columns,
  sql: (from) => `
    INSERT INTO traces (${names.join(', ')}) SELECT ${names.map((name) => `given.${name}`).join(', ')}
    FROM ${from} ORDER BY given.run_id ${replacing}`,
};

export const changeTraces: BatchSection = {
  name: 'changed_traces',
  columns: [
    ['run_id', 'text'],
    ['status', 'text'],
    ['end_time', 'bigint'],
  ],
  sql: (from) => `
    UPDATE traces SET status = given.status, end_time = given.end_time
    FROM ${from} WHERE traces.run_id = given.run_id`,
};

/** Ends the traces of runs that are removed with their sessions: no process writes to them again. */
export const endTracesOfSessions: Statement = {
  name: 'end_traces_of_sessions',
  sqlite: `UPDATE traces SET status = 'OK', end_time = max(start_time, ?1)
    WHERE session_id IN (SELECT value FROM json_each(?2)) AND status = 'UNSET'`,
  postgres: `UPDATE traces SET status = 'OK', end_time = greatest(start_time, $1)
    WHERE session_id = ANY($2::text[]) AND status = 'UNSET'`,
};

const beginTrace = `INSERT INTO traces (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ${replacing}`;
const changeTrace = 'UPDATE traces SET status = ?, end_time = ? WHERE run_id = ?';

export function sqliteTraceRows(write: RunWrite): WriteRow[] {
  const { begun, changed } = traceRows([write]);
  return [
    ...begun.map((parameters) => ({ sql: beginTrace, parameters })),
    ...changed.map(([runId, status, at]) => ({ sql: changeTrace, parameters: [status, at, runId] })),
  ];
}

/** The traces that begin with these writes, and those that come to rest or go on. */
export function traceRows(writes: readonly RunWrite[]): {
  begun: (string | number | null)[][];
  changed: [string, string, number][];
} {
  return {
    begun: writes.flatMap(({ insert, steps, claims }) => {
      const run = steps.some(({ kind }) => kind === 'introduction') ? undefined : (insert ?? claims?.run);
      return run && isTraced(run) ? [traceValues(run)] : [];
    }),
    changed: writes.flatMap(({ runId, update, claims }) =>
      update && claims?.run === undefined && (claims || statusOfRun(update) !== 'UNSET')
        ? [[runId, statusOfRun(update), update.updatedAt] as [string, string, number]]
        : [],
    ),
  };
}

/** A nested run is part of the trace of its parent. */
function isTraced({ parentRunId }: Run): boolean {
  return parentRunId === null;
}

function traceValues(run: Run): (string | number | null)[] {
  return [
    run.runId,
    traceIdOf(run),
    runSpanName(run),
    statusOfRun(run),
    run.kind,
    run.componentId,
    run.sessionId,
    run.userId,
    run.createdAt,
    run.updatedAt,
  ];
}
