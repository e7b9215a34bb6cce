import type { Component } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { Badge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { Pagination } from '../../ui/table/pagination.js';

const columns: readonly Column<Component>[] = [
  { id: 'name', header: 'Name', grow: true, cell: ({ component_id, name }) => name ?? component_id },
  { id: 'type', header: 'Type', cell: ({ component_type }) => <Badge>{component_type}</Badge> },
  {
    id: 'version',
    header: 'Version',
    align: 'right',
    cell: ({ current_version }) => current_version ?? 'draft',
  },
  {
    id: 'updated',
    header: 'Updated',
    cell: ({ updated_at, created_at }) => <Time at={updated_at ?? created_at} />,
  },
];

export function ComponentsPage() {
  const client = useClient();
  const list = usePaged<Component>({
    key: ['stored-components'],
    load: (page, signal) => client.components.list(page, { signal }),
  });
  return (
    <Page>
      <PageHeader
        title="Components"
        description="Agents, teams and workflows that are stored and can be edited here."
      />
      <DataTable
        label="Components"
        columns={columns}
        rows={list.rows}
        rowKey={({ component_id }) => component_id}
        rowLink={({ component_id }) => ({
          to: '/components/$componentId',
          params: { componentId: component_id },
        })}
        error={list.error}
        onRetry={list.reload}
        isStale={list.isStale}
        empty={
          <EmptyState title="No stored components yet">
            Components of the code are not listed here. Store one with POST /components.
          </EmptyState>
        }
      />
      <Pagination meta={list.meta} onPage={list.setPage} />
    </Page>
  );
}
