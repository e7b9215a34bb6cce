import type { ApprovalRecord, ApprovalWrite } from '../../core/runs/approval.js';
import type { RunWrite } from '../../core/runs/journal/ports.js';
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
import type { ApprovalsTable } from './tables.js';

const fields: Fields<ApprovalsTable, [approval: ApprovalRecord, updatedAt: number]> = [
  ['approval_id', (approval) => approval.approvalId],
  ['run_id', (approval) => approval.runId],
  ['session_id', (approval) => approval.sessionId],
  ['source_type', (approval) => approval.sourceType],
  ['component_id', (approval) => approval.componentId],
  ['source_name', (approval) => approval.sourceName],
  ['user_id', (approval) => approval.userId],
  ['schedule_id', (approval) => approval.scheduleId],
  ['schedule_run_id', (approval) => approval.scheduleRunId],
  ['approval_type', (approval) => approval.approvalType],
  ['pause_type', (approval) => approval.pauseType],
  ['status', (approval) => approval.status],
  ['tool_name', (approval) => approval.toolName],
  ['tool_args', (approval) => JSON.stringify(approval.toolArgs)],
  ['requirement', (approval) => approval.requirement && JSON.stringify(approval.requirement)],
  ['resolution_data', (approval) => approval.resolutionData && JSON.stringify(approval.resolutionData)],
  ['resolved_by', (approval) => approval.resolvedBy],
  ['resolved_at bigint', (approval) => approval.resolvedAt],
  ['expires_at bigint', (approval) => approval.expiresAt],
  ['created_at bigint', (approval) => approval.createdAt],
  ['updated_at bigint', (_, updatedAt) => updatedAt],
];

const recordApprovals: RowInsert = {
  does: 'insert',
  name: 'recorded_approvals',
  table: 'approvals',
  columns: columnsOf(fields),
  key: ['approval_id'],
  conflict: 'keep',
};

const cancelApprovals: RowUpdate = {
  does: 'update',
  name: 'cancelled_approvals',
  table: 'approvals',
  columns: ['run_id', 'at bigint'],
  set: { status: `'cancelled'`, updated_at: 'given.at' },
  where: `stored.run_id = given.run_id AND stored.status = 'pending'`,
};

/** What is recorded and cancelled with runs, as if the parts of a write had come one after the other. */
export function addApprovalEffects(plan: PlanBuilder, writes: readonly RunWrite[]): void {
  // First: it cancels nothing that comes after it.
  plan.effect(cancelApprovals, rowsOf(writes, cancelled));
  plan.effect(recordApprovals, rowsOf(writes, recorded));
}

function cancelled({ runId, approvals }: RunWrite): Rows {
  const first = approvals?.find(isCancellation);
  return first ? [[runId, first.at]] : noRows;
}

function recorded({ approvals }: RunWrite): Rows {
  if (approvals === undefined) return noRows;
  return approvals.flatMap((write, position) => {
    if (write.kind !== 'record') return [];
    const { approval } = write;
    // What cancels does not see what the same statement inserts.
    const at = approval.status === 'pending' ? approvals.slice(position).find(isCancellation)?.at : undefined;
    return [
      at === undefined
        ? valuesOf(fields, approval, approval.createdAt)
        : valuesOf(fields, { ...approval, status: 'cancelled' }, at),
    ];
  });
}

function isCancellation(write: ApprovalWrite): write is Extract<ApprovalWrite, { kind: 'cancel_pending' }> {
  return write.kind === 'cancel_pending';
}

/** Of sessions that are about to be removed, so that no caller decides on a call that will never be made. */
export const cancelApprovalsOfSessions: Statement = {
  name: 'cancel_approvals_of_sessions',
  sqlite: `
    UPDATE approvals SET status = 'cancelled', updated_at = ?1 WHERE status = 'pending'
      AND run_id IN (SELECT run_id FROM runs WHERE session_id IN (SELECT value FROM json_each(?2)))`,
  postgres: `
    UPDATE approvals SET status = 'cancelled', updated_at = $1 WHERE status = 'pending'
      AND run_id IN (SELECT run_id FROM runs WHERE session_id = ANY($2::text[]))`,
};
