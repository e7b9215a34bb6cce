import type { Content } from '@runyard/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import EllipsisVertical from 'lucide-react/icons/ellipsis-vertical';
import { useRef, useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { IconButton } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { Menu, type MenuItem } from '../../ui/overlay/menu.js';
import { toast } from '../../ui/overlay/toasts.js';
import { explained } from '../../ui/states.js';
import { inBase } from './bases.js';
import { addAgain, canRepeat } from './content-again.js';
import { EditDialog } from './edit-dialog.js';

/** What can be done with a content. */
export function DocumentMenu({
  baseId,
  content,
  onDeleted,
}: {
  readonly baseId: string | undefined;
  readonly content: Content;
  onDeleted?(): void;
}) {
  const { client } = useConnection();
  const may = useMay();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const chooser = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const name = content.name ?? content.id;
  const again = useMutation({
    mutationFn: (file: File | undefined) => addAgain(client, baseId, content, file),
    onSuccess: () => {
      toast({ title: `${name} is processed again.` });
      return queries.invalidateQueries({ queryKey: ['contents'] });
    },
    onError: (error) => toast({ title: explained(error).detail, tone: 'danger' }),
  });
  const remove = async () => {
    await client.knowledge.deleteContentById(content.id, inBase(baseId));
    toast({ title: `${name} is deleted.` });
    onDeleted?.();
    await queries.invalidateQueries({ queryKey: ['contents'] });
  };
  const repeat: MenuItem = canRepeat(content)
    ? { label: 'Process again', onSelect: () => again.mutate(undefined) }
    : { label: 'Process again with a file…', onSelect: () => chooser.current?.click() };
  const isText = content.definition !== undefined && 'text' in content.definition.from;
  const items: (MenuItem | 'line')[] = [
    {
      label: 'Search in it',
      onSelect: () =>
        void navigate({ to: '/knowledge', search: { base: baseId, tab: 'search', content: content.id } }),
    },
    ...(may('knowledge:write')
      ? [
          { label: 'Edit…', onSelect: () => setOpen('edit') },
          ...(isText && !canRepeat(content) ? [] : [repeat]),
        ]
      : []),
    ...(may('knowledge:delete')
      ? ['line' as const, { label: 'Delete…', destructive: true, onSelect: () => setOpen('delete') }]
      : []),
  ];
  return (
    // above the link that covers the row
    <div className="relative z-10">
      <Menu items={items}>
        <IconButton size="small" label={`Actions for ${name}`} busy={again.isPending}>
          <EllipsisVertical aria-hidden className="size-4" />
        </IconButton>
      </Menu>
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label={`File of ${name}`}
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          if (file) again.mutate(file);
          event.target.value = '';
        }}
      />
      {open === 'edit' && <EditDialog baseId={baseId} content={content} onClose={() => setOpen(undefined)} />}
      <ConfirmDialog
        open={open === 'delete'}
        onClose={() => setOpen(undefined)}
        title={`Delete ${name}?`}
        action="Delete"
        destructive
        onConfirm={remove}
      >
        Agents no longer find it. Its chunks are deleted too, and if it is a folder or a list of addresses, so
        is everything in it. This cannot be undone.
      </ConfirmDialog>
    </div>
  );
}
