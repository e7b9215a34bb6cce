import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { Button } from '../button.js';
import { ErrorLine } from '../states.js';
import { Dialog, type DialogProps } from './dialog.js';

export interface FormDialogProps extends Pick<DialogProps, 'title' | 'size'> {
  /** What the button says that sends the form. */
  readonly action?: string;
  /** Whether something is missing. */
  readonly disabled?: boolean;
  /** Of what the form needs, such as a list to choose from. */
  readonly error?: unknown;
  /** The layout of the fields. */
  readonly className?: string;
  /** While it is under way the form cannot be sent again; what it throws is shown below the fields. */
  onSubmit(): Promise<unknown>;
  onClose(): void;
  readonly children: ReactNode;
}

/** A dialog with a form: its buttons, and what becomes of it. The caller closes it when it has done its work. */
export function FormDialog({
  action = 'Save',
  disabled = false,
  error,
  className = 'flex flex-col gap-3',
  onSubmit,
  onClose,
  children,
  ...dialog
}: FormDialogProps) {
  const form = useId();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await onSubmit();
    } catch (thrown) {
      setFailure(thrown);
    } finally {
      setBusy(false);
    }
  };
  const shown = failure ?? error;
  return (
    <Dialog
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} variant="primary" busy={busy} disabled={disabled}>
            {action}
          </Button>
        </>
      }
      {...dialog}
    >
      <form id={form} className={className} onSubmit={(event) => void submit(event)}>
        {children}
        {shown != null && (
          <div className="col-span-full">
            <ErrorLine error={shown} />
          </div>
        )}
      </form>
    </Dialog>
  );
}
