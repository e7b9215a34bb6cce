import { type FormEvent, useState } from 'react';
import { useClient } from '../../../connection/use-connection.js';
import { Button } from '../../../ui/button.js';
import { Field } from '../../../ui/forms/field.js';
import { Input } from '../../../ui/forms/inputs.js';
import { ConfirmDialog } from '../../../ui/overlay/confirm-dialog.js';
import { Dialog } from '../../../ui/overlay/dialog.js';
import { ErrorLine } from '../../../ui/states.js';
import { useBusy } from '../pause/pause-card.js';

interface SessionDialogProps {
  readonly id: string;
  readonly name: string;
  readonly dbId: string | undefined;
  onClose(): void;
  onDone(): void;
}

export function RenameSession({ id, name, dbId, onClose, onDone }: SessionDialogProps) {
  const client = useClient();
  const [text, setText] = useState(name);
  const { busy, error, run } = useBusy();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(async () => {
      await client.sessions.rename(id, { session_name: text.trim() }, dbId ? { query: { db_id: dbId } } : {});
      onDone();
      onClose();
    });
  };
  return (
    <Dialog open size="small" title="Rename session" onClose={onClose}>
      <form className="flex flex-col gap-4" onSubmit={submit}>
        <Field label="Name">
          <Input autoFocus maxLength={255} value={text} onChange={({ target }) => setText(target.value)} />
        </Field>
        {error !== undefined && <ErrorLine error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={busy} disabled={text.trim() === ''}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function DeleteSession({ id, name, dbId, onClose, onDone }: SessionDialogProps) {
  const client = useClient();
  return (
    <ConfirmDialog
      open
      title="Delete session"
      action="Delete session"
      destructive
      onClose={onClose}
      onConfirm={async () => {
        await client.sessions.delete(id, dbId ? { db_id: dbId } : {});
        onDone();
      }}
    >
      “{name}” is deleted with its messages and its state. Runs in progress are stopped. This cannot be
      undone.
    </ConfirmDialog>
  );
}
