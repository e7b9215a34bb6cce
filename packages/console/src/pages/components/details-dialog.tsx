import type { Component } from '@runyard/client';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Field } from '../../ui/forms/field.js';
import { CodeArea, Input, Textarea } from '../../ui/forms/inputs.js';
import { jsonFault, jsonText, parseJsonObject } from '../../ui/forms/json-text.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';
import { useReloadComponent } from './stored-component.js';

/** The name, the description and the metadata of a component, which all of its versions share. */
export function DetailsDialog({ component, onClose }: { readonly component: Component; onClose(): void }) {
  const { client } = useConnection();
  const reload = useReloadComponent();
  const [name, setName] = useState(component.name ?? '');
  const [description, setDescription] = useState(component.description ?? '');
  const [metadata, setMetadata] = useState(jsonText(component.metadata));
  const fault = jsonFault(metadata, parseJsonObject);
  const save = async () => {
    await client.components.update(component.component_id, {
      name: name.trim(),
      description: description.trim() || null,
      metadata: parseJsonObject(metadata) ?? null,
      expected_revision: component.revision,
    });
    await reload();
    onClose();
  };
  return (
    <FormDialog
      title="Name and description"
      onClose={onClose}
      disabled={name.trim() === '' || fault !== undefined}
      onSubmit={save}
    >
      <Field label="Name" hint="A run shows the name of its configuration, or else this one.">
        <Input value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Description">
        <Textarea rows={2} value={description} onChange={(event) => setDescription(event.target.value)} />
      </Field>
      <Field label="Metadata" hint="A JSON object with facts of your own." error={fault}>
        <CodeArea rows={3} value={metadata} onChange={(event) => setMetadata(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
