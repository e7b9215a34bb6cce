import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { Field } from '../../../ui/forms/field.js';
import { Input, Textarea } from '../../../ui/forms/inputs.js';
import { Dialog } from '../../../ui/overlay/dialog.js';
import { ErrorLine } from '../../../ui/states.js';

export interface DatasetDialogProps {
  readonly title: string;
  readonly name?: string;
  readonly description?: string | null;
  onClose(): void;
  onSave(body: { name: string; description: string | null }): Promise<unknown>;
}

/** The name and the description of a dataset. */
export function DatasetDialog({ title, onClose, onSave, ...given }: DatasetDialogProps) {
  const form = useId();
  const [name, setName] = useState(given.name ?? '');
  const [description, setDescription] = useState(given.description ?? '');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await onSave({ name: name.trim(), description: description.trim() || null });
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} variant="primary" busy={busy} disabled={name.trim() === ''}>
            Save
          </Button>
        </>
      }
    >
      <form id={form} className="flex flex-col gap-3" onSubmit={(event) => void save(event)}>
        <Field label="Name" hint="Evals can name the dataset by it.">
          <Input value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="Description">
          <Textarea rows={2} value={description} onChange={(event) => setDescription(event.target.value)} />
        </Field>
        {error !== undefined && <ErrorLine error={error} />}
      </form>
    </Dialog>
  );
}
