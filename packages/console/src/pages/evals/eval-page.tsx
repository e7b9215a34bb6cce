import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Link } from '../../ui/link.js';
import { Page, PageHeader } from '../../ui/page-header.js';

export function EvalPage() {
  const { client, address } = useConnection();
  const { evalId } = useParams({ from: '/evals/$evalId' });
  const query = useQuery({
    queryKey: ['eval', address, evalId],
    queryFn: ({ signal }) => client.evals.get(evalId, {}, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Eval" parent={<Link to="/evals">Evals</Link>} />
      <Loaded query={query}>{(found) => <JsonView value={found} depth={2} />}</Loaded>
    </Page>
  );
}
