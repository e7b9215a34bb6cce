import type { Approval, Kind } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { StatusBadge } from '../../ui/badge.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Time } from '../../ui/format/time.js';
import { KeyValue } from '../../ui/key-value.js';
import { Link } from '../../ui/link.js';
import { Drawer } from '../../ui/overlay/dialog.js';
import { Decision } from './decision.js';

const refreshMs = 4_000;

/** One approval, with the decision if it is still to be made. */
export function ApprovalDrawer({ id, onClose }: { readonly id: string; onClose(): void }) {
  const { client, address } = useConnection();
  const query = useQuery({
    queryKey: ['approvals', address, 'one', id],
    queryFn: ({ signal }) => client.approvals.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? refreshMs : false),
  });
  return (
    <Drawer open title="Approval" onClose={onClose}>
      <Loaded query={query}>
        {(approval) => (
          <div className="flex flex-col gap-4">
            <Facts approval={approval} />
            <div>
              <p className="mb-1 text-xs font-medium text-muted">Arguments</p>
              <JsonView value={approval.tool_args} depth={2} />
            </div>
            {approval.status === 'pending' ? (
              <Decision approval={approval} />
            ) : (
              approval.resolution_data && (
                <div>
                  <p className="mb-1 text-xs font-medium text-muted">Decision</p>
                  <JsonView value={approval.resolution_data} />
                </div>
              )
            )}
          </div>
        )}
      </Loaded>
    </Drawer>
  );
}

function Facts({ approval }: { readonly approval: Approval }) {
  const { tool_name, status, source_name, user_id, created_at, expires_at, resolved_by, resolved_at } =
    approval;
  const place = placeOf(approval);
  return (
    <KeyValue
      entries={[
        [
          'Call',
          <code key="tool" className="font-mono">
            {tool_name}
          </code>,
        ],
        ['Status', <StatusBadge key="status" status={status} />],
        ['From', source_name ?? approval.source_type],
        ['Requested by', user_id],
        ['Requested', <Time key="created" at={created_at} style="absolute" />],
        ['Expires', expires_at && <Time key="expires" at={expires_at} style="absolute" />],
        ['Decided by', resolved_by],
        ['Decided', resolved_at && <Time key="resolved" at={resolved_at} style="absolute" />],
        ['Run', approval.run_status && <StatusBadge key="run" status={approval.run_status} />],
        [
          'Open',
          place && (
            <span key="open" className="flex gap-3">
              <Link
                to="/chat/$kind/$componentId"
                params={place}
                search={{ session: approval.session_id, run: approval.run_id }}
              >
                Conversation
              </Link>
              <Link to="/runs/$kind/$componentId/$runId" params={{ ...place, runId: approval.run_id }}>
                Run
              </Link>
            </span>
          ),
        ],
      ]}
    />
  );
}

/** Which component the run belongs to. */
function placeOf({
  agent_id,
  team_id,
  workflow_id,
}: Approval): { kind: Kind; componentId: string } | undefined {
  if (workflow_id) return { kind: 'workflow', componentId: workflow_id };
  if (team_id) return { kind: 'team', componentId: team_id };
  return agent_id ? { kind: 'agent', componentId: agent_id } : undefined;
}
