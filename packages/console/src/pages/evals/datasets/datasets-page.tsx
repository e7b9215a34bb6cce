import type { Dataset } from '@runyard/client';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useClient, useMay } from '../../../connection/use-connection.js';
import { usePaged } from '../../../data/paged.js';
import { useCommands } from '../../../shell/commands.js';
import { Button } from '../../../ui/button.js';
import { formatCount } from '../../../ui/format/numbers.js';
import { Time } from '../../../ui/format/time.js';
import { Link } from '../../../ui/link.js';
import { Page, PageHeader } from '../../../ui/page-header.js';
import { EmptyState } from '../../../ui/states.js';
import type { Column, Sort } from '../../../ui/table/data-table.js';
import { PagedTable } from '../../../ui/table/paged-table.js';
import { DatasetDialog } from './dataset-dialog.js';

const columns: readonly Column<Dataset>[] = [
  { id: 'name', header: 'Name', sortable: true, cell: ({ name }) => name },
  {
    id: 'description',
    header: 'Description',
    grow: true,
    hideBelow: 'sm',
    cell: ({ description }) => <span className="line-clamp-1 text-muted">{description}</span>,
  },
  { id: 'cases', header: 'Cases', align: 'right', cell: ({ case_count }) => formatCount(case_count) },
  { id: 'user', header: 'User', hideBelow: 'md', cell: ({ user_id }) => user_id },
  {
    id: 'updated_at',
    header: 'Updated',
    sortable: true,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
];

const sortable = ['created_at', 'updated_at', 'name'] as const;

export function DatasetsPage() {
  const client = useClient();
  const may = useMay();
  const navigate = useNavigate();
  const [sort, setSort] = useState<Sort>({ by: 'updated_at', direction: 'desc' });
  const [creating, setCreating] = useState(false);
  const list = usePaged<Dataset>({
    key: ['datasets', 'list', sort],
    load: (page, signal) => {
      const by = sortable.find((one) => one === sort.by) ?? 'updated_at';
      return client.datasets.list({ ...page, sort_by: by, sort_order: sort.direction }, { signal });
    },
  });
  const canWrite = may('evals:write');
  useCommands(
    useMemo(
      () =>
        canWrite
          ? [{ id: 'dataset new', group: 'Datasets', title: 'New dataset', run: () => setCreating(true) }]
          : [],
      [canWrite],
    ),
  );
  const create = canWrite && (
    <Button variant="primary" onClick={() => setCreating(true)}>
      New dataset
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Datasets"
        parent={<Link to="/evals">Evals</Link>}
        description="Cases that evals execute, and what is expected of them."
        actions={create}
      />
      <PagedTable
        label="Datasets"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/datasets/$datasetId', params: { datasetId: id } })}
        sort={sort}
        onSort={setSort}
        empty={
          <EmptyState title="No datasets yet">
            Create one here, or open a trace and add its run to a dataset.
          </EmptyState>
        }
      />
      {creating && (
        <DatasetDialog
          title="New dataset"
          onClose={() => setCreating(false)}
          onSave={async (body) => {
            const { id } = await client.datasets.create(body);
            await navigate({ to: '/datasets/$datasetId', params: { datasetId: id } });
          }}
        />
      )}
    </Page>
  );
}
