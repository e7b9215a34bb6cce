import type { DatasetCase } from '@runyard/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useConnection, useMay } from '../../../connection/use-connection.js';
import { Loaded } from '../../../data/loaded.js';
import { usePaged } from '../../../data/paged.js';
import { Button } from '../../../ui/button.js';
import { formatCount } from '../../../ui/format/numbers.js';
import { Time } from '../../../ui/format/time.js';
import { Link } from '../../../ui/link.js';
import { ConfirmDialog } from '../../../ui/overlay/confirm-dialog.js';
import { Menu } from '../../../ui/overlay/menu.js';
import { toast } from '../../../ui/overlay/toasts.js';
import { Page, PageHeader } from '../../../ui/page-header.js';
import { saveFile } from '../../../ui/save-file.js';
import { EmptyState } from '../../../ui/states.js';
import type { Column } from '../../../ui/table/data-table.js';
import { PagedTable } from '../../../ui/table/paged-table.js';
import { CaseDialog } from './case-dialog.js';
import { DatasetDialog } from './dataset-dialog.js';

type Open =
  | { readonly what: 'rename' | 'delete' | 'new case' }
  | { readonly what: 'edit case' | 'delete case'; readonly of: DatasetCase };

export function DatasetPage() {
  const { client, address } = useConnection();
  const may = useMay();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { datasetId } = useParams({ from: '/datasets/$datasetId' });
  const [open, setOpen] = useState<Open>();
  const file = useRef<HTMLInputElement>(null);
  const dataset = useQuery({
    queryKey: ['datasets', address, datasetId],
    queryFn: ({ signal }) => client.datasets.get(datasetId, {}, { signal }),
  });
  const cases = usePaged<DatasetCase>({
    key: ['cases', datasetId],
    load: (page, signal) => client.datasets.listCases(datasetId, page, { signal }),
  });
  const close = () => setOpen(undefined);
  const changed = async () => {
    await queries.invalidateQueries({ queryKey: ['datasets', address] });
    await queries.invalidateQueries({ queryKey: ['cases', datasetId] });
  };
  const importFile = async (chosen: File) => {
    try {
      const { added, updated } = await client.datasets.importCases(datasetId, { file: [chosen] });
      toast({ title: `${added} added, ${updated} replaced`, tone: 'success' });
      await changed();
    } catch (error) {
      toast({ title: error instanceof Error ? error.message : String(error), tone: 'danger' });
    }
  };
  const canWrite = may('evals:write');
  const columns: readonly Column<DatasetCase>[] = [
    { id: 'id', header: 'Case', cell: ({ id }) => <code className="text-xs">{id.slice(0, 40)}</code> },
    {
      id: 'input',
      header: 'Input',
      grow: true,
      cell: ({ input }) => <span className="line-clamp-2 [overflow-wrap:anywhere]">{input}</span>,
    },
    {
      id: 'expected',
      header: 'Expected',
      hideBelow: 'md',
      cell: ({ expected_output, expected_tool_calls: calls }) => (
        <span className="line-clamp-2 max-w-xs whitespace-normal text-muted [overflow-wrap:anywhere]">
          {[expected_output, calls && `calls ${calls.map(({ name }) => name).join(', ')}`]
            .filter(Boolean)
            .join(' · ')}
        </span>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      align: 'right',
      cell: (one) =>
        canWrite && (
          <span className="inline-flex gap-1">
            <Button size="small" onClick={() => setOpen({ what: 'edit case', of: one })}>
              Edit
            </Button>
            <Button
              size="small"
              variant="danger"
              className="max-sm:hidden"
              onClick={() => setOpen({ what: 'delete case', of: one })}
            >
              Delete
            </Button>
          </span>
        ),
    },
  ];
  return (
    <Page>
      <PageHeader
        title={dataset.data?.name ?? 'Dataset'}
        parent={<Link to="/datasets">Datasets</Link>}
        description={dataset.data?.description}
        actions={
          canWrite && (
            <>
              <Menu
                items={[
                  { label: 'Rename', onSelect: () => setOpen({ what: 'rename' }) },
                  { label: 'Import a file', onSelect: () => file.current?.click() },
                  {
                    label: 'Export as JSON Lines',
                    onSelect: () =>
                      void client.datasets
                        .exportCases(datasetId)
                        .then((text) =>
                          saveFile(`${dataset.data?.name ?? datasetId}.jsonl`, new Blob([text])),
                        )
                        .catch((error: unknown) => toast({ title: String(error), tone: 'danger' })),
                  },
                  'line',
                  { label: 'Delete', destructive: true, onSelect: () => setOpen({ what: 'delete' }) },
                ]}
              >
                <Button>More</Button>
              </Menu>
              <Link
                className="inline-flex h-8 items-center px-1"
                to="/evals"
                search={{ start: 'true', dataset: datasetId }}
              >
                Evaluate
              </Link>
              <Button variant="primary" onClick={() => setOpen({ what: 'new case' })}>
                New case
              </Button>
            </>
          )
        }
      />
      <input
        ref={file}
        type="file"
        hidden
        aria-label="File of cases"
        accept=".json,.jsonl,.ndjson,.csv,.tsv"
        onChange={(event) => {
          const [chosen] = event.target.files ?? [];
          if (chosen) void importFile(chosen);
          event.target.value = '';
        }}
      />
      <Loaded query={dataset}>
        {({ case_count, revision, updated_at }) => (
          <p className="pb-3 text-xs text-muted">
            {formatCount(case_count)} cases · revision {revision} · updated <Time at={updated_at} />
          </p>
        )}
      </Loaded>
      <PagedTable
        label="Cases"
        columns={columns}
        list={cases}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No cases yet">
            Add one, import a file of JSON, JSON Lines or CSV, or add the run of a trace.
          </EmptyState>
        }
      />
      {open?.what === 'rename' && dataset.data && (
        <DatasetDialog
          title="Rename the dataset"
          name={dataset.data.name}
          description={dataset.data.description}
          onClose={close}
          onSave={(body) => client.datasets.update(datasetId, body).then(changed)}
        />
      )}
      {open?.what === 'new case' && (
        <CaseDialog
          onClose={close}
          onSave={(edited, id) =>
            client.datasets.addCases(datasetId, { ...edited, ...(id && { id }) }).then(changed)
          }
        />
      )}
      {open?.what === 'edit case' && (
        <CaseDialog
          given={open.of}
          onClose={close}
          onSave={(edited) => client.datasets.updateCase(datasetId, open.of.id, edited).then(changed)}
        />
      )}
      <ConfirmDialog
        open={open?.what === 'delete case'}
        onClose={close}
        title="Delete the case?"
        action="Delete case"
        destructive
        onConfirm={() =>
          open?.what === 'delete case' && client.datasets.deleteCase(datasetId, open.of.id).then(changed)
        }
      >
        Evals that were executed with it keep their results.
      </ConfirmDialog>
      <ConfirmDialog
        open={open?.what === 'delete'}
        onClose={close}
        title="Delete the dataset?"
        action="Delete dataset"
        destructive
        onConfirm={async () => {
          await client.datasets.delete(datasetId);
          await navigate({ to: '/datasets' });
        }}
      >
        All its cases are deleted. Evals of it stay. This cannot be undone.
      </ConfirmDialog>
    </Page>
  );
}
