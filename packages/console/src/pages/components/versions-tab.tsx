import type { ComponentConfig } from '@runyard/client';
import EllipsisVertical from 'lucide-react/icons/ellipsis-vertical';
import { useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { useSearchState } from '../../data/search-state.js';
import { Badge, StatusBadge } from '../../ui/badge.js';
import { IconButton } from '../../ui/button.js';
import { Time } from '../../ui/format/time.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { Menu, type MenuItem } from '../../ui/overlay/menu.js';
import { toast } from '../../ui/overlay/toasts.js';
import { EmptyState } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { PublishDialog } from './publish-dialog.js';
import { type StoredComponent, useReloadComponent } from './stored-component.js';

type Open = {
  readonly what: 'publish' | 'describe' | 'current' | 'delete';
  readonly version: ComponentConfig;
};

/** All versions, with what can be done with each. */
export function VersionsTab({ stored: { component, versions } }: { readonly stored: StoredComponent }) {
  const { client } = useConnection();
  const may = useMay();
  const reload = useReloadComponent();
  const [, change] = useSearchState();
  const [open, setOpen] = useState<Open>();
  const { component_id: id, current_version: current, deleted_at } = component;
  const mayWrite = may('components:write') && deleted_at === undefined;
  const close = () => setOpen(undefined);
  const itemsOf = (version: ComponentConfig): readonly (MenuItem | 'line')[] => {
    const isDraft = version.stage === 'draft';
    const item = (what: Open['what'], label: string): MenuItem => ({
      label,
      destructive: what === 'delete',
      onSelect: () => setOpen({ what, version }),
    });
    return [
      {
        label: 'Open in the editor',
        onSelect: () => change({ tab: undefined, version: String(version.version) }),
      },
      ...(current !== undefined && version.version !== current
        ? [
            {
              label: 'Compare with the current one',
              onSelect: () => change({ tab: 'compare', from: String(current), to: String(version.version) }),
            },
          ]
        : []),
      ...(mayWrite && isDraft ? [item('publish', 'Publish…'), item('describe', 'Label and notes…')] : []),
      ...(mayWrite && !isDraft && version.version !== current
        ? [item('current', (current ?? 0) > version.version ? 'Roll back to it…' : 'Make it current…')]
        : []),
      ...(isDraft && may('components:delete') ? (['line', item('delete', 'Delete draft…')] as const) : []),
    ];
  };
  const columns: readonly Column<ComponentConfig>[] = [
    {
      id: 'version',
      header: 'Version',
      cell: ({ version }) => (
        <span className="inline-flex items-center gap-2 font-medium">
          {version} {version === current && <Badge tone="accent">current</Badge>}
        </span>
      ),
    },
    { id: 'stage', header: 'Stage', cell: ({ stage }) => <StatusBadge status={stage} /> },
    {
      id: 'notes',
      header: 'Label and notes',
      grow: true,
      cell: ({ label, notes }) => (
        <span className="[overflow-wrap:anywhere]">
          {label && <strong className="font-medium">{label} </strong>}
          <span className="text-muted">{notes}</span>
        </span>
      ),
    },
    {
      id: 'changed',
      header: 'Changed',
      hideBelow: 'sm',
      cell: ({ updated_at, created_at, updated_by, created_by }) => (
        <>
          <Time at={updated_at ?? created_at} />
          <span className="text-muted">
            {' '}
            {(updated_by ?? created_by) && `by ${updated_by ?? created_by}`}
          </span>
        </>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      cell: (version) => (
        <Menu items={itemsOf(version)}>
          <IconButton size="small" label={`Actions for version ${version.version}`}>
            <EllipsisVertical aria-hidden className="size-4" />
          </IconButton>
        </Menu>
      ),
    },
  ];
  return (
    <>
      <DataTable
        label="Versions"
        columns={columns}
        rows={versions}
        rowKey={({ version }) => String(version)}
        empty={<EmptyState title="No versions" />}
      />
      {open && (open.what === 'publish' || open.what === 'describe') && (
        <PublishDialog
          component={component}
          version={open.version}
          onlyDescribe={open.what === 'describe'}
          onClose={close}
        />
      )}
      <ConfirmDialog
        open={open?.what === 'current'}
        onClose={close}
        title={`Run version ${open?.version.version} from now on?`}
        action="Make it current"
        onConfirm={async () => {
          const next = open?.version.version ?? 0;
          const { degraded } = await client.components.setCurrentConfig(id, next, {
            expected_revision: component.revision,
          });
          await reload();
          toast({
            title: degraded ?? `Version ${next} is the current one.`,
            ...(degraded && { tone: 'danger' as const }),
          });
        }}
      >
        The next run uses it. Runs in progress keep the version that they began with. Version {current ?? '–'}{' '}
        stays, and you can go back to it.
      </ConfirmDialog>
      <ConfirmDialog
        open={open?.what === 'delete'}
        onClose={close}
        title={`Delete the draft ${open?.version.version}?`}
        action="Delete draft"
        destructive
        onConfirm={async () => {
          if (open === undefined) return;
          const { version, revision } = open.version;
          await client.components.deleteConfig(id, version, { expected_revision: revision });
          change({ version: undefined });
          await reload();
        }}
      >
        This cannot be undone. Published versions stay.
      </ConfirmDialog>
    </>
  );
}
