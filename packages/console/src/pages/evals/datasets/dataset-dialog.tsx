import { useState } from 'react';
import { Field } from '../../../ui/forms/field.js';
import { Input, Textarea } from '../../../ui/forms/inputs.js';
import { FormDialog } from '../../../ui/overlay/form-dialog.js';

export interface DatasetDialogProps {
  readonly title: string;
  readonly name?: string;
  readonly description?: string | null;
  onClose(): void;
  onSave(body: { name: string; description: string | null }): Promise<unknown>;
}

/** The name and the description of a dataset. */
export function DatasetDialog({ title, onClose, onSave, ...given }: DatasetDialogProps) {
  const [name, setName] = useState(given.name ?? '');
  const [description, setDescription] = useState(given.description ?? '');
  const save = async () => {
    await onSave({ name: name.trim(), description: description.trim() || null });
    onClose();
  };
  return (
    <FormDialog title={title} onClose={onClose} disabled={name.trim() === ''} onSubmit={save}>
      <Field label="Name" hint="Evals can name the dataset by it.">
        <Input value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Description">
        <Textarea rows={2} value={description} onChange={(event) => setDescription(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
