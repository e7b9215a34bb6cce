import type { Memory } from '@runyard/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Textarea } from '../../ui/forms/inputs.js';
import { Dialog } from '../../ui/overlay/dialog.js';
import { toast } from '../../ui/overlay/toasts.js';
import { ErrorLine } from '../../ui/states.js';

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
  const form = useId();
  const { client, claims } = useConnection();
  const queries = useQueryClient();
  const [text, setText] = useState(memory?.memory ?? '');
  const [user, setUser] = useState(memory?.user_id ?? userId ?? claims?.user ?? '');
  const [topics, setTopics] = useState(memory?.topics?.join(', ') ?? '');
  const save = useMutation({
    mutationFn: () => {
      const body = {
        memory: text.trim(),
        ...(user.trim() && { user_id: user.trim() }),
        topics: topics
          .split(',')
          .map((topic) => topic.trim())
          .filter(Boolean),
      };
      return memory ? client.memories.update(memory.memory_id, body) : client.memories.create(body);
    },
    onSuccess: async () => {
      for (const key of ['memories', 'memory-topics', 'memory-users'])
        await queries.invalidateQueries({ queryKey: [key] });
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
      title={memory ? 'Edit memory' : 'New memory'}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            busy={save.isPending}
            disabled={text.trim() === ''}
          >
            Save
          </Button>
        </>
      }
    >
      <form id={form} className="flex flex-col gap-3" onSubmit={submit}>
        <Field label="Memory" hint="A fact about the user, as an agent reads it.">
          <Textarea
            rows={4}
            maxLength={5_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
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
        {save.error && <ErrorLine error={save.error} />}
      </form>
    </Dialog>
  );
}
