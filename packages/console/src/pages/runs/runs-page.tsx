import type { ListedRun, ListedTeamRun, ListedWorkflowRun } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import { useComponents } from '../../data/components.js';
import { useSearchState } from '../../data/search-state.js';
import { StatusBadge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';

type AnyRun = ListedRun | ListedTeamRun | ListedWorkflowRun;

const columns: readonly Column<AnyRun>[] = [
  {
    id: 'input',
    header: 'Input',
    grow: true,
    cell: (run) => <span className="line-clamp-1">{run.run_input}</span>,
  },
  { id: 'status', header: 'Status', cell: (run) => <StatusBadge status={run.status} /> },
  { id: 'created', header: 'Started', cell: (run) => <Time at={run.created_at} /> },
];

const refreshMs = 5_000;

export function RunsPage() {
  const { client, address } = useConnection();
  const { components, isPending } = useComponents();
  const [search, change] = useSearchState();
  const chosen = components.find(({ kind, id }) => `${kind}/${id}` === search.component) ?? components[0];
  const runs = useQuery({
    queryKey: ['runs', address, chosen?.kind, chosen?.id],
    queryFn: ({ signal }): Promise<AnyRun[]> =>
      chosen === undefined
        ? Promise.resolve([])
        : client[`${chosen.kind}s`].listRuns(chosen.id, { include_events: false, limit: 50 }, { signal }),
    refetchInterval: refreshMs,
    enabled: !isPending,
  });
  return (
    <Page>
      <PageHeader title="Runs" description="What agents, teams and workflows did, newest first." />
      <FilterBar>
        <Select
          aria-label="Component"
          className="max-w-xs"
          value={chosen && `${chosen.kind}/${chosen.id}`}
          options={components.map(({ kind, id, name }) => ({
            value: `${kind}/${id}`,
            label: `${name} (${kind})`,
          }))}
          onChange={(event) => change({ component: event.target.value })}
        />
      </FilterBar>
      <DataTable
        label="Runs"
        columns={columns}
        rows={runs.data}
        rowKey={({ run_id }) => run_id}
        rowLink={({ run_id }) => ({
          to: '/runs/$kind/$componentId/$runId',
          params: { kind: chosen?.kind ?? 'agent', componentId: chosen?.id ?? '', runId: run_id },
        })}
        error={runs.error}
        onRetry={() => void runs.refetch()}
        empty={
          <EmptyState title="No runs yet">Start one in the chat, or with a request to the API.</EmptyState>
        }
      />
    </Page>
  );
}
