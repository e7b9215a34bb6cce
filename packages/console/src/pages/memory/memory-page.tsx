import type { Memory } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { Time } from '../../ui/format/time.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { Pagination } from '../../ui/table/pagination.js';

const columns: readonly Column<Memory>[] = [
  { id: 'memory', header: 'Memory', grow: true, cell: ({ memory }) => memory },
  { id: 'user', header: 'User', hideBelow: 'sm', cell: ({ user_id }) => user_id },
  { id: 'updated', header: 'Updated', cell: ({ updated_at }) => <Time at={updated_at} /> },
];

export function MemoryPage() {
  const client = useClient();
  const list = usePaged<Memory>({
    key: ['memories'],
    load: (page, signal) => client.memories.list(page, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Memory" description="What agents remember about people." />
      <DataTable
        label="Memory"
        columns={columns}
        rows={list.rows}
        rowKey={({ memory_id }) => memory_id}
        error={list.error}
        onRetry={list.reload}
        isStale={list.isStale}
        empty={
          <EmptyState title="No memories yet">
            Agents with memory write them while they talk to people.
          </EmptyState>
        }
      />
      <Pagination meta={list.meta} onPage={list.setPage} />
    </Page>
  );
}
