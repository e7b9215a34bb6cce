import type { TraceSessionStats } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { formatCount } from '../../ui/format/numbers.js';
import { Time } from '../../ui/format/time.js';
import { Link } from '../../ui/link.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { componentOf } from './trace-component.js';
import type { ListProps } from './trace-list.js';

const columns: readonly Column<TraceSessionStats>[] = [
  {
    id: 'session',
    header: 'Session',
    grow: true,
    cell: ({ session_id }) => <code className="text-xs [overflow-wrap:anywhere]">{session_id}</code>,
  },
  {
    id: 'component',
    header: 'Component',
    hideBelow: 'md',
    cell: (session) => {
      const component = componentOf(session);
      return component && `${component.id} (${component.kind})`;
    },
  },
  { id: 'user', header: 'User', hideBelow: 'sm', cell: ({ user_id }) => user_id },
  {
    id: 'traces',
    header: 'Traces',
    align: 'right',
    cell: ({ total_traces }) => formatCount(total_traces),
  },
  {
    id: 'first',
    header: 'First',
    hideBelow: 'sm',
    cell: ({ first_trace_at }) => <Time at={first_trace_at} />,
  },
  { id: 'last', header: 'Last', hideBelow: 'sm', cell: ({ last_trace_at }) => <Time at={last_trace_at} /> },
  {
    id: 'chat',
    header: 'Chat',
    cell: (session) => {
      const component = componentOf(session);
      return (
        component && (
          <Link
            // above the link of the row
            className="relative z-10"
            to="/chat/$kind/$componentId"
            params={{ kind: component.kind, componentId: component.id }}
            search={{ session: session.session_id }}
          >
            Open
          </Link>
        )
      );
    },
  },
];

/** How many traces each session has, and when. */
export function SessionTotals({ expression, refetchMs, loads }: ListProps) {
  const client = useClient();
  const list = usePaged<TraceSessionStats>({
    key: ['trace-sessions', expression ?? null, loads],
    load: async (page, signal) => {
      if (expression === undefined) return client.traces.getSessionStats(page, { signal });
      const { data, meta } = await client.traces.search(
        { filter: { ...expression }, group_by: 'session', ...page },
        { signal },
      );
      return { meta, data: data.filter((one): one is TraceSessionStats => 'total_traces' in one) };
    },
    ...(refetchMs !== undefined && { refetchMs }),
  });
  return (
    <PagedTable
      label="Traces by session"
      columns={columns}
      list={list}
      rowKey={({ session_id }) => session_id}
      rowLink={({ session_id }) => ({
        to: '/traces',
        search: { filter: JSON.stringify({ op: 'EQ', key: 'session_id', value: session_id }) },
      })}
      empty={
        <EmptyState title="No sessions with traces">
          {expression ? 'No trace matches the filter.' : 'They appear here after the first run.'}
        </EmptyState>
      }
    />
  );
}
