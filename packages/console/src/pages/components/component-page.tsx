import { useNavigate, useParams } from '@tanstack/react-router';
import EllipsisVertical from 'lucide-react/icons/ellipsis-vertical';
import { useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { Badge } from '../../ui/badge.js';
import { Button, IconButton } from '../../ui/button.js';
import { Link } from '../../ui/link.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { Menu } from '../../ui/overlay/menu.js';
import { toast } from '../../ui/overlay/toasts.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState, explained } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { CompareTab } from './compare-tab.js';
import { DetailsDialog } from './details-dialog.js';
import { EditorTab } from './editor-tab.js';
import { HistoryTab } from './history-tab.js';
import {
  type StoredComponent,
  useDegraded,
  useReloadComponent,
  useStoredComponent,
} from './stored-component.js';
import { TryTab } from './try-tab.js';
import { UsersTab } from './users-tab.js';
import { VersionsTab } from './versions-tab.js';

export function ComponentPage() {
  const { componentId } = useParams({ from: '/components/$componentId' });
  const query = useStoredComponent(componentId);
  return (
    <Page>
      <Loaded
        query={query}
        header={<PageHeader title="Component" parent={<Link to="/components">Components</Link>} />}
      >
        {(stored) => <Shown stored={stored} />}
      </Loaded>
    </Page>
  );
}

function Shown({ stored }: { readonly stored: StoredComponent }) {
  const { component } = stored;
  const [search, change] = useSearchState();
  const degraded = useDegraded(component);
  const isDeleted = component.deleted_at !== undefined;
  const tabs = [
    { id: 'edit', label: 'Edit', content: <EditorTab stored={stored} /> },
    { id: 'versions', label: 'Versions', content: <VersionsTab stored={stored} /> },
    { id: 'compare', label: 'Compare', content: <CompareTab stored={stored} /> },
    ...(component.component_type === 'workflow'
      ? []
      : [{ id: 'try', label: 'Try', content: <TryTab stored={stored} /> }]),
    { id: 'users', label: 'Used by', content: <UsersTab componentId={component.component_id} /> },
    { id: 'history', label: 'History', content: <HistoryTab componentId={component.component_id} /> },
  ];
  return (
    <>
      <PageHeader
        title={component.name ?? component.component_id}
        description={component.description}
        parent={<Link to="/components">Components</Link>}
        actions={<Actions stored={stored} />}
      />
      <p className="flex flex-wrap items-center gap-2 pb-3 text-muted">
        <Badge>{component.component_type}</Badge>
        <code className="text-xs">{component.component_id}</code>
        {isDeleted && <Badge tone="danger">deleted</Badge>}
        {!isDeleted &&
          (component.current_version === undefined
            ? 'No version is published: runs use the newest draft.'
            : `Version ${component.current_version} runs.`)}
      </p>
      {degraded.data && (
        <p
          role="status"
          className="mb-4 rounded-lg bg-warning-soft px-4 py-2 text-warning [overflow-wrap:anywhere]"
        >
          It cannot run: {degraded.data}
        </p>
      )}
      {isDeleted ? (
        <EmptyState title="This component is deleted">
          Its versions are kept. Restore it to see them, and to run it again.
        </EmptyState>
      ) : (
        <Tabs
          label="Parts of the component"
          tabs={tabs}
          value={tabs.some(({ id }) => id === search.tab) ? (search.tab ?? '') : 'edit'}
          onChange={(id) => change({ tab: id === 'edit' ? undefined : id })}
        />
      )}
    </>
  );
}

function Actions({ stored: { component } }: { readonly stored: StoredComponent }) {
  const { client } = useConnection();
  const may = useMay();
  const navigate = useNavigate();
  const reload = useReloadComponent();
  const [open, setOpen] = useState<'details' | 'delete'>();
  const [busy, setBusy] = useState(false);
  const { component_id: id, revision } = component;
  const restore = async () => {
    setBusy(true);
    try {
      await client.components.restore(id, { expected_revision: revision });
      await reload();
      toast({ title: 'Restored.' });
    } catch (error) {
      toast({ title: explained(error).detail, tone: 'danger' });
    } finally {
      setBusy(false);
    }
  };
  if (component.deleted_at !== undefined)
    return (
      may('components:write') && (
        <Button variant="primary" busy={busy} onClick={() => void restore()}>
          Restore
        </Button>
      )
    );
  const items = [
    ...(may('components:write')
      ? [{ label: 'Name and description…', onSelect: () => setOpen('details') }]
      : []),
    ...(may('components:delete')
      ? [{ label: 'Delete…', destructive: true, onSelect: () => setOpen('delete') }]
      : []),
  ];
  if (items.length === 0) return null;
  return (
    <>
      <Menu items={items}>
        <IconButton label="Actions" variant="secondary">
          <EllipsisVertical aria-hidden className="size-4" />
        </IconButton>
      </Menu>
      {open === 'details' && <DetailsDialog component={component} onClose={() => setOpen(undefined)} />}
      <ConfirmDialog
        open={open === 'delete'}
        onClose={() => setOpen(undefined)}
        title={`Delete ${component.name ?? id}?`}
        action="Delete"
        destructive
        onConfirm={async () => {
          await client.components.delete(id, { expected_revision: revision });
          await reload();
          toast({ title: 'Deleted. Its versions are kept: it can be restored.' });
          await navigate({ to: '/components' });
        }}
      >
        It no longer runs, and schedules and evals that name it fail. Runs in progress continue. You can
        restore it with all of its versions.
      </ConfirmDialog>
    </>
  );
}
