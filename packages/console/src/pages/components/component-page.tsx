import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Link } from '../../ui/link.js';
import { Page, PageHeader } from '../../ui/page-header.js';

export function ComponentPage() {
  const { client, address } = useConnection();
  const { componentId } = useParams({ from: '/components/$componentId' });
  const query = useQuery({
    queryKey: ['stored-component', address, componentId],
    queryFn: ({ signal }) => client.components.get(componentId, {}, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Component" parent={<Link to="/components">Components</Link>} />
      <Loaded query={query}>{(found) => <JsonView value={found} depth={2} />}</Loaded>
    </Page>
  );
}
