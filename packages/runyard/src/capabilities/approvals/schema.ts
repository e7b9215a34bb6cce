import { z } from 'zod';
import type { Json } from '../../core/json.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { largestPage, pageBody, pageQuery } from '../../platform/http/request/pagination.js';

export const approvalParams = lazyObject(() => ({
  approval_id: z.string().meta({ description: 'The identifier of the approval.' }),
}));

const user = lazySchema(() => z.string().optional(), {
  description: 'Only approvals that this user requested. Ignored for callers who see only their own.',
});

export const listApprovalsQuery = lazyObject(() => ({
  status: z
    .literal(['pending', 'approved', 'rejected', 'expired', 'cancelled'])
    .optional()
    .meta({ description: 'Only approvals in this state.', examples: ['pending'] }),
  source_type: z
    .string()
    .optional()
    .meta({ description: 'Only approvals of runs of this kind: agent, team or workflow.' }),
  approval_type: z
    .literal(['required', 'audit'])
    .optional()
    .meta({ description: 'required: a person must decide; audit: the decision is only recorded.' }),
  pause_type: z
    .string()
    .optional()
    .meta({ description: 'What the call waits for: confirmation, user_input or external_execution.' }),
  agent_id: z.string().optional().meta({ description: 'Only approvals of this agent.' }),
  team_id: z.string().optional().meta({ description: 'Only approvals of this team.' }),
  workflow_id: z.string().optional().meta({ description: 'Only approvals of this workflow.' }),
  user_id: user,
  schedule_id: z.string().optional().meta({ description: 'Only approvals of runs of this schedule.' }),
  run_id: z.string().optional().meta({ description: 'Only approvals of this run.' }),
  ...pageQuery({ default: 100, max: largestPage }),
}));

export type ListApprovalsQuery = z.output<typeof listApprovalsQuery>;

export const countApprovalsQuery = lazyObject(() => ({ user_id: user }));

export const resolveApprovalBody = lazyObject(
  () => ({
    status: z
      .string()
      .regex(/^(approved|rejected)$/)
      .meta({ description: 'approved: the call may be executed; rejected: it is not.' }),
    resolved_by: z
      .string()
      .max(255)
      .nullish()
      .meta({ description: 'Who decides. The identity in the token of the caller overrides it.' }),
    resolution_data: z
      .record(z.string(), z.custom<Json>())
      .nullish()
      .meta({
        description:
          'Data of the decision: for user_input, values by field name (also under values); for ' +
          'external_execution, the result.',
      }),
  }),
  {
    id: 'ApprovalResolve',
    description: 'A decision on an approval.',
    examples: [{ status: 'approved', resolved_by: 'grace' }],
  },
);

const seconds = () => z.int().meta({ description: 'Seconds since 1970, UTC.' });
const object = () => z.looseObject({});

export const approvalBody = lazyObject(
  () => ({
    id: z.string(),
    run_id: z.string(),
    session_id: z.string(),
    status: z.string().meta({ description: 'pending, approved, rejected, expired or cancelled.' }),
    source_type: z.string().meta({ description: 'agent, team or workflow.' }),
    approval_type: z.string().meta({ description: 'required or audit.' }),
    pause_type: z.string().meta({ description: 'confirmation, user_input or external_execution.' }),
    tool_name: z.string(),
    tool_args: object().meta({ description: 'The arguments of the call.' }),
    expires_at: seconds().nullable(),
    agent_id: z.string().nullable(),
    team_id: z.string().nullable(),
    workflow_id: z.string().nullable(),
    user_id: z.string().nullable().meta({ description: 'The requester: the user that the run belongs to.' }),
    schedule_id: z.string().nullable(),
    schedule_run_id: z.string().nullable(),
    source_name: z.string().nullable(),
    requirements: z.array(object()).nullable(),
    context: object(),
    resolution_data: object().nullable(),
    resolved_by: z.string().nullable(),
    resolved_at: seconds().nullable(),
    created_at: seconds(),
    updated_at: seconds(),
    run_status: z
      .string()
      .nullable()
      .meta({ description: 'The current status of the run; null when the run is deleted.' }),
  }),
  { id: 'Approval', description: 'A tool call that waits for a decision or has one.' },
);

export const approvalsPage = pageBody(approvalBody, 'ApprovalsPage');

export const approvalCount = lazyObject(() => ({ count: z.int() }), {
  id: 'ApprovalCount',
  description: 'How many approvals wait for a decision.',
});

export const approvalStatus = lazyObject(
  () => ({
    approval_id: z.string(),
    status: z.string(),
    run_id: z.string(),
    resolved_at: seconds().nullable(),
    resolved_by: z.string().nullable(),
  }),
  { id: 'ApprovalStatus', description: 'The status of an approval.' },
);
