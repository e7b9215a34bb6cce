import type { ContentSource, SourceFiles } from '@runyard/client';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import FileText from 'lucide-react/icons/file-text';
import Folder from 'lucide-react/icons/folder';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { Button } from '../../ui/button.js';
import { formatBytes } from '../../ui/format/numbers.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { toast } from '../../ui/overlay/toasts.js';
import { EmptyState, explained } from '../../ui/states.js';
import { Pagination } from '../../ui/table/pagination.js';

export interface SourcesTabProps {
  readonly baseId: string;
  readonly sources: readonly ContentSource[];
  readonly mayAdd: boolean;
}

/** The folders and files of the places that contents can be added from. */
export function SourcesTab({ baseId, sources, mayAdd }: SourcesTabProps) {
  const { client, address } = useConnection();
  const [search, change] = useSearchState();
  const source = sources.find(({ id }) => id === search.source) ?? sources[0];
  const folder = search.folder ?? source?.prefix ?? '';
  const [page, setPage] = useState(1);
  const files = useQuery({
    queryKey: ['source-files', address, baseId, source?.id, folder, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      client.knowledge.listSourceFiles(
        baseId,
        source?.id ?? '',
        { ...(folder && { prefix: folder }), page, limit: 50, delimiter: '/' },
        { signal },
      ),
  });
  const open = (prefix: string | undefined) => {
    setPage(1);
    change({ folder: prefix });
  };
  return (
    <div>
      <FilterBar>
        <Select
          aria-label="Source"
          className="max-w-64"
          value={source?.id}
          options={sources.map(({ id, name, type }) => ({ value: id, label: `${name} (${type})` }))}
          onChange={(event) => {
            setPage(1);
            change({ source: event.target.value, folder: undefined });
          }}
        />
        <Trail root={source?.prefix ?? ''} folder={folder} onOpen={open} />
        {mayAdd && folder !== '' && source && (
          <AddButton baseId={baseId} source={source.id} path={folder} label="Add this folder" />
        )}
      </FilterBar>
      <Loaded query={files}>
        {(found) => (
          <>
            <Listing found={found} baseId={baseId} mayAdd={mayAdd} onOpen={open} />
            <Pagination meta={found.meta} onPage={setPage} />
          </>
        )}
      </Loaded>
    </div>
  );
}

/** The folders above, each of which can be opened. */
function Trail({
  root,
  folder,
  onOpen,
}: {
  readonly root: string;
  readonly folder: string;
  onOpen(prefix: string | undefined): void;
}) {
  const below = folder.slice(root.length).split('/').filter(Boolean);
  return (
    <nav aria-label="Folder" className="flex min-w-0 flex-1 flex-wrap items-center gap-1 text-muted">
      <Button variant="ghost" size="small" onClick={() => onOpen(undefined)}>
        {root || 'All files'}
      </Button>
      {below.map((name, at) => (
        <span key={below.slice(0, at + 1).join('/')} className="flex items-center gap-1">
          /
          <Button
            variant="ghost"
            size="small"
            onClick={() => onOpen(`${root}${below.slice(0, at + 1).join('/')}/`)}
          >
            {name}
          </Button>
        </span>
      ))}
    </nav>
  );
}

function Listing({
  found: { folders, files, source_id },
  baseId,
  mayAdd,
  onOpen,
}: {
  readonly found: SourceFiles;
  readonly baseId: string;
  readonly mayAdd: boolean;
  onOpen(prefix: string): void;
}) {
  if (folders.length + files.length === 0)
    return (
      <div className="rounded-lg border border-line bg-surface">
        <EmptyState title="This folder is empty" />
      </div>
    );
  return (
    <ul aria-label="Files" className="divide-y divide-line rounded-lg border border-line bg-surface">
      {folders.map(({ prefix, name }) => (
        <li key={prefix} className="flex min-h-10 items-center gap-2 px-3 py-1">
          <Folder aria-hidden className="size-4 shrink-0 text-muted" />
          <button
            type="button"
            className="min-w-0 flex-1 truncate text-left font-medium hover:underline"
            onClick={() => onOpen(prefix)}
          >
            {name}
          </button>
          {mayAdd && <AddButton baseId={baseId} source={source_id} path={prefix} label="Add" name={name} />}
        </li>
      ))}
      {files.map(({ key, name, size, last_modified }) => (
        <li key={key} className="flex min-h-10 items-center gap-2 px-3 py-1">
          <FileText aria-hidden className="size-4 shrink-0 text-muted" />
          <span className="min-w-0 flex-1 truncate">{name}</span>
          <span className="text-xs text-muted max-sm:hidden">
            {size !== null && formatBytes(size)} {last_modified && <Time at={last_modified} />}
          </span>
          {mayAdd && <AddButton baseId={baseId} source={source_id} path={key} label="Add" name={name} />}
        </li>
      ))}
    </ul>
  );
}

function AddButton({
  baseId,
  source,
  path,
  label,
  name = path,
}: {
  readonly baseId: string;
  readonly source: string;
  readonly path: string;
  readonly label: string;
  readonly name?: string;
}) {
  const { client } = useConnection();
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: () =>
      client.knowledge.uploadRemoteContent({ config_id: source, path }, { query: { knowledge_id: baseId } }),
    onSuccess: () => {
      toast({ title: `${name} is being processed.` });
      return queries.invalidateQueries({ queryKey: ['contents'] });
    },
    onError: (error) => toast({ title: explained(error).detail, tone: 'danger' }),
  });
  return (
    <Button size="small" aria-label={`${label}: ${name}`} busy={add.isPending} onClick={() => add.mutate()}>
      {label}
    </Button>
  );
}
