import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Link } from '../../ui/link.js';
import { Page, PageHeader } from '../../ui/page-header.js';

export function WorkflowPage() {
  const { client, address } = useConnection();
  const { workflowId } = useParams({ from: '/workflows/$workflowId' });
  const query = useQuery({
    queryKey: ['workflow', address, workflowId],
    queryFn: ({ signal }) => client.workflows.get(workflowId, {}, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Workflow" parent={<Link to="/workflows">Workflows</Link>} />
      <Loaded query={query}>{(found) => <JsonView value={found} depth={2} />}</Loaded>
    </Page>
  );
}
