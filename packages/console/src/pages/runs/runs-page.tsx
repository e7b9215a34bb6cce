import { useQueryClient } from '@tanstack/react-query';
import RefreshCw from 'lucide-react/icons/refresh-cw';
import { useMemo, useState } from 'react';
import { useClient, useMay } from '../../connection/use-connection.js';
import { useComponents } from '../../data/components.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { StatusBadge } from '../../ui/badge.js';
import { Button, IconButton } from '../../ui/button.js';
import { formatCost, formatDuration, formatTokens } from '../../ui/format/numbers.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar, SearchInput } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { Switch } from '../../ui/forms/toggles.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { deepest, isActive, type RunRow, useRunRows } from './run-rows.js';

const statuses = ['pending', 'running', 'paused', 'completed', 'error', 'cancelled', 'regenerated'];

const periods: readonly { readonly value: string; readonly label: string; readonly hours: number }[] = [
  { value: '1h', label: 'Last hour', hours: 1 },
  { value: '24h', label: 'Last 24 hours', hours: 24 },
  { value: '7d', label: 'Last 7 days', hours: 168 },
  { value: '30d', label: 'Last 30 days', hours: 720 },
];

const firstDepth = 25;
const refreshMs = 4_000;
/** Each component is one request. */
const refreshOfManyMs = 15_000;
const many = 8;

export function RunsPage() {
  const client = useClient();
  const may = useMay();
  const queries = useQueryClient();
  const { components, isPending, error: componentsError, reload } = useComponents();
  const [search, change] = useSearchState();
  const [live, setLive] = useState(true);
  const [depth, setDepth] = useState(firstDepth);
  const [cancelling, setCancelling] = useState<RunRow>();
  const chosen = search.component
    ? components.filter(({ kind, id }) => `${kind}/${id}` === search.component)
    : components;
  const found = useRunRows({
    components: chosen,
    status: search.status,
    session: search.session,
    depth,
    refetchMs: live ? (chosen.length > many ? refreshOfManyMs : refreshMs) : undefined,
  });
  const hours = periods.find(({ value }) => value === search.since)?.hours;
  const since = hours === undefined ? '' : new Date(Date.now() - hours * 3_600_000).toISOString();
  const all = isPending && components.length === 0 ? undefined : found.rows;
  const rows = all?.filter(
    ({ user, createdAt }) => createdAt >= since && (!search.user || user === search.user),
  );
  // older runs than those that were looked at cannot be in the period
  const hasMore = found.hasMore && (all?.at(-1)?.createdAt ?? '') >= since;
  const isFiltered = ['component', 'status', 'session', 'user', 'since'].some((name) => search[name]);
  const clear = () =>
    change({
      component: undefined,
      status: undefined,
      session: undefined,
      user: undefined,
      since: undefined,
    });
  useCommands(
    useMemo(
      () =>
        ['running', 'paused', 'error'].map((status) => ({
          id: `runs ${status}`,
          group: 'Runs',
          title: `Show runs with the status ${status}`,
          run: () => change({ status }),
        })),
      [change],
    ),
  );
  const columns = useMemo(
    () => columnsOf((row) => (may(`${row.kind}s:run`) ? () => setCancelling(row) : undefined)),
    [may],
  );
  return (
    <Page>
      <PageHeader
        title="Runs"
        description="What agents, teams and workflows did, newest first."
        actions={
          <>
            <Switch label="Live" checked={live} onChange={setLive} />
            <IconButton label="Load again" onClick={found.reload}>
              <RefreshCw aria-hidden className="size-4" />
            </IconButton>
          </>
        }
      />
      <FilterBar onClear={isFiltered ? clear : undefined}>
        <Select
          aria-label="Component"
          className="max-w-52"
          value={search.component ?? ''}
          options={[
            { value: '', label: 'All components' },
            ...components.map(({ kind, id, name }) => ({
              value: `${kind}/${id}`,
              label: `${name} (${kind})`,
            })),
          ]}
          onChange={(event) => change({ component: event.target.value || undefined })}
        />
        <Select
          aria-label="Status"
          className="max-w-40"
          value={search.status ?? ''}
          options={[
            { value: '', label: 'Any status' },
            ...statuses.map((value) => ({ value, label: value })),
          ]}
          onChange={(event) => change({ status: event.target.value || undefined })}
        />
        <Select
          aria-label="Started"
          className="max-w-40"
          value={search.since ?? ''}
          options={[{ value: '', label: 'Any time' }, ...periods]}
          onChange={(event) => change({ since: event.target.value || undefined })}
        />
        <SearchInput
          label="User"
          value={search.user ?? ''}
          onChange={(user) => change({ user: user || undefined })}
        />
        <SearchInput
          label="Session"
          value={search.session ?? ''}
          onChange={(session) => change({ session: session || undefined })}
        />
      </FilterBar>
      <DataTable
        label="Runs"
        columns={columns}
        rows={rows}
        rowKey={({ kind, runId }) => `${kind} ${runId}`}
        rowLink={({ kind, componentId, runId }) => ({
          to: '/runs/$kind/$componentId/$runId',
          params: { kind, componentId, runId },
        })}
        error={componentsError ?? found.error}
        onRetry={() => {
          reload();
          found.reload();
        }}
        isStale={found.isStale}
        empty={
          isFiltered ? (
            <EmptyState title="No run matches">Change the filters, or look at older runs.</EmptyState>
          ) : (
            <EmptyState title="No runs yet">Start one in the chat, or with a request to the API.</EmptyState>
          )
        }
      />
      {rows && hasMore && (
        <div className="flex flex-wrap items-center gap-3 pt-3 text-xs text-muted">
          <Button size="small" onClick={() => setDepth(Math.min(deepest, depth * 2))}>
            Show older runs
          </Button>
          The newest {depth} runs of each component were searched.
        </div>
      )}
      <ConfirmDialog
        open={cancelling !== undefined}
        onClose={() => setCancelling(undefined)}
        title="Cancel the run?"
        action="Cancel run"
        destructive
        onConfirm={async () => {
          if (cancelling === undefined) return;
          await client[`${cancelling.kind}s`].cancel(cancelling.componentId, cancelling.runId);
          await queries.invalidateQueries({ queryKey: ['runs'] });
        }}
      >
        It stops at once, with its model calls and tools. A cancelled run cannot continue.
      </ConfirmDialog>
    </Page>
  );
}

