import { type FormEvent, useState } from 'react';
import { forgetToken, giveToken, tryToken } from '../../connection/connection.js';
import { useConnection } from '../../connection/use-connection.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/format/time.js';
import { Field } from '../../ui/forms/field.js';
import { Input } from '../../ui/forms/inputs.js';
import { Checkbox } from '../../ui/forms/toggles.js';
import { KeyValue } from '../../ui/key-value.js';
import { Panel } from '../../ui/panel.js';
import { ErrorLine } from '../../ui/states.js';

export function TokenPanel() {
  const { token, remembered, claims } = useConnection();
  return (
    <Panel title="Token">
      {token === '' ? (
        <NewToken />
      ) : (
        <div className="flex flex-col gap-4">
          <KeyValue
            entries={[
              ['User', claims?.user],
              ['Expires', claims?.expiresAt && <Time at={claims.expiresAt} />],
              [
                'Scopes',
                claims?.scopes && (
                  <span className="flex flex-wrap gap-1">
                    {claims.scopes.map((scope) => (
                      <Badge key={scope}>{scope}</Badge>
                    ))}
                  </span>
                ),
              ],
              ['Kept', remembered ? 'on this device' : 'until this tab is closed'],
            ]}
          />
          <div>
            <Button variant="danger" onClick={forgetToken}>
              Forget the token
            </Button>
          </div>
        </div>
      )}
    </Panel>
  );
}

function NewToken() {
  const [token, setToken] = useState('');
  const [remember, setRemember] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    try {
      await tryToken(token.trim());
      giveToken(token.trim(), remember);
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <form className="flex flex-col gap-3" onSubmit={(event) => void submit(event)}>
      <Field label="Access token" hint="Needed only if the service asks for one.">
        <Input
          type="password"
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      </Field>
      {error !== undefined && <ErrorLine error={error} />}
      <Checkbox label="Remember on this device" checked={remember} onChange={setRemember} />
      <div>
        <Button type="submit" disabled={token.trim() === ''}>
          Use this token
        </Button>
      </div>
    </form>
  );
}
