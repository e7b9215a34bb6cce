import type { Component } from '@runyard/client';
import Plus from 'lucide-react/icons/plus';
import { useMemo, useState } from 'react';
import { useClient, useMay } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { Checkbox } from '../../ui/forms/toggles.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { Tabs } from '../../ui/tabs.js';
import { CodeComponents } from './code-components.js';
import { CreateDialog } from './create-dialog.js';

const columns: readonly Column<Component>[] = [
  {
    id: 'name',
    header: 'Name',
    grow: true,
    cell: ({ component_id, name, description }) => (
      <>
        <span>{name ?? component_id}</span>
        {description && <span className="line-clamp-1 font-normal text-muted">{description}</span>}
      </>
    ),
  },
  { id: 'type', header: 'Type', cell: ({ component_type }) => <Badge>{component_type}</Badge> },
  {
    id: 'version',
    header: 'Runs as',
    cell: ({ current_version, deleted_at }) => {
      if (deleted_at !== undefined) return <Badge tone="danger">deleted</Badge>;
      return current_version === undefined ? <Badge>draft only</Badge> : `version ${current_version}`;
    },
  },
  {
    id: 'updated',
    header: 'Updated',
    hideBelow: 'sm',
    cell: ({ updated_at, created_at, updated_by }) => (
      <>
        <Time at={updated_at ?? created_at} />
        {updated_by && <span className="text-muted"> by {updated_by}</span>}
      </>
    ),
  },
];

export function ComponentsPage() {
  const may = useMay();
  const mayCreate = may('components:write');
  const [search, change] = useSearchState();
  const [creating, setCreating] = useState(false);
  const commands = useMemo(
    () =>
      mayCreate
        ? [{ id: 'component-new', title: 'New component', group: 'Components', run: () => setCreating(true) }]
        : [],
    [mayCreate],
  );
  useCommands(commands);
  return (
    <Page>
      <PageHeader
        title="Components"
        description="Agents, teams and workflows. Stored ones are edited here, in versions; those of the code can be copied."
        actions={
          mayCreate && (
            <Button variant="primary" onClick={() => setCreating(true)}>
              <Plus aria-hidden className="size-4" />
              New component
            </Button>
          )
        }
      />
      <Tabs
        label="Where components are defined"
        value={search.tab === 'code' ? 'code' : 'stored'}
        onChange={(id) => change({ tab: id === 'code' ? id : undefined })}
        tabs={[
          { id: 'stored', label: 'Stored', content: <StoredComponents /> },
          { id: 'code', label: 'From the code', content: <CodeComponents mayCopy={mayCreate} /> },
        ]}
      />
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

const types = [
  { value: '', label: 'All types' },
  { value: 'agent', label: 'Agents' },
  { value: 'team', label: 'Teams' },
  { value: 'workflow', label: 'Workflows' },
];

const kinds: readonly Component['component_type'][] = ['agent', 'team', 'workflow'];

function StoredComponents() {
  const client = useClient();
  const [search, change] = useSearchState();
  const type = kinds.find((one) => one === search.type);
  const filters = {
    ...(type && { component_type: type }),
    ...(search.deleted && { include_deleted: true }),
  };
  const list = usePaged<Component>({
    key: ['stored-components', filters],
    load: (page, signal) => client.components.list({ ...page, ...filters }, { signal }),
  });
  return (
    <>
      <FilterBar>
        <Select
          aria-label="Type"
          className="max-w-40"
          value={type ?? ''}
          options={types}
          onChange={(event) => change({ type: event.target.value || undefined })}
        />
        <Checkbox
          label="Deleted ones too"
          checked={Boolean(search.deleted)}
          onChange={(checked) => change({ deleted: checked ? 'yes' : undefined })}
        />
      </FilterBar>
      <PagedTable
        label="Components"
        columns={columns}
        list={list}
        rowKey={({ component_id }) => component_id}
        rowLink={({ component_id }) => ({
          to: '/components/$componentId',
          params: { componentId: component_id },
        })}
        empty={
          <EmptyState title="No stored components yet">
            Create one, or copy one of the code. It runs at once, without a deployment.
          </EmptyState>
        }
      />
    </>
  );
}
