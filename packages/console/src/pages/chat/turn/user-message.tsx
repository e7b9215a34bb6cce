import Pencil from 'lucide-react/icons/pencil';
import { type KeyboardEvent, memo, useEffect, useState } from 'react';
import { Button, IconButton } from '../../../ui/button.js';
import { JsonView } from '../../../ui/content/json-view.js';
import { CopyButton } from '../../../ui/copy-button.js';
import { Textarea } from '../../../ui/forms/inputs.js';
import { ErrorLine } from '../../../ui/states.js';
import { useChat } from '../chat-context.js';
import type { Turn } from '../conversation/turn.js';
import { useBusy } from '../pause/pause-card.js';
import { FileChip, MediaGallery } from './media.js';

/** What a person said. It can be edited: the conversation then branches before it. */
export const UserMessage = memo(({ turn, canEdit }: { readonly turn: Turn; readonly canEdit: boolean }) => {
  const [isEditing, setIsEditing] = useState(false);
  const { message, files, media } = turn.input;
  const text = typeof message === 'string' ? message : JSON.stringify(message, null, 2);
  if (isEditing) return <Editing turn={turn} text={text} onClose={() => setIsEditing(false)} />;
  return (
    <div className="group flex flex-row-reverse items-end gap-1">
      <h2 className="sr-only">You said</h2>
      <div className="max-w-[85%] min-w-0 rounded-xl rounded-br-sm bg-hover px-3.5 py-2">
        {typeof message === 'string' ? (
          <Text text={message} />
        ) : (
          <div className="min-w-56">
            <JsonView value={message} />
          </div>
        )}
        {files.length > 0 ? (
          <LocalFiles files={files} />
        ) : (
          media && <MediaGallery media={media} runId={turn.view.runId} side="input" />
        )}
      </div>
      <div className="flex shrink-0 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
        <CopyButton text={text} label="Copy message" />
        {canEdit && typeof message === 'string' && (
          <IconButton size="small" label="Edit message" data-edit onClick={() => setIsEditing(true)}>
            <Pencil aria-hidden className="size-3.5" />
          </IconButton>
        )}
      </div>
    </div>
  );
});

const shownAtFirst = 4_000;

function Text({ text }: { readonly text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  const isCut = text.length > shownAtFirst && !isWhole;
  return (
    <div className="whitespace-pre-wrap [overflow-wrap:anywhere]">
      {isCut ? `${text.slice(0, shownAtFirst)} …` : text}
      {isCut && (
        <Button size="small" variant="ghost" className="mt-1 block" onClick={() => setIsWhole(true)}>
          Show all
        </Button>
      )}
    </div>
  );
}

function LocalFiles({ files }: { readonly files: readonly File[] }) {
  return (
    <ul className="mt-1 flex flex-wrap gap-2">
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name.
        <li key={at} className="min-w-0">
          <LocalFile file={file} />
        </li>
      ))}
    </ul>
  );
}

export function LocalFile({ file }: { readonly file: File }) {
  const isImage = /^image\/(?:png|jpeg|gif|webp|avif)$/.test(file.type);
  const [source, setSource] = useState<string>();
  useEffect(() => {
    if (!isImage) return undefined;
    const url = URL.createObjectURL(file);
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [file, isImage]);
  if (source)
    return <img src={source} alt={file.name} className="max-h-48 max-w-full rounded-lg border border-line" />;
  return <FileChip name={file.name} size={file.size} />;
}

function Editing({ turn, text, onClose }: { readonly turn: Turn; readonly text: string; onClose(): void }) {
  const { branch } = useChat();
  const [edited, setEdited] = useState(text);
  const { busy, error, run } = useBusy();
  const send = () => {
    if (edited.trim() !== '') run(() => branch(turn, edited));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      onClose();
    } else if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      send();
    }
  };
  return (
    <div className="flex flex-col gap-2 rounded-xl border border-line bg-surface p-2">
      <Textarea
        autoFocus
        aria-label="Edited message"
        rows={Math.min(12, edited.split('\n').length + 1)}
        value={edited}
        onChange={({ target }) => setEdited(target.value)}
        onKeyDown={onKeyDown}
      />
      {error !== undefined && <ErrorLine error={error} />}
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p className="min-w-0 flex-1 text-xs text-muted">
          The conversation continues from here in a copy. This one stays as it is.
        </p>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" busy={busy} disabled={edited.trim() === ''} onClick={send}>
          Send
        </Button>
      </div>
    </div>
  );
}
