import type { DayMetrics } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import { formatCount, formatTokens } from '../../ui/format/numbers.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';

const columns: readonly Column<DayMetrics>[] = [
  { id: 'date', header: 'Day (UTC)', grow: true, cell: ({ date }) => date.slice(0, 10) },
  {
    id: 'runs',
    header: 'Runs',
    align: 'right',
    cell: (day) => formatCount(day.agent_runs_count + day.team_runs_count + day.workflow_runs_count),
  },
  { id: 'users', header: 'Users', align: 'right', cell: ({ users_count }) => formatCount(users_count) },
  {
    id: 'tokens',
    header: 'Tokens',
    align: 'right',
    cell: ({ token_metrics }) => formatTokens(token_metrics.total_tokens),
  },
];

export function MetricsPage() {
  const { client, address } = useConnection();
  const metrics = useQuery({
    queryKey: ['metrics', address],
    queryFn: ({ signal }) => client.metrics.list({}, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Metrics" description="Runs, users and tokens by day." />
      <DataTable
        label="Metrics by day"
        columns={columns}
        rows={metrics.data?.metrics.toReversed()}
        rowKey={({ date }) => date}
        error={metrics.error}
        onRetry={() => void metrics.refetch()}
        empty={<EmptyState title="Nothing was counted yet">Days appear here after the first run.</EmptyState>}
      />
    </Page>
  );
}
