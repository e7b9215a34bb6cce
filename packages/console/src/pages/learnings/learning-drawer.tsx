import type { Learning } from '@runyard/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { JsonView } from '../../ui/content/json-view.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Time } from '../../ui/format/time.js';
import { KeyValue } from '../../ui/key-value.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { Drawer } from '../../ui/overlay/dialog.js';
import { LearningDialog } from './learning-dialog.js';
import { subjectOf, typeNames } from './learning-text.js';

/** A record with all that it holds. */
export function LearningDrawer({
  learning: listed,
  onClose,
}: {
  readonly learning: Learning;
  onClose(): void;
}) {
  const { client, address } = useConnection();
  const may = useMay();
  const queries = useQueryClient();
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const { data: learning = listed } = useQuery({
    queryKey: ['learning', address, listed.learning_id],
    queryFn: ({ signal }) => client.learnings.get(listed.learning_id, {}, { signal }),
    initialData: listed,
  });
  return (
    <Drawer
      open
      title={subjectOf(learning)}
      onClose={onClose}
      footer={
        <>
          {may('learnings:delete') && (
            <Button variant="danger" onClick={() => setOpen('delete')}>
              Delete…
            </Button>
          )}
          {may('learnings:write') && <Button onClick={() => setOpen('edit')}>Edit…</Button>}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <KeyValue
          entries={[
            ['Type', <Badge key="type">{typeNames[learning.learning_type] ?? learning.learning_type}</Badge>],
            ['User', learning.user_id ?? 'everyone'],
            ['Namespace', learning.namespace ?? 'global'],
            ['Session', learning.session_id],
            ['Entity', learning.entity_id && `${learning.entity_type} ${learning.entity_id}`],
            ['Agent', learning.agent_id],
            ['Team', learning.team_id],
            ['Created', <Time key="created" at={learning.created_at} style="absolute" />],
            ['Updated', <Time key="updated" at={learning.updated_at} style="absolute" />],
            [
              'Id',
              <span key="id" className="inline-flex items-center gap-1">
                <code className="text-xs">{learning.learning_id}</code>
                <CopyButton text={learning.learning_id} label="Copy the id" />
              </span>,
            ],
          ]}
        />
        <JsonView value={learning.content} depth={3} />
        {learning.metadata && (
          <section aria-label="Metadata">
            <h3 className="pb-1 text-xs font-medium">Metadata</h3>
            <JsonView value={learning.metadata} />
          </section>
        )}
      </div>
      {open === 'edit' && <LearningDialog learning={learning} onClose={() => setOpen(undefined)} />}
      <ConfirmDialog
        open={open === 'delete'}
        onClose={() => setOpen(undefined)}
        title="Delete this learning?"
        action="Delete"
        destructive
        onConfirm={async () => {
          await client.learnings.delete(learning.learning_id);
          await queries.invalidateQueries({ queryKey: ['learnings'] });
          onClose();
        }}
      >
        Agents no longer use it. This cannot be undone.
      </ConfirmDialog>
    </Drawer>
  );
}
