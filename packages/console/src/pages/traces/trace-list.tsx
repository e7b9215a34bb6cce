import type { TraceDetail, TraceSearchPage, TraceSummary } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { StatusBadge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import type { Expression } from './filter/expression.js';
import { componentOf, shortName, spaced } from './trace-component.js';

export interface ListProps {
  readonly expression: Expression | undefined;
  readonly refetchMs: number | undefined;
  /** A change loads the list again. */
  readonly loads: number;
}

const columns: readonly Column<TraceSummary>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => shortName(name) },
  {
    id: 'kind',
    header: 'Kind',
    hideBelow: 'lg',
    cell: (trace) => <span className="text-muted">{componentOf(trace)?.kind}</span>,
  },
  {
    id: 'input',
    header: 'Input',
    grow: true,
    cell: ({ input }) => <span className="line-clamp-1 [overflow-wrap:anywhere]">{input}</span>,
  },
  { id: 'user', header: 'User', hideBelow: 'lg', cell: ({ user_id }) => user_id },
  {
    id: 'status',
    header: 'Status',
    cell: ({ status, error_count }) => (
      <span className="inline-flex items-center gap-1.5">
        <StatusBadge status={status} />
        {error_count > 0 && status !== 'ERROR' && (
          <span className="text-xs text-danger">
            {error_count} {error_count === 1 ? 'error' : 'errors'}
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'duration',
    header: 'Duration',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ duration }) => spaced(duration),
  },
  { id: 'spans', header: 'Spans', align: 'right', hideBelow: 'sm', cell: ({ total_spans }) => total_spans },
  { id: 'start', header: 'Started', hideBelow: 'sm', cell: ({ start_time }) => <Time at={start_time} /> },
];

export function TraceList({ expression, refetchMs, loads }: ListProps) {
  const client = useClient();
  const list = usePaged<TraceSummary>({
    key: ['traces', expression ?? null, loads],
    load: async (page, signal) => {
      if (expression === undefined) return client.traces.list(page, { signal });
      return onlyTraces(await client.traces.search({ filter: { ...expression }, ...page }, { signal }));
    },
    ...(refetchMs !== undefined && { refetchMs }),
  });
  return (
    <PagedTable
      label="Traces"
      columns={columns}
      list={list}
      rowKey={({ trace_id, run_id }) => `${trace_id} ${run_id}`}
      rowLink={({ trace_id }) => ({ to: '/traces/$traceId', params: { traceId: trace_id } })}
      empty={
        expression ? (
          <EmptyState title="No trace matches">
            A trace that lacks a field matches no condition on it, not even a negated one.
          </EmptyState>
        ) : (
          <EmptyState title="No traces yet">
            Every run leaves a trace, unless the setting traces is off.
          </EmptyState>
        )
      }
    />
  );
}

/** A search by runs has no totals of sessions in it. */
function onlyTraces({ data, meta }: TraceSearchPage): { data: TraceDetail[]; meta: TraceSearchPage['meta'] } {
  return { meta, data: data.filter((one): one is TraceDetail => 'trace_id' in one) };
}
