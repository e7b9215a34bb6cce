import type { RequirementBody } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useConnection, useMay } from '../../../connection/use-connection.js';
import { Button } from '../../../ui/button.js';
import { Link } from '../../../ui/link.js';
import { Arguments, titleOf } from './call-facts.js';
import { PauseCard } from './pause-card.js';

const lookMs = 2_000;

/** A call that an approver decides about. The run continues by itself when that is done. */
export function ApprovalCard({
  requirement,
  proceed,
}: {
  readonly requirement: RequirementBody;
  proceed(): Promise<unknown>;
}) {
  const { client, address } = useConnection();
  const may = useMay();
  const approvalId = requirement.tool_execution.approval_id ?? '';
  const { data, error } = useQuery({
    queryKey: ['approvals', address, 'status', approvalId],
    queryFn: ({ signal }) => client.approvals.getStatus(approvalId, { signal }),
    refetchInterval: ({ state }) => (isPending(state.data?.status) ? lookMs : false),
    enabled: approvalId !== '' && may('approvals:read'),
  });
  const decided = data !== undefined && !isPending(data.status);
  // who opens the page of a run that was decided before may be the approver: continuing is left to them
  const waited = useRef(false);
  useEffect(() => {
    if (data !== undefined && !decided) waited.current = true;
    if (!decided || !waited.current) return;
    waited.current = false;
    // if it fails, the button is there
    proceed().catch(() => undefined);
  }, [data, decided, proceed]);
  return (
    <PauseCard
      title={titleOf(requirement, 'needs an approval')}
      detail={
        <>
          {decided
            ? `Decided: ${data.status}.`
            : 'The run waits until an approver decides, and then continues by itself. '}
          {!decided && may('approvals:read') && (
            <Link to="/approvals" search={{ approval: approvalId }}>
              Open the approval
            </Link>
          )}
        </>
      }
      onSubmit={proceed}
      actions={
        // without the right to look, a person asks whether the decision was made
        decided || error || !may('approvals:read')
          ? (busy) => (
              <Button type="submit" busy={busy}>
                Continue
              </Button>
            )
          : undefined
      }
    >
      <Arguments requirement={requirement} />
    </PauseCard>
  );
}

function isPending(status: string | undefined): boolean {
  return status === undefined || status.toLowerCase() === 'pending';
}
