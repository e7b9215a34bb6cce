import type { Run, TeamRun, WorkflowRun } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { StatusBadge } from '../../ui/badge.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Time } from '../../ui/format/time.js';
import { KeyValue } from '../../ui/key-value.js';
import { Link } from '../../ui/link.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { Panel } from '../../ui/panel.js';

export function RunPage() {
  const { client, address } = useConnection();
  const { kind, componentId, runId } = useParams({ from: '/runs/$kind/$componentId/$runId' });
  const run = useQuery({
    queryKey: ['run', address, kind, componentId, runId],
    queryFn: ({ signal }): Promise<Run | TeamRun | WorkflowRun> => {
      if (kind === 'team') return client.teams.getRun(componentId, runId, {}, { signal });
      if (kind === 'workflow') return client.workflows.getRun(componentId, runId, {}, { signal });
      return client.agents.getRun(componentId, runId, {}, { signal });
    },
  });
  return (
    <Page>
      <PageHeader title="Run" parent={<Link to="/runs">Runs</Link>} />
      <Loaded query={run}>
        {(found) => (
          <div className="flex flex-col gap-4">
            <Panel>
              <KeyValue
                entries={[
                  ['Status', <StatusBadge key="status" status={found.status} />],
                  ['Started', <Time key="time" at={found.created_at} style="absolute" />],
                  ['Run', <code key="run">{found.run_id}</code>],
                  ['Session', <code key="session">{found.session_id}</code>],
                  ['User', found.user_id],
                ]}
              />
            </Panel>
            <JsonView value={found} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}
