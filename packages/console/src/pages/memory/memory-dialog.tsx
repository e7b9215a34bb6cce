import type { Memory } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Textarea } from '../../ui/forms/inputs.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';
import { toast } from '../../ui/overlay/toasts.js';

/** Writes a memory, or changes one. */
export function MemoryDialog({
  memory,
  userId,
  onClose,
}: {
  readonly memory?: Memory;
  readonly userId?: string | undefined;
  onClose(): void;
}) {
  const { client, claims } = useConnection();
  const queries = useQueryClient();
  const [text, setText] = useState(memory?.memory ?? '');
  const [user, setUser] = useState(memory?.user_id ?? userId ?? claims?.user ?? '');
  const [topics, setTopics] = useState(memory?.topics?.join(', ') ?? '');
  const save = async () => {
    const body = {
      memory: text.trim(),
      ...(user.trim() && { user_id: user.trim() }),
      topics: topics
        .split(',')
        .map((topic) => topic.trim())
        .filter(Boolean),
    };
    if (memory) await client.memories.update(memory.memory_id, body);
    else await client.memories.create(body);
    for (const key of ['memories', 'memory-topics', 'memory-users'])
      await queries.invalidateQueries({ queryKey: [key] });
    toast({ title: 'Saved.' });
    onClose();
  };
  return (
    <FormDialog
      title={memory ? 'Edit memory' : 'New memory'}
      onClose={onClose}
      disabled={text.trim() === ''}
      onSubmit={save}
    >
      <Field label="Memory" hint="A fact about the user, as an agent reads it.">
        <Textarea rows={4} maxLength={5_000} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      <Field label="User" hint={memory ? 'A memory stays with its user.' : 'Whom the memory is about.'}>
        <Input
          value={user}
          disabled={memory !== undefined}
          spellCheck={false}
          onChange={(event) => setUser(event.target.value)}
        />
      </Field>
      <Field label="Topics" hint="Separated by commas.">
        <Input value={topics} onChange={(event) => setTopics(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
