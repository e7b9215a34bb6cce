import type { Component, ComponentConfig } from '@runyard/client';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Textarea } from '../../ui/forms/inputs.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';
import { toast } from '../../ui/overlay/toasts.js';
import { useReloadComponent } from './stored-component.js';

export interface PublishDialogProps {
  readonly component: Component;
  readonly version: ComponentConfig;
  /** Left out: the draft is published. */
  readonly onlyDescribe?: boolean;
  onClose(): void;
}

/** Publishes a draft, or changes its label and notes. */
export function PublishDialog({ component, version, onlyDescribe = false, onClose }: PublishDialogProps) {
  const { client } = useConnection();
  const reload = useReloadComponent();
  const [label, setLabel] = useState(version.label ?? '');
  const [notes, setNotes] = useState(version.notes ?? '');
  const save = async () => {
    const { degraded } = await client.components.updateConfig(component.component_id, version.version, {
      label: label.trim() || null,
      notes: notes.trim() || null,
      ...(!onlyDescribe && { stage: 'published' }),
      expected_revision: version.revision,
    });
    await reload();
    if (!onlyDescribe)
      toast({
        title: degraded ?? `Version ${version.version} is published, and runs from now on.`,
        ...(degraded && { tone: 'danger' as const }),
      });
    onClose();
  };
  return (
    <FormDialog
      title={
        onlyDescribe ? `Label and notes of version ${version.version}` : `Publish version ${version.version}`
      }
      onClose={onClose}
      action={onlyDescribe ? 'Save' : 'Publish'}
      onSubmit={save}
    >
      {!onlyDescribe && (
        <p className="text-muted">
          The next run uses it. A published version never changes; you can go back to an earlier one at any
          time.
        </p>
      )}
      <Field label="Label" hint="A name that no other version of this component has.">
        <Input value={label} onChange={(event) => setLabel(event.target.value)} />
      </Field>
      <Field label="Notes" hint="What is new.">
        <Textarea rows={3} value={notes} onChange={(event) => setNotes(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
