import type { Schedule } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { StatusBadge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { Pagination } from '../../ui/table/pagination.js';

const columns: readonly Column<Schedule>[] = [
  { id: 'name', header: 'Name', grow: true, cell: ({ name }) => name },
  { id: 'cron', header: 'Cron', cell: ({ cron_expr }) => <code>{cron_expr}</code> },
  {
    id: 'state',
    header: 'State',
    cell: ({ enabled }) => <StatusBadge status={enabled ? 'enabled' : 'disabled'} />,
  },
  { id: 'next', header: 'Next', cell: ({ next_run_at }) => <Time at={next_run_at} /> },
];

export function SchedulesPage() {
  const client = useClient();
  const list = usePaged<Schedule>({
    key: ['schedules'],
    load: (page, signal) => client.schedules.list(page, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Schedules" description="Runs that the service starts by itself." />
      <DataTable
        label="Schedules"
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/schedules/$scheduleId', params: { scheduleId: id } })}
        error={list.error}
        onRetry={list.reload}
        isStale={list.isStale}
        empty={
          <EmptyState title="No schedules yet">
            Create one with POST /schedules, or in the code of the service.
          </EmptyState>
        }
      />
      <Pagination meta={list.meta} onPage={list.setPage} />
    </Page>
  );
}
