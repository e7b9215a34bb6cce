import { pageOf } from '../../platform/http/request/pagination.js';
import { ResourceRoutes } from '../../platform/http/resource-routes.js';
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

const resource = new ResourceRoutes<ApprovalServices>('Approvals', 'approvals');

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

const countApprovals = resource.get({
  path: '/approvals/count',
  operationId: 'get_approval_count',
  summary: 'Count pending approvals',
  query: countApprovalsQuery,
  shows: approvalCount,
  handler: async ({ approvals }, { query, caller }) => ({
    count: await approvals.countPending(caller, query.user_id),
  }),
});

const getApproval = resource.get({
  path: '/approvals/:approval_id',
  operationId: 'get_approval',
  summary: 'Get an approval',
  params: approvalParams,
  headers: wireFormatHeaders,
  shows: approvalBody,
  handler: async ({ approvals, settings }, { params, caller, headers }) =>
    approvalBodyOf(await approvals.get(caller, params.approval_id), wireFormatOf(settings, headers)),
});

const getApprovalStatus = resource.get({
  path: '/approvals/:approval_id/status',
  operationId: 'get_approval_status',
  summary: 'Get the status of an approval',
  description: 'A small response for clients that poll.',
  params: approvalParams,
  shows: approvalStatus,
  handler: async ({ approvals }, { params, caller }) =>
    approvalStatusOf(await approvals.get(caller, params.approval_id)),
});

const resolveApproval = resource.act({
  path: '/approvals/:approval_id/resolve',
  operationId: 'resolve_approval',
  summary: 'Approve or reject a call',
  description:
    'The first decision is final; later ones get 409. The run uses it when it is continued; deciding does not ' +
    'continue the run.',
  params: approvalParams,
  headers: wireFormatHeaders,
  body: resolveApprovalBody,
  shows: approvalBody,
  handler: async ({ approvals, settings }, { params, body, caller, headers }) => {
    const approval = await approvals.resolve(caller, params.approval_id, {
      status: body.status === 'approved' ? 'approved' : 'rejected',
      resolvedBy: body.resolved_by ?? null,
      resolutionData: body.resolution_data ?? null,
    });
    return approvalBodyOf(approval, wireFormatOf(settings, headers));
  },
});

const deleteApproval = resource.remove({
  path: '/approvals/:approval_id',
  operationId: 'delete_approval',
  summary: 'Delete an approval',
  description: 'Deletes the approval in any state. After that, the call can no longer be approved.',
  params: approvalParams,
  gone: 'The approval is deleted.',
  handler: ({ approvals }, { params, caller }) => approvals.delete(caller, params.approval_id),
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
