import type { LearningUser } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import Trash from 'lucide-react/icons/trash-2';
import { useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { IconButton } from '../../ui/button.js';
import { Time } from '../../ui/format/time.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';

/** Who has learnings. All of a user can be deleted at once. */
export function UsersTab() {
  const { client } = useConnection();
  const mayDelete = useMay()('learnings:delete');
  const queries = useQueryClient();
  const [deleting, setDeleting] = useState<string>();
  const list = usePaged<LearningUser>({
    key: ['learning-users'],
    load: (page, signal) => client.learnings.listUsers(page, { signal }),
  });
  const columns: readonly Column<LearningUser>[] = [
    { id: 'user', header: 'User', grow: true, cell: ({ user_id }) => user_id },
    {
      id: 'updated',
      header: 'Last change',
      cell: ({ last_learning_updated_at }) => <Time at={last_learning_updated_at} />,
    },
    ...(mayDelete
      ? [
          {
            id: 'delete',
            header: 'Delete',
            headerHidden: true,
            cell: ({ user_id }: LearningUser) => (
              // above the link that covers the row
              <div className="relative z-10">
                <IconButton
                  size="small"
                  label={`Delete all learnings of ${user_id}`}
                  onClick={() => setDeleting(user_id)}
                >
                  <Trash aria-hidden className="size-3.5" />
                </IconButton>
              </div>
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      <PagedTable
        label="Users"
        columns={columns}
        list={list}
        rowKey={({ user_id }) => user_id}
        rowLink={({ user_id }) => ({ to: '/learnings', search: { user: user_id } })}
        empty={<EmptyState title="No users have learnings yet" />}
      />
      <ConfirmDialog
        open={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={`Delete all learnings of ${deleting}?`}
        action="Delete all"
        destructive
        onConfirm={async () => {
          await client.learnings.deleteUser(deleting ?? '');
          await queries.invalidateQueries({ queryKey: ['learning-users'] });
          await queries.invalidateQueries({ queryKey: ['learnings'] });
        }}
      >
        The profile, the memories, the contexts, the entities and the decisions of this user. This cannot be
        undone.
      </ConfirmDialog>
    </>
  );
}
