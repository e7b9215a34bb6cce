import type { ComponentCopy, ComponentType } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Select } from '../../ui/forms/inputs.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';

const types = [
  { value: 'agent', label: 'Agent' },
  { value: 'team', label: 'Team' },
  { value: 'workflow', label: 'Workflow' },
];

/** A new component with a draft: empty, or a copy of one of the code. */
export function CreateDialog({ copied, onClose }: { readonly copied?: ComponentCopy; onClose(): void }) {
  const { client } = useConnection();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(copied ? `${copied.name} copy` : '');
  const [id, setId] = useState(copied ? `${copied.component_id}-copy` : '');
  const [type, setType] = useState<ComponentType>(copied?.component_type ?? 'agent');
  const [description, setDescription] = useState('');
  const create = async () => {
    const { component_id } = await client.components.create({
      name: name.trim(),
      component_type: type,
      ...(id.trim() && { component_id: id.trim() }),
      ...(description.trim() && { description: description.trim() }),
      config: copied ? { ...copied.config, name: name.trim() } : {},
    });
    await queries.invalidateQueries({ queryKey: ['stored-components'] });
    await navigate({ to: '/components/$componentId', params: { componentId: component_id } });
  };
  return (
    <FormDialog
      title={copied ? `Copy ${copied.name} into a component` : 'New component'}
      onClose={onClose}
      action="Create draft"
      disabled={name.trim() === ''}
      onSubmit={create}
    >
      {!copied && (
        <Field label="Type">
          <Select
            value={type}
            options={types}
            // the options are these types
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
    </FormDialog>
  );
}
