import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Button } from '../../ui/button.js';
import { formatCount, formatTokens } from '../../ui/format/numbers.js';
import { Field } from '../../ui/forms/field.js';
import { Input } from '../../ui/forms/inputs.js';
import { Dialog } from '../../ui/overlay/dialog.js';
import { toast } from '../../ui/overlay/toasts.js';
import { ErrorLine } from '../../ui/states.js';

/** Has a model merge the memories of a user into one. First it shows the result, then it replaces them. */
export function OptimizeDialog({ userId, onClose }: { readonly userId: string; onClose(): void }) {
  const { client } = useConnection();
  const queries = useQueryClient();
  const [model, setModel] = useState('');
  const optimize = useMutation({
    mutationFn: (apply: boolean) =>
      client.memories.optimize({ user_id: userId, apply, ...(model.trim() && { model: model.trim() }) }),
    onSuccess: async (_result, apply) => {
      if (!apply) return;
      for (const key of ['memories', 'memory-topics', 'memory-users'])
        await queries.invalidateQueries({ queryKey: [key] });
      toast({ title: 'The memories are merged.' });
      onClose();
    },
  });
  const { data } = optimize;
  return (
    <Dialog
      open
      title={`Merge the memories of ${userId}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button busy={optimize.isPending && !optimize.variables} onClick={() => optimize.mutate(false)}>
            Show the result
          </Button>
          <Button
            variant="primary"
            busy={optimize.isPending && optimize.variables}
            onClick={() => optimize.mutate(true)}
          >
            Replace them
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <p className="text-muted">
          A model rewrites all memories of this user as one shorter text, which replaces them. Shown first, it
          is written again when you replace them: the words may differ.
        </p>
        <Field label="Model" hint="Empty: the default model of the service.">
          <Input
            placeholder="openai:gpt-5-mini"
            spellCheck={false}
            value={model}
            onChange={(event) => setModel(event.target.value)}
          />
        </Field>
        {optimize.error && <ErrorLine error={optimize.error} />}
        {data && (
          <section aria-label="Result" className="rounded-lg border border-line bg-sunken p-3">
            <p className="pb-2 text-xs text-muted">
              {formatCount(data.memories_before)} → {formatCount(data.memories_after)} memories,{' '}
              {formatTokens(data.tokens_before)} → {formatTokens(data.tokens_after)} tokens (
              {Math.round(data.reduction_percentage)} % less)
            </p>
            {data.memories.map(({ memory_id, memory }) => (
              <p key={memory_id} className="whitespace-pre-wrap [overflow-wrap:anywhere]">
                {memory}
              </p>
            ))}
          </section>
        )}
      </div>
    </Dialog>
  );
}
