import type { Content } from '@runyard/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Textarea } from '../../ui/forms/inputs.js';
import { jsonFault, jsonText, parseJsonObject } from '../../ui/forms/json-text.js';
import { Dialog } from '../../ui/overlay/dialog.js';
import { toast } from '../../ui/overlay/toasts.js';
import { ErrorLine } from '../../ui/states.js';
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
  const form = useId();
  const { client } = useConnection();
  const queries = useQueryClient();
  const before = ownMetadata(content.metadata);
  const [name, setName] = useState(content.name ?? '');
  const [description, setDescription] = useState(content.description ?? '');
  const [text, setText] = useState(Object.keys(before).length > 0 ? jsonText(before) : '');
  const fault = jsonFault(text, parseJsonObject);
  const save = useMutation({
    mutationFn: () => {
      const metadata = parseJsonObject(text) ?? {};
      // the service merges what it gets
      const gone = Object.keys(before).filter((key) => !(key in metadata));
      return client.knowledge.updateContent(
        content.id,
        { name, description, metadata, ...(gone.length > 0 && { remove_metadata: gone }) },
        { query: inBase(baseId) },
      );
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['contents'] });
      await queries.invalidateQueries({ queryKey: ['content'] });
      toast({ title: 'Saved.' });
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
      title="Edit document"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            busy={save.isPending}
            disabled={fault !== undefined || name.trim() === ''}
          >
            Save
          </Button>
        </>
      }
    >
      <form id={form} className="flex flex-col gap-3" onSubmit={submit}>
        <Field label="Name">
          <Input value={name} maxLength={1_024} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="Description">
          <Input value={description} onChange={(event) => setDescription(event.target.value)} />
        </Field>
        <Field label="Metadata" hint="A JSON object. Filters of searches see changes at once." error={fault}>
          <Textarea
            rows={6}
            spellCheck={false}
            className="font-mono text-[0.8125rem]"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
        {save.error && <ErrorLine error={save.error} />}
      </form>
    </Dialog>
  );
}
