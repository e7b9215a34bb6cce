import { AuthenticationError } from '@runyard/client';
import { type FormEvent, useState } from 'react';
import { Button } from '../ui/button.js';
import { CodeBlock } from '../ui/content/code-block.js';
import { Field } from '../ui/forms/field.js';
import { Input } from '../ui/forms/inputs.js';
import { Checkbox } from '../ui/forms/toggles.js';
import { Dialog } from '../ui/overlay/dialog.js';
import { ErrorLine } from '../ui/states.js';
import { changeAddress, giveToken, tryToken } from './connection.js';
import { useConnection } from './use-connection.js';

/** Asks for a token over the page: what was typed there stays, and what was refused is sent again. */
export function TokenGate() {
  const { refused } = useConnection();
  return refused === undefined ? null : <OpenGate refused={refused} />;
}

function OpenGate({ refused }: { readonly refused: 'missing' | 'invalid' }) {
  const { address, remembered } = useConnection();
  const [token, setToken] = useState('');
  const [remember, setRemember] = useState(remembered);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const given = token.trim();
    if (given === '') return;
    setBusy(true);
    setError(undefined);
    try {
      await tryToken(given);
      giveToken(given, remember);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      title={refused === 'missing' ? 'This service needs a token' : 'The token is no longer valid'}
    >
      <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        <p className="text-muted">
          {refused === 'missing'
            ? 'The service at '
            : 'It may have expired. What you typed is still there, and what was refused will be sent again. The service is at '}
          <strong className="text-text [overflow-wrap:anywhere]">{address || location.host}</strong>
          {refused === 'missing' ? ' admits only holders of a token.' : '.'}
        </p>
        <Field
          label="Access token"
          hint="A JWT, the token of a service account, or the security key."
          error={error instanceof AuthenticationError ? 'The service does not accept this token.' : undefined}
        >
          <Input
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </Field>
        {error !== undefined && !(error instanceof AuthenticationError) && <ErrorLine error={error} />}
        <Checkbox
          label="Remember on this device"
          hint="Otherwise the token is forgotten when you close this tab."
          checked={remember}
          onChange={setRemember}
        />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary" busy={busy} disabled={token.trim() === ''}>
            Continue
          </Button>
          {address && <Button onClick={() => changeAddress('')}>Use {location.host} instead</Button>}
        </div>
        <details className="text-muted">
          <summary className="text-accent-text underline">Where do I get a token?</summary>
          <p className="mt-2">
            Where the service runs, and with its settings, this command prints one for the user <em>ada</em>:
          </p>
          <CodeBlock language="sh" code="npx runyard token --user ada --scopes agents:run,sessions:read" />
        </details>
      </form>
    </Dialog>
  );
}