function columnsOf(cancelOf: (row: RunRow) => (() => void) | undefined): readonly Column<RunRow>[] {
  return [
    {
      id: 'input',
      header: 'Input',
      grow: true,
      cell: ({ input }) => (
        <span className="line-clamp-1 [overflow-wrap:anywhere]">{input || 'No text'}</span>
      ),
    },
    {
      id: 'component',
      header: 'Component',
      hideBelow: 'md',
      cell: ({ componentName, kind }) => (
        <>
          {componentName} <span className="text-xs text-muted">{kind}</span>
        </>
      ),
    },
    { id: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
    { id: 'user', header: 'User', hideBelow: 'lg', cell: ({ user }) => user },
    {
      id: 'duration',
      header: 'Duration',
      align: 'right',
      hideBelow: 'sm',
      cell: ({ durationMs }) => formatDuration(durationMs),
    },
    {
      id: 'tokens',
      header: 'Tokens',
      align: 'right',
      hideBelow: 'lg',
      cell: ({ tokens }) => formatTokens(tokens),
    },
    { id: 'cost', header: 'Cost', align: 'right', hideBelow: 'lg', cell: ({ cost }) => formatCost(cost) },
    { id: 'created', header: 'Started', hideBelow: 'sm', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: 'actions',
      header: 'Actions',
      align: 'right',
      hideBelow: 'sm',
      cell: (row) => {
        const cancel = isActive(row.status) ? cancelOf(row) : undefined;
        return (
          cancel && (
            <Button size="small" className="relative z-10" onClick={cancel}>
              Cancel
            </Button>
          )
        );
      },
    },
  ];
}
