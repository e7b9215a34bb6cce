import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Link } from '../../ui/link.js';
import { Page, PageHeader } from '../../ui/page-header.js';

export function TracePage() {
  const { client, address } = useConnection();
  const { traceId } = useParams({ from: '/traces/$traceId' });
  const query = useQuery({
    queryKey: ['trace', address, traceId],
    queryFn: ({ signal }) => client.traces.get(traceId, {}, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Trace" parent={<Link to="/traces">Traces</Link>} />
      <Loaded query={query}>{(found) => <JsonView value={found} depth={2} />}</Loaded>
    </Page>
  );
}
