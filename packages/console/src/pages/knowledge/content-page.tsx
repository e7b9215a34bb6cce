import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Link } from '../../ui/link.js';
import { Page, PageHeader } from '../../ui/page-header.js';

export function ContentPage() {
  const { client, address } = useConnection();
  const { contentId } = useParams({ from: '/knowledge/$contentId' });
  const query = useQuery({
    queryKey: ['content', address, contentId],
    queryFn: ({ signal }) => client.knowledge.getContentById(contentId, {}, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Document" parent={<Link to="/knowledge">Knowledge</Link>} />
      <Loaded query={query}>{(found) => <JsonView value={found} depth={2} />}</Loaded>
    </Page>
  );
}
