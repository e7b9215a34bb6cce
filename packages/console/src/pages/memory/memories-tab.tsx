import type { Memory } from '@runyard/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import Pencil from 'lucide-react/icons/pencil';
import Trash from 'lucide-react/icons/trash-2';
import { useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { useSearchState } from '../../data/search-state.js';
import { Badge } from '../../ui/badge.js';
import { Button, IconButton } from '../../ui/button.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar, SearchInput } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { Checkbox } from '../../ui/forms/toggles.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { toast } from '../../ui/overlay/toasts.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { MemoryDialog } from './memory-dialog.js';
import { OptimizeDialog } from './optimize-dialog.js';

/** Memories with filters, and what can be done with them. */
export function MemoriesTab() {
  const { client, address } = useConnection();
  const may = useMay();
  const queries = useQueryClient();
  const [search, change] = useSearchState();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState<Memory>();
  const [open, setOpen] = useState<'delete' | 'optimize'>();
  const user = search.user ?? '';
  const filters = {
    ...(user && { user_id: user }),
    ...(search.topic && { topics: [search.topic] }),
    ...(search.find && { search_content: search.find }),
  };
  const list = usePaged<Memory>({
    key: ['memories', filters],
    load: (page, signal) => client.memories.list({ ...filters, ...page }, { signal }),
  });
  const topics = useQuery({
    queryKey: ['memory-topics', address, user],
    queryFn: ({ signal }) => client.memories.getTopics(user ? { user_id: user } : {}, { signal }),
  });
  const mayDelete = may('memories:delete');
  const mayWrite = may('memories:write');
  const rows = list.rows ?? [];
  const selected = rows.filter(({ memory_id }) => chosen.has(memory_id));
  const filtered = Boolean(user || search.topic || search.find);
  const select = (ids: readonly string[], on: boolean) =>
    setChosen((before) => new Set(on ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id))));
  const remove = async () => {
    await client.memories.deleteMany({ memory_ids: selected.map(({ memory_id }) => memory_id) });
    setChosen(new Set());
    await queries.invalidateQueries({ queryKey: ['memories'] });
    await queries.invalidateQueries({ queryKey: ['memory-topics'] });
    toast({ title: `${selected.length} deleted.` });
  };
  const pick: Column<Memory> = {
    id: 'pick',
    header: 'Chosen',
    headerHidden: true,
    cell: ({ memory_id, memory }) => (
      <Checkbox
        label={<span className="sr-only">Choose: {memory.slice(0, 80)}</span>}
        checked={chosen.has(memory_id)}
        onChange={(on) => select([memory_id], on)}
      />
    ),
  };
  const edit: Column<Memory> = {
    id: 'edit',
    header: 'Actions',
    headerHidden: true,
    cell: (memory) => (
      <span className="flex justify-end">
        {mayWrite && (
          <IconButton
            size="small"
            label={`Edit: ${memory.memory.slice(0, 80)}`}
            onClick={() => setEditing(memory)}
          >
            <Pencil aria-hidden className="size-3.5" />
          </IconButton>
        )}
        {mayDelete && (
          <IconButton
            size="small"
            label={`Delete: ${memory.memory.slice(0, 80)}`}
            onClick={() => {
              setChosen(new Set([memory.memory_id]));
              setOpen('delete');
            }}
          >
            <Trash aria-hidden className="size-3.5" />
          </IconButton>
        )}
      </span>
    ),
  };
  return (
    <>
      <FilterBar
        onClear={filtered ? () => change({ user: undefined, topic: undefined, find: undefined }) : undefined}
      >
        <SearchInput
          label="Text of the memory"
          value={search.find ?? ''}
          onChange={(text) => change({ find: text || undefined })}
        />
        <SearchInput
          label="User"
          value={user}
          onChange={(text) => change({ user: text.trim() || undefined })}
        />
        <Select
          aria-label="Topic"
          className="max-w-48"
          value={search.topic ?? ''}
          options={[
            { value: '', label: 'Every topic' },
            ...[...new Set([...(topics.data ?? []), ...(search.topic ? [search.topic] : [])])].map(
              (topic) => ({
                value: topic,
                label: topic,
              }),
            ),
          ]}
          onChange={(event) => change({ topic: event.target.value || undefined })}
        />
        {user && mayWrite && rows.length > 1 && (
          <Button onClick={() => setOpen('optimize')}>Merge the memories of {user}…</Button>
        )}
      </FilterBar>
      {selected.length > 0 && (
        <div className="flex flex-wrap items-center gap-2 pb-3">
          <span className="text-muted">{selected.length} chosen</span>
          <Button
            size="small"
            onClick={() =>
              select(
                rows.map(({ memory_id }) => memory_id),
                true,
              )
            }
          >
            Choose all on this page
          </Button>
          <Button size="small" onClick={() => setChosen(new Set())}>
            Choose none
          </Button>
          <Button size="small" variant="danger" onClick={() => setOpen('delete')}>
            Delete {selected.length}…
          </Button>
        </div>
      )}
      <PagedTable
        label="Memories"
        columns={[...(mayDelete ? [pick] : []), ...columns, ...(mayWrite || mayDelete ? [edit] : [])]}
        list={list}
        rowKey={({ memory_id }) => memory_id}
        empty={
          filtered ? (
            <EmptyState title="No memory matches">Change the filters.</EmptyState>
          ) : (
            <EmptyState title="No memories yet">
              Agents with updateMemoryOnRun or agenticMemory write them while they talk to people.
            </EmptyState>
          )
        }
      />
      {editing && <MemoryDialog memory={editing} onClose={() => setEditing(undefined)} />}
      {open === 'optimize' && <OptimizeDialog userId={user} onClose={() => setOpen(undefined)} />}
      <ConfirmDialog
        open={open === 'delete' && selected.length > 0}
        onClose={() => setOpen(undefined)}
        title={selected.length === 1 ? 'Delete this memory?' : `Delete ${selected.length} memories?`}
        action="Delete"
        destructive
        onConfirm={remove}
      >
        <ul className="max-h-40 list-disc overflow-y-auto pl-4">
          {selected.map(({ memory_id, memory }) => (
            <li key={memory_id} className="line-clamp-2 [overflow-wrap:anywhere]">
              {memory}
            </li>
          ))}
        </ul>
        <p className="pt-2">Agents forget what is deleted. This cannot be undone.</p>
      </ConfirmDialog>
    </>
  );
}

const columns: readonly Column<Memory>[] = [
  {
    id: 'memory',
    header: 'Memory',
    grow: true,
    cell: ({ memory, topics }) => (
      <>
        <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{memory}</p>
        {topics && topics.length > 0 && (
          <span className="flex flex-wrap gap-1 pt-0.5">
            {topics.map((topic) => (
              <Badge key={topic}>{topic}</Badge>
            ))}
          </span>
        )}
      </>
    ),
  },
  { id: 'user', header: 'User', hideBelow: 'sm', cell: ({ user_id }) => user_id },
  {
    id: 'author',
    header: 'Written by',
    hideBelow: 'md',
    cell: ({ agent_id, team_id }) => agent_id ?? team_id ?? <span className="text-muted">a person</span>,
  },
  { id: 'updated', header: 'Updated', hideBelow: 'sm', cell: ({ updated_at }) => <Time at={updated_at} /> },
];
