import type { JsonObject } from '../../core/json.js';
import { pageOf } from '../../platform/http/request/pagination.js';
import { reply } from '../../platform/http/response/results.js';
import {
  type WireFormatSettings,
  wireFormatHeaders,
  wireFormatOf,
} from '../../platform/http/response/wire-format.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { approvalBodyOf, approvalStatusOf } from './approval-body.js';
import {
  approvalBody,
  approvalCount,
  approvalParams,
  approvalStatus,
  approvalsPage,
  countApprovalsQuery,
  type ListApprovalsQuery,
  listApprovalsQuery,
  resolveApprovalBody,
} from './schema.js';
import type { ApprovalsService } from './service.js';

export interface ApprovalServices {
  readonly approvals: ApprovalsService;
  readonly settings: WireFormatSettings;
}

const listApprovals = defineRoute({
  method: 'GET',
  path: '/approvals',
  operationId: 'list_approvals',
  scope: 'approvals:read',
  tag: 'Approvals',
  summary: 'List approvals',
  description:
    'Tool calls that wait for a decision or have one, newest first. A call must match all filters.',
  query: listApprovalsQuery,
  headers: wireFormatHeaders,
  responses: { 200: approvalsPage },
  handler: async ({ approvals, settings }: ApprovalServices, { query, caller, headers }) => {
    const { items, total } = await approvals.list(caller, filterOf(query), query);
    const format = wireFormatOf(settings, headers);
    return pageOf(
      items.map((approval) => approvalBodyOf(approval, format)),
      query,
      total,
    );
  },
});

const countApprovals = defineRoute({
  method: 'GET',
  path: '/approvals/count',
  operationId: 'get_approval_count',
  scope: 'approvals:read',
  tag: 'Approvals',
  summary: 'Count pending approvals',
  query: countApprovalsQuery,
  responses: { 200: approvalCount },
  handler: async ({ approvals }: ApprovalServices, { query, caller }) => ({
    count: await approvals.countPending(caller, query.user_id),
  }),
});

const getApproval = defineRoute({
  method: 'GET',
  path: '/approvals/:approval_id',
  operationId: 'get_approval',
  scope: 'approvals:read',
  tag: 'Approvals',
  summary: 'Get an approval',
  params: approvalParams,
  headers: wireFormatHeaders,
  responses: { 200: approvalBody },
  handler: async ({ approvals, settings }: ApprovalServices, { params, caller, headers }) =>
    approvalBodyOf(await approvals.get(caller, params.approval_id), wireFormatOf(settings, headers)),
});

const getApprovalStatus = defineRoute({
  method: 'GET',
  path: '/approvals/:approval_id/status',
  operationId: 'get_approval_status',
  scope: 'approvals:read',
  tag: 'Approvals',
  summary: 'Get the status of an approval',
  description: 'A small response for clients that poll.',
  params: approvalParams,
  responses: { 200: approvalStatus },
  handler: async ({ approvals }: ApprovalServices, { params, caller }) =>
    approvalStatusOf(await approvals.get(caller, params.approval_id)),
});

const resolveApproval = defineRoute({
  method: 'POST',
  path: '/approvals/:approval_id/resolve',
  operationId: 'resolve_approval',
  scope: 'approvals:write',
  tag: 'Approvals',
  summary: 'Approve or reject a call',
  description:
    'The first decision is final; later ones get 409. The run uses it when it is continued; deciding does not ' +
    'continue the run.',
  params: approvalParams,
  headers: wireFormatHeaders,
  body: resolveApprovalBody,
  responses: { 200: approvalBody },
  handler: async ({ approvals, settings }: ApprovalServices, { params, body, caller, headers }) => {
    const approval = await approvals.resolve(caller, params.approval_id, {
      status: body.status as 'approved' | 'rejected',
      resolvedBy: body.resolved_by ?? null,
      resolutionData: (body.resolution_data as JsonObject | null | undefined) ?? null,
    });
    return approvalBodyOf(approval, wireFormatOf(settings, headers));
  },
});

const deleteApproval = defineRoute({
  method: 'DELETE',
  path: '/approvals/:approval_id',
  operationId: 'delete_approval',
  scope: 'approvals:delete',
  tag: 'Approvals',
  summary: 'Delete an approval',
  description: 'Deletes the approval in any state. After that, the call can no longer be approved.',
  params: approvalParams,
  responses: { 204: { description: 'The approval is deleted.' } },
  handler: async ({ approvals }: ApprovalServices, { params, caller }) => {
    await approvals.delete(caller, params.approval_id);
    return reply(204);
  },
});

export const approvalRoutes: readonly Route<ApprovalServices>[] = [
  listApprovals,
  countApprovals,
  getApproval,
  getApprovalStatus,
  resolveApproval,
  deleteApproval,
];

function filterOf(query: ListApprovalsQuery) {
  return {
    status: query.status,
    sourceType: query.source_type,
    approvalType: query.approval_type,
    pauseType: query.pause_type,
    agentId: query.agent_id,
    teamId: query.team_id,
    workflowId: query.workflow_id,
    userId: query.user_id,
    scheduleId: query.schedule_id,
    runId: query.run_id,
  };
}
