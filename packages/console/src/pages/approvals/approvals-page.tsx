import type { Approval } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { useSearchState } from '../../data/search-state.js';
import { StatusBadge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { ApprovalDrawer } from './approval-drawer.js';

const columns: readonly Column<Approval>[] = [
  {
    id: 'tool',
    header: 'Call',
    grow: true,
    cell: ({ tool_name, tool_args }) => (
      <span className="line-clamp-1">
        <span className="font-mono text-[0.8125rem]">{tool_name}</span>{' '}
        <span className="font-mono text-xs font-normal text-muted">{inShort(tool_args)}</span>
      </span>
    ),
  },
  {
    id: 'source',
    header: 'From',
    hideBelow: 'sm',
    cell: ({ source_name, source_type }) => source_name ?? source_type,
  },
  { id: 'user', header: 'User', hideBelow: 'lg', cell: ({ user_id }) => user_id ?? '–' },
  { id: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { id: 'created', header: 'Requested', hideBelow: 'sm', cell: ({ created_at }) => <Time at={created_at} /> },
];

const states = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const;
const options = [
  { value: 'pending', label: 'Pending' },
  { value: 'all', label: 'All' },
  ...states.slice(1).map((value) => ({ value, label: `${value[0]?.toUpperCase()}${value.slice(1)}` })),
];
const refreshMs = 4_000;

/** Calls of tools that wait for a decision, and those that were decided. */
export function ApprovalsPage() {
  const client = useClient();
  const [search, change] = useSearchState();
  const chosen = search.status ?? 'pending';
  const status = states.find((state) => state === chosen);
  const list = usePaged<Approval>({
    key: ['approvals', 'list', chosen],
    load: (page, signal) => client.approvals.list({ ...page, ...(status && { status }) }, { signal }),
    refetchMs: refreshMs,
  });
  return (
    <Page>
      <PageHeader
        title="Approvals"
        description="Calls of tools that wait for a decision, and those that were decided."
      />
      <FilterBar onClear={chosen === 'pending' ? undefined : () => change({ status: undefined })}>
        <Select
          aria-label="Status"
          className="max-w-40"
          value={chosen}
          options={options}
          onChange={({ target }) => change({ status: target.value === 'pending' ? undefined : target.value })}
        />
      </FilterBar>
      <PagedTable
        label="Approvals"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/approvals', search: { ...search, approval: id } })}
        empty={
          chosen === 'pending' ? (
            <EmptyState title="Nothing waits for a decision">
              Calls of tools with <code>approval: 'required'</code> appear here while their runs wait.
            </EmptyState>
          ) : (
            <EmptyState title="No approvals">There are none in this state.</EmptyState>
          )
        }
      />
      {search.approval && (
        <ApprovalDrawer
          key={search.approval}
          id={search.approval}
          onClose={() => change({ approval: undefined })}
        />
      )}
    </Page>
  );
}

function inShort(args: object): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
    .slice(0, 160);
}
