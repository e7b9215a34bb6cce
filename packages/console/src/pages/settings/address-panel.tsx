import { type FormEvent, useState } from 'react';
import { changeAddress, serviceAddress } from '../../connection/connection.js';
import { useConnection } from '../../connection/use-connection.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/forms/field.js';
import { Input } from '../../ui/forms/inputs.js';
import { Panel } from '../../ui/panel.js';

export function AddressPanel() {
  const { address } = useConnection();
  const [text, setText] = useState(address);
  const [error, setError] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      const next = serviceAddress(text);
      setError(undefined);
      setText(next);
      changeAddress(next);
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    }
  };
  return (
    <Panel title="Service">
      <form className="flex flex-col gap-3" onSubmit={submit}>
        <Field
          label="Address"
          hint={`Empty: the service that sent this page, ${location.host}. Another service must name this page's origin, ${location.origin}, in its setting corsOrigins.`}
          error={error}
        >
          <Input
            inputMode="url"
            placeholder="https://agents.example.com"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
        <div className="flex gap-2">
          <Button type="submit" variant="primary">
            Connect
          </Button>
          {address && (
            <Button
              onClick={() => {
                setText('');
                changeAddress('');
              }}
            >
              Use this service
            </Button>
          )}
        </div>
      </form>
    </Panel>
  );
}
