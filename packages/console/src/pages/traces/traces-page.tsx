import type { TraceSummary } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { StatusBadge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { Pagination } from '../../ui/table/pagination.js';

const columns: readonly Column<TraceSummary>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name },
  {
    id: 'input',
    header: 'Input',
    grow: true,
    hideBelow: 'md',
    cell: ({ input }) => <span className="line-clamp-1">{input}</span>,
  },
  { id: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { id: 'duration', header: 'Duration', align: 'right', cell: ({ duration }) => duration },
  { id: 'spans', header: 'Spans', align: 'right', hideBelow: 'sm', cell: ({ total_spans }) => total_spans },
  { id: 'start', header: 'Started', cell: ({ start_time }) => <Time at={start_time} /> },
];

export function TracesPage() {
  const client = useClient();
  const list = usePaged<TraceSummary>({
    key: ['traces'],
    load: (page, signal) => client.traces.list(page, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Traces" description="How each run spent its time: model calls, tools and members." />
      <DataTable
        label="Traces"
        columns={columns}
        rows={list.rows}
        rowKey={({ trace_id }) => trace_id}
        rowLink={({ trace_id }) => ({ to: '/traces/$traceId', params: { traceId: trace_id } })}
        error={list.error}
        onRetry={list.reload}
        isStale={list.isStale}
        empty={
          <EmptyState title="No traces yet">
            Every run leaves a trace, unless the setting traces is off.
          </EmptyState>
        }
      />
      <Pagination meta={list.meta} onPage={list.setPage} />
    </Page>
  );
}
