import type { Content } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Field } from '../../ui/forms/field.js';
import { CodeArea, Input } from '../../ui/forms/inputs.js';
import { jsonFault, jsonText, parseJsonObject } from '../../ui/forms/json-text.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';
import { toast } from '../../ui/overlay/toasts.js';
import { inBase } from './bases.js';
import { ownMetadata } from './content-again.js';

/** Changes the name, the description and the metadata of a content. */
export function EditDialog({
  baseId,
  content,
  onClose,
}: {
  readonly baseId: string | undefined;
  readonly content: Content;
  onClose(): void;
}) {
  const { client } = useConnection();
  const queries = useQueryClient();
  const before = ownMetadata(content.metadata);
  const [name, setName] = useState(content.name ?? '');
  const [description, setDescription] = useState(content.description ?? '');
  const [text, setText] = useState(Object.keys(before).length > 0 ? jsonText(before) : '');
  const fault = jsonFault(text, parseJsonObject);
  const save = async () => {
    const metadata = parseJsonObject(text) ?? {};
    // the service merges what it gets
    const gone = Object.keys(before).filter((key) => !(key in metadata));
    await client.knowledge.updateContent(
      content.id,
      { name, description, metadata, ...(gone.length > 0 && { remove_metadata: gone }) },
      { query: inBase(baseId) },
    );
    await queries.invalidateQueries({ queryKey: ['contents'] });
    await queries.invalidateQueries({ queryKey: ['content'] });
    toast({ title: 'Saved.' });
    onClose();
  };
  return (
    <FormDialog
      title="Edit document"
      onClose={onClose}
      disabled={fault !== undefined || name.trim() === ''}
      onSubmit={save}
    >
      <Field label="Name">
        <Input value={name} maxLength={1_024} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Description">
        <Input value={description} onChange={(event) => setDescription(event.target.value)} />
      </Field>
      <Field label="Metadata" hint="A JSON object. Filters of searches see changes at once." error={fault}>
        <CodeArea rows={6} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
