import type { Approval } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { StatusBadge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { Pagination } from '../../ui/table/pagination.js';

const columns: readonly Column<Approval>[] = [
  { id: 'tool', header: 'Tool', grow: true, cell: ({ tool_name }) => tool_name },
  {
    id: 'source',
    header: 'From',
    hideBelow: 'sm',
    cell: ({ source_name, source_type }) => source_name ?? source_type,
  },
  { id: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { id: 'created', header: 'Requested', cell: ({ created_at }) => <Time at={created_at} /> },
];

export function ApprovalsPage() {
  const client = useClient();
  const list = usePaged<Approval>({
    key: ['approvals'],
    load: (page, signal) => client.approvals.list(page, { signal }),
  });
  return (
    <Page>
      <PageHeader
        title="Approvals"
        description="Tool calls that wait for a decision, and those that were decided."
      />
      <DataTable
        label="Approvals"
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        error={list.error}
        onRetry={list.reload}
        isStale={list.isStale}
        empty={<EmptyState title="No approvals">Calls of tools that need approval appear here.</EmptyState>}
      />
      <Pagination meta={list.meta} onPage={list.setPage} />
    </Page>
  );
}
