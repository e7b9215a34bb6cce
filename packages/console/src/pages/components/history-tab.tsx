import type { ComponentChange } from '@runyard/client';
import { useConnection } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { Time } from '../../ui/format/time.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';

const actions: Readonly<Record<string, string>> = {
  created: 'created',
  changed: 'changed',
  deleted: 'deleted',
  restored: 'restored',
  version_created: 'added version',
  version_saved: 'saved version',
  version_published: 'published version',
  version_deleted: 'deleted version',
  current_set: 'made current: version',
};

const columns: readonly Column<ComponentChange>[] = [
  {
    id: 'what',
    header: 'Change',
    cell: ({ action, version }) => `${actions[action] ?? action} ${version ?? ''}`,
  },
  {
    id: 'fields',
    header: 'Fields',
    grow: true,
    cell: ({ fields }) => (
      <ul>
        {fields.map(({ field, before, after }) => (
          <li key={field} className="[overflow-wrap:anywhere]">
            <code className="text-xs">{field}</code>{' '}
            {(before !== undefined || after !== undefined) && (
              <span className="text-muted">
                {before === undefined ? '' : `${JSON.stringify(before)} → `}
                {after === undefined ? '' : JSON.stringify(after)}
              </span>
            )}
          </li>
        ))}
      </ul>
    ),
  },
  { id: 'by', header: 'By', hideBelow: 'sm', cell: ({ changed_by }) => changed_by ?? '–' },
  { id: 'at', header: 'When', cell: ({ changed_at }) => <Time at={changed_at} /> },
];

/** Who changed what, newest first. */
export function HistoryTab({ componentId }: { readonly componentId: string }) {
  const { client } = useConnection();
  const list = usePaged<ComponentChange>({
    key: ['component-part', componentId, 'history'],
    load: (page, signal) => client.components.listHistory(componentId, page, { signal }),
  });
  return (
    <PagedTable
      label="History"
      columns={columns}
      list={list}
      rowKey={({ number }) => String(number)}
      empty={<EmptyState title="No changes are recorded" />}
    />
  );
}
