import { type ReactNode, useState } from 'react';
import { Button } from '../button.js';
import { ErrorLine } from '../states.js';
import { Dialog } from './dialog.js';

export interface ConfirmDialogProps {
  readonly open: boolean;
  onClose(): void;
  readonly title: string;
  /** What will happen, and whether it can be undone. */
  readonly children: ReactNode;
  /** The verb, such as "Delete session". */
  readonly action: string;
  readonly destructive?: boolean;
  /** The dialog stays open until it has succeeded, and shows why it failed. */
  onConfirm(): Promise<unknown> | unknown;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  return props.open ? <OpenConfirm {...props} /> : null;
}

function OpenConfirm({ onClose, title, children, action, destructive, onConfirm }: ConfirmDialogProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      size="small"
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant={destructive ? 'danger' : 'primary'} busy={busy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      <div className="text-muted">{children}</div>
      {error !== undefined && (
        <div className="mt-3">
          <ErrorLine error={error} />
        </div>
      )}
    </Dialog>
  );
}
