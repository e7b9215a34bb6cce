import type { WorkflowSummary } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import { Badge } from '../../ui/badge.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';

const columns: readonly Column<WorkflowSummary>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name },
  {
    id: 'description',
    header: 'Description',
    grow: true,
    hideBelow: 'sm',
    cell: ({ description }) => <span className="line-clamp-2 text-muted">{description}</span>,
  },
  {
    id: 'kind',
    header: 'From',
    cell: ({ is_factory, is_component, current_version, degraded }) => (
      <span className="inline-flex gap-1">
        <Badge>{is_component ? `version ${current_version ?? '–'}` : is_factory ? 'factory' : 'code'}</Badge>
        {degraded && (
          <Badge tone="danger">
            <span title={degraded}>cannot run</span>
          </Badge>
        )}
      </span>
    ),
  },
];

export function WorkflowsPage() {
  const { client, address } = useConnection();
  const workflows = useQuery({
    queryKey: ['workflows', address],
    queryFn: ({ signal }) => client.workflows.list({ signal }),
  });
  return (
    <Page>
      <PageHeader title="Workflows" description="Steps in a fixed order, with branches and loops." />
      <DataTable
        label="Workflows"
        columns={columns}
        rows={workflows.data}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/workflows/$workflowId', params: { workflowId: id } })}
        error={workflows.error}
        onRetry={() => void workflows.refetch()}
        empty={
          <EmptyState title="No workflows">
            Register one in the code of the service, or create one under Components.
          </EmptyState>
        }
      />
    </Page>
  );
}
