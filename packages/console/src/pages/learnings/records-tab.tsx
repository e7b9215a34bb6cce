import type { Learning } from '@runyard/client';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { useSearchState } from '../../data/search-state.js';
import { Badge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar, SearchInput } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { EmptyState } from '../../ui/states.js';
import type { Column, Sort } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { LearningDrawer } from './learning-drawer.js';
import { knownTypes, subjectOf, summaryOf, typeNames } from './learning-text.js';

/** Records with filters. A row opens the record. */
export function RecordsTab() {
  const { client } = useConnection();
  const [search, change] = useSearchState();
  const [opened, setOpened] = useState<Learning>();
  const sort: Sort = { by: search.sort ?? 'updated_at', direction: search.order === 'asc' ? 'asc' : 'desc' };
  const filters = {
    ...(search.type && { learning_type: search.type }),
    ...(search.user && { user_id: search.user }),
    ...(search.namespace && { namespace: search.namespace }),
    ...(search.entity && { entity_id: search.entity }),
    sort_by: sort.by,
    sort_order: sort.direction,
  };
  const list = usePaged<Learning>({
    key: ['learnings', filters],
    load: (page, signal) => client.learnings.list({ ...filters, ...page }, { signal }),
  });
  const filtered = Boolean(search.type || search.user || search.namespace || search.entity);
  const clear = { type: undefined, user: undefined, namespace: undefined, entity: undefined };
  const columns: readonly Column<Learning>[] = [
    {
      id: 'learning_type',
      header: 'Type',
      sortable: true,
      cell: ({ learning_type }) => <Badge>{typeNames[learning_type] ?? learning_type}</Badge>,
    },
    {
      id: 'content',
      header: 'Content',
      grow: true,
      cell: (learning) => (
        <button type="button" className="text-left hover:underline" onClick={() => setOpened(learning)}>
          <span className="block font-medium [overflow-wrap:anywhere]">{subjectOf(learning)}</span>
          <span className="line-clamp-2 text-muted [overflow-wrap:anywhere]">
            {summaryOf(learning.content)}
          </span>
        </button>
      ),
    },
    {
      id: 'user_id',
      header: 'User',
      hideBelow: 'md',
      sortable: true,
      cell: ({ user_id }) => user_id ?? <span className="text-muted">everyone</span>,
    },
    {
      id: 'updated_at',
      header: 'Updated',
      hideBelow: 'sm',
      sortable: true,
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
  ];
  return (
    <>
      <FilterBar onClear={filtered ? () => change(clear) : undefined}>
        <Select
          aria-label="Type"
          className="max-w-48"
          value={search.type ?? ''}
          options={[
            { value: '', label: 'Every type' },
            ...[...new Set([...knownTypes, ...(search.type ? [search.type] : [])])].map((type) => ({
              value: type,
              label: typeNames[type] ?? type,
            })),
          ]}
          onChange={(event) => change({ type: event.target.value || undefined })}
        />
        <SearchInput
          label="User"
          value={search.user ?? ''}
          onChange={(text) => change({ user: text.trim() || undefined })}
        />
        <SearchInput
          label="Entity"
          value={search.entity ?? ''}
          onChange={(text) => change({ entity: text.trim() || undefined })}
        />
        <SearchInput
          label="Namespace"
          value={search.namespace ?? ''}
          onChange={(text) => change({ namespace: text.trim() || undefined })}
        />
      </FilterBar>
      <PagedTable
        label="Learnings"
        columns={columns}
        list={list}
        rowKey={({ learning_id }) => learning_id}
        sort={sort}
        onSort={({ by, direction }) => change({ sort: by, order: direction })}
        empty={
          filtered ? (
            <EmptyState title="No learning matches">The filters must be equal, not only a part.</EmptyState>
          ) : (
            <EmptyState title="No learnings yet">
              Agents with learning store them after their runs.
            </EmptyState>
          )
        }
      />
      {opened && (
        <LearningDrawer key={opened.learning_id} learning={opened} onClose={() => setOpened(undefined)} />
      )}
    </>
  );
}
