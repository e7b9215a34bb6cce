import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Link } from '../../ui/link.js';
import { Page, PageHeader } from '../../ui/page-header.js';

export function SchedulePage() {
  const { client, address } = useConnection();
  const { scheduleId } = useParams({ from: '/schedules/$scheduleId' });
  const query = useQuery({
    queryKey: ['schedule', address, scheduleId],
    queryFn: ({ signal }) => client.schedules.get(scheduleId, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Schedule" parent={<Link to="/schedules">Schedules</Link>} />
      <Loaded query={query}>{(found) => <JsonView value={found} depth={2} />}</Loaded>
    </Page>
  );
}
