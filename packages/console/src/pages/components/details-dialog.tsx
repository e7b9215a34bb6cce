import type { Component } from '@runyard/client';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Textarea } from '../../ui/forms/inputs.js';
import { jsonFault, jsonText, parseJsonObject } from '../../ui/forms/json-text.js';
import { Dialog } from '../../ui/overlay/dialog.js';
import { ErrorLine } from '../../ui/states.js';
import { useReloadComponent } from './stored-component.js';

/** The name, the description and the metadata of a component, which all of its versions share. */
export function DetailsDialog({ component, onClose }: { readonly component: Component; onClose(): void }) {
  const form = useId();
  const { client } = useConnection();
  const reload = useReloadComponent();
  const [name, setName] = useState(component.name ?? '');
  const [description, setDescription] = useState(component.description ?? '');
  const [metadata, setMetadata] = useState(jsonText(component.metadata));
  const fault = jsonFault(metadata, parseJsonObject);
  const save = useMutation({
    mutationFn: () =>
      client.components.update(component.component_id, {
        name: name.trim(),
        description: description.trim() || null,
        metadata: parseJsonObject(metadata) ?? null,
        expected_revision: component.revision,
      }),
    onSuccess: async () => {
      await reload();
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Dialog
      open
      title="Name and description"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            busy={save.isPending}
            disabled={name.trim() === '' || fault !== undefined}
          >
            Save
          </Button>
        </>
      }
    >
      <form id={form} className="flex flex-col gap-3" onSubmit={submit}>
        <Field label="Name" hint="A run shows the name of its configuration, or else this one.">
          <Input value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="Description">
          <Textarea rows={2} value={description} onChange={(event) => setDescription(event.target.value)} />
        </Field>
        <Field label="Metadata" hint="A JSON object with facts of your own." error={fault}>
          <Textarea
            rows={3}
            spellCheck={false}
            className="font-mono text-[0.8125rem]"
            value={metadata}
            onChange={(event) => setMetadata(event.target.value)}
          />
        </Field>
        {save.error && <ErrorLine error={save.error} />}
      </form>
    </Dialog>
  );
}
