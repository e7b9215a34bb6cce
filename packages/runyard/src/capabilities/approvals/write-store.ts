import type { ApprovalRecord, ApprovalWrite } from '../../core/runs/approval.js';
import type { Statement, WriteRow } from '../../platform/storage/database.js';
import type { BatchSection } from '../../platform/storage/postgres/batch.js';
import type { ApprovalsTable } from './tables.js';

/*
 * How the approvals of a run change together with the run: rows of its unit on SQLite, sections of its batch on
 * PostgreSQL.
 */

const columns = [
  ['approval_id', 'text'],
  ['run_id', 'text'],
  ['session_id', 'text'],
  ['source_type', 'text'],
  ['component_id', 'text'],
  ['source_name', 'text'],
  ['user_id', 'text'],
  ['approval_type', 'text'],
  ['pause_type', 'text'],
  ['status', 'text'],
  ['tool_name', 'text'],
  ['tool_args', 'text'],
  ['requirement', 'text'],
  ['resolution_data', 'text'],
  ['resolved_by', 'text'],
  ['resolved_at', 'bigint'],
  ['expires_at', 'bigint'],
  ['created_at', 'bigint'],
  ['updated_at', 'bigint'],
] as const satisfies readonly (readonly [keyof ApprovalsTable, string])[];

const names = columns.map(([name]) => name);

export const recordApprovals: BatchSection = {
  name: 'recorded_approvals',
  columns,
  sql: (from) => `
    INSERT INTO approvals (${names.join(', ')}) SELECT ${names.map((name) => `given.${name}`).join(', ')}
    FROM ${from} ORDER BY given.approval_id ON CONFLICT (approval_id) DO NOTHING`,
};

export const cancelApprovals: BatchSection = {
  name: 'cancelled_approvals',
  columns: [
    ['run_id', 'text'],
    ['at', 'bigint'],
  ],
  sql: (from) => `
    UPDATE approvals SET status = 'cancelled', updated_at = given.at
    FROM ${from} WHERE approvals.run_id = given.run_id AND approvals.status = 'pending'`,
};

const recordApproval = `
  INSERT INTO approvals (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
  ON CONFLICT (approval_id) DO NOTHING`;

const cancelApprovalsOfRun = `
  UPDATE approvals SET status = 'cancelled', updated_at = ? WHERE run_id = ? AND status = 'pending'`;

export function sqliteApprovalRows(runId: string, writes: readonly ApprovalWrite[]): WriteRow[] {
  return writes.map((write) =>
    write.kind === 'record'
      ? { sql: recordApproval, parameters: approvalValues(write.approval, write.approval.createdAt) }
      : { sql: cancelApprovalsOfRun, parameters: [write.at, runId] },
  );
}

/** What a write records and cancels, as if its parts had come one after the other. */
export function approvalRows(
  runId: string,
  writes: readonly ApprovalWrite[],
): { recorded: unknown[][]; cancelled: unknown[][] } {
  const cancelledAt = (position: number) => writes.slice(position).find(isCancellation)?.at;
  const recorded = writes.flatMap((write, position) => {
    if (write.kind !== 'record') return [];
    const { approval } = write;
    // The section that cancels does not see what another one of the same statement inserts.
    const at = approval.status === 'pending' ? cancelledAt(position) : undefined;
    return [
      at === undefined
        ? approvalValues(approval, approval.createdAt)
        : approvalValues({ ...approval, status: 'cancelled' }, at),
    ];
  });
  const first = writes.find(isCancellation);
  return { recorded, cancelled: first ? [[runId, first.at]] : [] };
}

function isCancellation(write: ApprovalWrite): write is Extract<ApprovalWrite, { kind: 'cancel_pending' }> {
  return write.kind === 'cancel_pending';
}

function approvalValues(approval: ApprovalRecord, updatedAt: number): (string | number | null)[] {
  return [
    approval.approvalId,
    approval.runId,
    approval.sessionId,
    approval.sourceType,
    approval.componentId,
    approval.sourceName,
    approval.userId,
    approval.approvalType,
    approval.pauseType,
    approval.status,
    approval.toolName,
    JSON.stringify(approval.toolArgs),
    approval.requirement && JSON.stringify(approval.requirement),
    approval.resolutionData && JSON.stringify(approval.resolutionData),
    approval.resolvedBy,
    approval.resolvedAt,
    approval.expiresAt,
    approval.createdAt,
    updatedAt,
  ];
}

/** Of sessions that are about to be removed: nobody is to decide on a call that will never be made. */
export const cancelApprovalsOfSessions: Statement = {
  name: 'cancel_approvals_of_sessions',
  sqlite: `
    UPDATE approvals SET status = 'cancelled', updated_at = ?1 WHERE status = 'pending'
      AND run_id IN (SELECT run_id FROM runs WHERE session_id IN (SELECT value FROM json_each(?2)))`,
  postgres: `
    UPDATE approvals SET status = 'cancelled', updated_at = $1 WHERE status = 'pending'
      AND run_id IN (SELECT run_id FROM runs WHERE session_id = ANY($2::text[]))`,
};
