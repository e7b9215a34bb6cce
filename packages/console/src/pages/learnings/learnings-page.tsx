import type { Learning } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { Badge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { Pagination } from '../../ui/table/pagination.js';

const columns: readonly Column<Learning>[] = [
  { id: 'type', header: 'Type', cell: ({ learning_type }) => <Badge>{learning_type}</Badge> },
  {
    id: 'content',
    header: 'Content',
    grow: true,
    cell: ({ content }) => <span className="line-clamp-2">{JSON.stringify(content)}</span>,
  },
  { id: 'user', header: 'User', hideBelow: 'sm', cell: ({ user_id }) => user_id ?? 'everyone' },
  { id: 'updated', header: 'Updated', cell: ({ updated_at }) => <Time at={updated_at} /> },
];

export function LearningsPage() {
  const client = useClient();
  const list = usePaged<Learning>({
    key: ['learnings'],
    load: (page, signal) => client.learnings.list(page, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Learnings" description="What agents have learned from their work." />
      <DataTable
        label="Learnings"
        columns={columns}
        rows={list.rows}
        rowKey={({ learning_id }) => learning_id}
        error={list.error}
        onRetry={list.reload}
        isStale={list.isStale}
        empty={
          <EmptyState title="No learnings yet">Agents with learning store them after their runs.</EmptyState>
        }
      />
      <Pagination meta={list.meta} onPage={list.setPage} />
    </Page>
  );
}
