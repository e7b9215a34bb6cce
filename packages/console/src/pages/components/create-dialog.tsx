import type { ComponentCopy, ComponentType } from '@runyard/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Select } from '../../ui/forms/inputs.js';
import { Dialog } from '../../ui/overlay/dialog.js';
import { ErrorLine } from '../../ui/states.js';

const types = [
  { value: 'agent', label: 'Agent' },
  { value: 'team', label: 'Team' },
  { value: 'workflow', label: 'Workflow' },
];

/** A new component with a draft: empty, or a copy of one of the code. */
export function CreateDialog({ copied, onClose }: { readonly copied?: ComponentCopy; onClose(): void }) {
  const form = useId();
  const { client } = useConnection();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(copied ? `${copied.name} copy` : '');
  const [id, setId] = useState(copied ? `${copied.component_id}-copy` : '');
  const [type, setType] = useState<ComponentType>(copied?.component_type ?? 'agent');
  const [description, setDescription] = useState('');
  const create = useMutation({
    mutationFn: () =>
      client.components.create({
        name: name.trim(),
        component_type: type,
        ...(id.trim() && { component_id: id.trim() }),
        ...(description.trim() && { description: description.trim() }),
        config: copied ? { ...copied.config, name: name.trim() } : {},
      }),
    onSuccess: async ({ component_id }) => {
      await queries.invalidateQueries({ queryKey: ['stored-components'] });
      await navigate({ to: '/components/$componentId', params: { componentId: component_id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Dialog
      open
      title={copied ? `Copy ${copied.name} into a component` : 'New component'}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            busy={create.isPending}
            disabled={name.trim() === ''}
          >
            Create draft
          </Button>
        </>
      }
    >
      <form id={form} className="flex flex-col gap-3" onSubmit={submit}>
        {!copied && (
          <Field label="Type">
            <Select
              value={type}
              options={types}
              onChange={(event) => setType(event.target.value as ComponentType)}
            />
          </Field>
        )}
        <Field label="Name">
          <Input value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="Id" hint="In addresses. Empty: the name in lower case, with - for blanks.">
          <Input spellCheck={false} value={id} onChange={(event) => setId(event.target.value)} />
        </Field>
        <Field label="Description">
          <Input value={description} onChange={(event) => setDescription(event.target.value)} />
        </Field>
        {create.error && <ErrorLine error={create.error} />}
      </form>
    </Dialog>
  );
}
