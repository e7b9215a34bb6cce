import type { NewServiceAccount } from '@runyard/client';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/overlay/dialog.js';

/** The token of a new account. The service stores only its hash: it is never shown again. */
export function SecretDialog({
  account: { name, token },
  onClose,
}: {
  readonly account: NewServiceAccount;
  onClose(): void;
}) {
  return (
    <Dialog
      open
      title={`Token of ${name}`}
      footer={
        <Button variant="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <p className="pb-3 text-muted">
        This is the only time that the token is shown. Store it where the program reads its secrets.
      </p>
      <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken p-2">
        <code className="min-w-0 flex-1 text-xs [overflow-wrap:anywhere]">{token}</code>
        <CopyButton text={token} label="Copy the token" />
      </div>
    </Dialog>
  );
}
