import type { JsonObject } from '../../core/json.js';
import { statusIn, type WireFormat } from '../../platform/http/response/wire-format.js';
import type { Approval } from './store.js';

/** An approval in the form of the wire: every field, nulls too. */
export function approvalBodyOf(approval: Approval, format: WireFormat = 'runyard'): JsonObject {
  const { sourceType, componentId, toolName, sourceName, requirement, runStatus } = approval;
  return {
    id: approval.approvalId,
    run_id: approval.runId,
    session_id: approval.sessionId,
    status: approval.status,
    source_type: sourceType,
    approval_type: approval.approvalType,
    pause_type: approval.pauseType,
    tool_name: toolName,
    tool_args: approval.toolArgs,
    expires_at: secondsOf(approval.expiresAt),
    agent_id: sourceType === 'agent' ? componentId : null,
    team_id: sourceType === 'team' ? componentId : null,
    workflow_id: sourceType === 'workflow' ? componentId : null,
    user_id: approval.userId,
    schedule_id: approval.scheduleId,
    schedule_run_id: approval.scheduleRunId,
    source_name: sourceName,
    requirements: requirement === null ? null : [requirement],
    context: { tool_names: [toolName], source_name: sourceName },
    resolution_data: approval.resolutionData,
    resolved_by: approval.resolvedBy,
    resolved_at: secondsOf(approval.resolvedAt),
    created_at: secondsOf(approval.createdAt),
    updated_at: secondsOf(approval.updatedAt),
    run_status: runStatus === null ? null : statusIn(format, runStatus),
  };
}

export function approvalStatusOf(approval: Approval): JsonObject {
  return {
    approval_id: approval.approvalId,
    status: approval.status,
    run_id: approval.runId,
    resolved_at: secondsOf(approval.resolvedAt),
    resolved_by: approval.resolvedBy,
  };
}

function secondsOf(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.floor(milliseconds / 1000);
}
