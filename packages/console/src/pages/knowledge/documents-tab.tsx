import type { Content } from '@runyard/client';
import Plus from 'lucide-react/icons/plus';
import { useMemo, useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Button } from '../../ui/button.js';
import { formatBytes } from '../../ui/format/numbers.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar, SearchInput } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { EmptyState } from '../../ui/states.js';
import type { Column, Sort } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { AddDialog } from './add-dialog.js';
import { inBase, type KnowledgeBase } from './bases.js';
import { ContentStatus } from './content-status.js';
import { DocumentMenu } from './document-menu.js';
import { DropZone } from './drop-zone.js';
import { type JobState, useJobProgress } from './job-progress.js';
import { uploadFiles } from './uploads.js';
import { UploadsList } from './uploads-list.js';

const statusNames = ['processing', 'completed', 'failed'] as const satisfies readonly NonNullable<
  Content['status']
>[];
const sortKeys = ['name', 'size', 'updated_at'] as const;

/** While something is processed; what is followed is seen at once. */
const refreshMs = 3_000;

const statuses = [
  { value: '', label: 'Every state' },
  { value: 'processing', label: 'Processing' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
];

export function DocumentsTab({ base }: { readonly base: KnowledgeBase }) {
  const { client } = useConnection();
  const may = useMay();
  const mayAdd = may('knowledge:write');
  const [search, change] = useSearchState();
  const [adding, setAdding] = useState<readonly File[]>();
  const [waiting, setWaiting] = useState(false);
  const by = sortKeys.find((one) => one === search.sort) ?? 'updated_at';
  const sort: Sort = { by, direction: search.order === 'asc' ? 'asc' : 'desc' };
  const status = statusNames.find((one) => one === search.status);
  const filters = {
    ...inBase(base.id),
    ...(status && { status }),
    ...(search.find && { search: search.find }),
    sort_by: by,
    sort_order: sort.direction,
  };
  const list = usePaged<Content>({
    key: ['contents', filters],
    load: async (page, signal) => {
      const found = await client.knowledge.getContent(
        { ...filters, ...page, include_definition: true },
        { signal },
      );
      setWaiting(found.data.some(({ status }) => status === 'processing'));
      return found;
    },
    ...(waiting && { refetchMs: refreshMs }),
  });
  const processing = (list.rows ?? []).filter(({ status }) => status === 'processing').map(({ id }) => id);
  const jobs = useJobProgress(base.id, processing);
  const commands = useMemo(
    () =>
      mayAdd
        ? [
            {
              id: 'knowledge-add',
              title: 'Add documents',
              group: 'Knowledge',
              keywords: 'upload file text url',
              run: () => setAdding([]),
            },
          ]
        : [],
    [mayAdd],
  );
  useCommands(commands);
  const filtered = Boolean(search.find || search.status);
  return (
    <DropZone enabled={mayAdd} onFiles={(files) => uploadFiles(client, base.id, files)}>
      <FilterBar onClear={filtered ? () => change({ find: undefined, status: undefined }) : undefined}>
        <SearchInput
          label="Name or description"
          value={search.find ?? ''}
          onChange={(text) => change({ find: text || undefined })}
        />
        <Select
          aria-label="State"
          className="max-w-40"
          value={search.status ?? ''}
          options={statuses}
          onChange={(event) => change({ status: event.target.value || undefined })}
        />
        {mayAdd && (
          <Button variant="primary" className="ml-auto" onClick={() => setAdding([])}>
            <Plus aria-hidden className="size-4" />
            Add
          </Button>
        )}
      </FilterBar>
      <UploadsList baseId={base.id} />
      <PagedTable
        label="Documents"
        columns={columnsOf(base, jobs)}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({
          to: '/knowledge/$contentId',
          params: { contentId: id },
          search: { base: base.id },
        })}
        sort={sort}
        onSort={({ by, direction }) => change({ sort: by, order: direction })}
        empty={
          filtered ? (
            <EmptyState title="No document matches">Change the filters.</EmptyState>
          ) : (
            <EmptyState title="No documents yet">
              {mayAdd
                ? 'Drop files here, or add a text or a web address. They are split, embedded and found by agents.'
                : 'Your token does not allow adding documents (knowledge:write).'}
            </EmptyState>
          )
        }
      />
      {adding && <AddDialog base={base} files={adding} onClose={() => setAdding(undefined)} />}
    </DropZone>
  );
}

function columnsOf(
  base: KnowledgeBase,
  jobs: Readonly<Record<string, JobState>>,
): readonly Column<Content>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      grow: true,
      sortable: true,
      cell: ({ id, name }) => <span className="line-clamp-2 [overflow-wrap:anywhere]">{name ?? id}</span>,
    },
    { id: 'type', header: 'Type', hideBelow: 'md', cell: ({ type }) => <Kind type={type} /> },
    {
      id: 'size',
      header: 'Size',
      align: 'right',
      hideBelow: 'md',
      sortable: true,
      cell: ({ size }) => (size && size !== '0' ? formatBytes(Number(size)) : '–'),
    },
    {
      id: 'status',
      header: 'State',
      cell: (content) => <ContentStatus content={content} job={jobs[content.id]} />,
    },
    {
      id: 'updated_at',
      header: 'Updated',
      hideBelow: 'sm',
      sortable: true,
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      cell: (content) => <DocumentMenu baseId={base.id} content={content} />,
    },
  ];
}

function Kind({ type }: { readonly type: string | null }) {
  return <span className="block max-w-48 truncate text-muted">{type === 'manual' ? 'text' : type}</span>;
}
