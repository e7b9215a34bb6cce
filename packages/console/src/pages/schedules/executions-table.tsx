import type { Schedule, ScheduleRun } from '@runyard/client';
import { useConnection } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { Badge, StatusBadge } from '../../ui/badge.js';
import { formatDuration } from '../../ui/format/numbers.js';
import { Time } from '../../ui/format/time.js';
import { Link } from '../../ui/link.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { type Target, targetOf } from './schedule-target.js';

const refreshMs = 5_000;

/** The attempts of a schedule, newest first, with links to their runs. */
export function ExecutionsTable({ schedule }: { readonly schedule: Schedule }) {
  const { client } = useConnection();
  const list = usePaged<ScheduleRun>({
    key: ['executions', schedule.id],
    load: (page, signal) => client.schedules.listRuns(schedule.id, page, { signal }),
    refetchMs: refreshMs,
  });
  return (
    <section aria-label="History">
      <h2 className="pb-2 text-sm font-semibold">History</h2>
      <PagedTable
        label="Executions"
        columns={columnsOf(targetOf(schedule))}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="Not executed yet">
            Each attempt appears here, with the run that it started.
          </EmptyState>
        }
      />
    </section>
  );
}

function columnsOf(target: Target | undefined): readonly Column<ScheduleRun>[] {
  return [
    {
      id: 'tick',
      header: 'Tick',
      cell: ({ tick_at, trigger, attempt }) => (
        <span className="inline-flex flex-wrap items-center gap-1.5">
          <Time at={tick_at} />
          {trigger === 'manual' && <Badge>by hand</Badge>}
          {attempt > 1 && <Badge tone="warning">attempt {attempt}</Badge>}
        </span>
      ),
    },
    { id: 'status', header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      id: 'outcome',
      header: 'Outcome',
      grow: true,
      cell: ({ error, status_code, run_id }) => (
        <span className="flex flex-wrap items-center gap-2 [overflow-wrap:anywhere]">
          {run_id !== null && target && (
            <Link
              to="/runs/$kind/$componentId/$runId"
              params={{ kind: target.kind, componentId: target.id, runId: run_id }}
            >
              Open the run
            </Link>
          )}
          {error === null ? (
            run_id === null && status_code !== null && <span className="text-muted">HTTP {status_code}</span>
          ) : (
            <span className="text-danger">{error}</span>
          )}
        </span>
      ),
    },
    {
      id: 'duration',
      header: 'Duration',
      align: 'right',
      hideBelow: 'sm',
      cell: ({ triggered_at, completed_at }) =>
        triggered_at === null || completed_at === null
          ? '–'
          : formatDuration((completed_at - triggered_at) * 1_000),
    },
  ];
}
