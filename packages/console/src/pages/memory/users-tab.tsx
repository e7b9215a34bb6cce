import type { UserMemoryStatistics } from '@runyard/client';
import { useConnection } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { formatCount } from '../../ui/format/numbers.js';
import { Time } from '../../ui/format/time.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';

const columns: readonly Column<UserMemoryStatistics>[] = [
  { id: 'user', header: 'User', grow: true, cell: ({ user_id }) => user_id },
  {
    id: 'count',
    header: 'Memories',
    align: 'right',
    cell: ({ total_memories }) => formatCount(total_memories),
  },
  {
    id: 'updated',
    header: 'Last change',
    cell: ({ last_memory_updated_at }) => <Time at={last_memory_updated_at} />,
  },
];

/** How much is known about whom. A row leads to the memories of the user. */
export function UsersTab() {
  const { client } = useConnection();
  const list = usePaged<UserMemoryStatistics>({
    key: ['memory-users'],
    load: (page, signal) => client.memories.getUserStats(page, { signal }),
  });
  return (
    <PagedTable
      label="Users"
      columns={columns}
      list={list}
      rowKey={({ user_id }) => user_id}
      rowLink={({ user_id }) => ({ to: '/memory', search: { user: user_id } })}
      empty={<EmptyState title="No users have memories yet" />}
    />
  );
}
