import type { EvalRun } from '@runyard/client';
import { useClient } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { StatusBadge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { Pagination } from '../../ui/table/pagination.js';

const columns: readonly Column<EvalRun>[] = [
  { id: 'name', header: 'Name', grow: true, cell: ({ id, name }) => name ?? id },
  { id: 'type', header: 'Type', hideBelow: 'sm', cell: ({ eval_type }) => eval_type },
  { id: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { id: 'created', header: 'Started', cell: ({ created_at }) => <Time at={created_at} /> },
];

export function EvalsPage() {
  const client = useClient();
  const list = usePaged<EvalRun>({
    key: ['evals'],
    load: (page, signal) => client.evals.list(page, { signal }),
  });
  return (
    <Page>
      <PageHeader title="Evals" description="How well agents, teams and workflows do their work." />
      <DataTable
        label="Evals"
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/evals/$evalId', params: { evalId: id } })}
        error={list.error}
        onRetry={list.reload}
        isStale={list.isStale}
        empty={
          <EmptyState title="No evals yet">
            Start one with POST /eval-runs, or with npx runyard eval.
          </EmptyState>
        }
      />
      <Pagination meta={list.meta} onPage={list.setPage} />
    </Page>
  );
}
