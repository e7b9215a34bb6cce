import type { NewServiceAccount } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Field } from '../../ui/forms/field.js';
import { CodeArea, Input } from '../../ui/forms/inputs.js';
import { Checkbox } from '../../ui/forms/toggles.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';

const defaultScopes = ['agents:run', 'teams:run', 'workflows:run', 'sessions:read', 'config:read'];

/** Asks for the name, the scopes and the lifetime of a service account. */
export function NewAccountDialog({
  onClose,
  onCreated,
}: {
  onClose(): void;
  onCreated(account: NewServiceAccount): void;
}) {
  const { client } = useConnection();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState(defaultScopes.join('\n'));
  const [days, setDays] = useState('90');
  const [forever, setForever] = useState(false);
  const [privileged, setPrivileged] = useState(false);
  const create = async () => {
    const account = await client.serviceAccounts.create({
      name: name.trim(),
      scopes: scopes
        .split(/[\s,]+/)
        .filter(Boolean)
        .map((scope) => ({ scope })),
      ...(forever ? { never_expires: true } : { expires_in_days: Number(days) }),
      allow_privileged_scopes: privileged,
    });
    onClose();
    onCreated(account);
    await queries.invalidateQueries({ queryKey: ['service-accounts'] });
  };
  return (
    <FormDialog
      title="New service account"
      onClose={onClose}
      action="Create"
      disabled={name.trim() === ''}
      onSubmit={create}
    >
      <Field label="Name" hint="Lowercase letters, digits, - and _.">
        <Input
          autoCapitalize="none"
          spellCheck={false}
          placeholder="ci-bot"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Field
        label="Scopes"
        hint="One per line: resource:action, or resource:id:action for one component. You can give only scopes that you hold."
      >
        <CodeArea rows={6} value={scopes} onChange={(event) => setScopes(event.target.value)} />
      </Field>
      <Checkbox
        label="Allow privileged scopes"
        hint="Needed for write, delete, service_accounts and the admin scope."
        checked={privileged}
        onChange={setPrivileged}
      />
      <Field label="Valid for days">
        <Input
          type="number"
          min={1}
          max={3_650}
          className="max-w-32"
          disabled={forever}
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
      </Field>
      <Checkbox label="Valid until it is revoked" checked={forever} onChange={setForever} />
    </FormDialog>
  );
}
