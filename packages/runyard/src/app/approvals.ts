import type { z } from 'zod';
import type {
  approvalBody,
  approvalCount,
  approvalsPage,
  countApprovalsQuery,
  listApprovalsQuery,
  resolveApprovalBody,
} from '../capabilities/approvals/schema.js';
import type { Calls } from './calls.js';
import type { Body, Query } from './given.js';
import { type Listing, pagesOf } from './listing.js';

export type Approval = z.output<typeof approvalBody>;
type Page = z.output<typeof approvalsPage>;
type Decision = Omit<Body<typeof resolveApprovalBody>, 'status'> & {
  readonly status: 'approved' | 'rejected';
};

/** Tool calls that a person decides on, as the operations at `/approvals` show them. */
export class Approvals {
  constructor(private readonly calls: Calls) {}

  list(query: Query<typeof listApprovalsQuery> = {}): Listing<Page, Approval> {
    return pagesOf(query, (paged) =>
      this.calls.body<typeof approvalsPage>('list_approvals', { query: paged }),
    );
  }

  get(approvalId: string): Promise<Approval> {
    return this.calls.body<typeof approvalBody>('get_approval', { params: of(approvalId) });
  }

  /** How many wait for a decision. */
  count(query: Query<typeof countApprovalsQuery> = {}): Promise<z.output<typeof approvalCount>> {
    return this.calls.body<typeof approvalCount>('get_approval_count', { query });
  }

  /** Decides on a call, once. The run uses the decision when it continues. */
  resolve(approvalId: string, body: Decision): Promise<Approval> {
    return this.calls.body<typeof approvalBody>('resolve_approval', { params: of(approvalId), body });
  }

  delete(approvalId: string): Promise<void> {
    return this.calls.body('delete_approval', { params: of(approvalId) });
  }
}

function of(approvalId: string) {
  return { approval_id: approvalId };
}
