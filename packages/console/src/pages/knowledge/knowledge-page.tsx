import type { Content } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { StatusBadge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { Pagination } from '../../ui/table/pagination.js';

const columns: readonly Column<Content>[] = [
  { id: 'name', header: 'Name', grow: true, cell: ({ id, name }) => name ?? id },
  { id: 'type', header: 'Type', hideBelow: 'sm', cell: ({ type }) => type },
  { id: 'status', header: 'Status', cell: ({ status }) => status && <StatusBadge status={status} /> },
  { id: 'updated', header: 'Updated', cell: ({ updated_at }) => <Time at={updated_at} /> },
];

export function KnowledgePage() {
  const client = useClient();
  const list = usePaged<Content>({
    key: ['contents'],
    load: (page, signal) => client.knowledge.getContent(page, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Knowledge" description="Documents that agents search." />
      <DataTable
        label="Knowledge"
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/knowledge/$contentId', params: { contentId: id } })}
        error={list.error}
        onRetry={list.reload}
        isStale={list.isStale}
        empty={<EmptyState title="No documents yet">Add one with POST /knowledge/content.</EmptyState>}
      />
      <Pagination meta={list.meta} onPage={list.setPage} />
    </Page>
  );
}
