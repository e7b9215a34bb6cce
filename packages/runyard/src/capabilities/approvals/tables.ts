import type { ApprovalRecord } from '../../core/runs/approval.js';
import type { RunKind } from '../../core/runs/run.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    approvals: ApprovalsTable;
  }
}

export interface ApprovalsTable {
  approval_id: string;
  run_id: string;
  session_id: string;
  source_type: RunKind;
  component_id: string;
  source_name: string | null;
  user_id: string | null;
  approval_type: ApprovalRecord['approvalType'];
  pause_type: ApprovalRecord['pauseType'];
  status: ApprovalRecord['status'];
  tool_name: string;
  tool_args: string;
  requirement: string | null;
  resolution_data: string | null;
  resolved_by: string | null;
  resolved_at: number | null;
  expires_at: number | null;
  schedule_id: string | null;
  schedule_run_id: string | null;
  created_at: number;
  updated_at: number;
}
