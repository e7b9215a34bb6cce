import type { Approval } from '@runyard/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { store, stored } from '../../connection/storage.js';
import { useClient, useMay } from '../../connection/use-connection.js';
import { schemaOfFields } from '../../data/input-fields.js';
import { useNamesUser } from '../../data/named-user.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Textarea } from '../../ui/forms/inputs.js';
import { problemsIn, SchemaForm, startValue } from '../../ui/forms/schema-form.js';
import { ErrorLine } from '../../ui/states.js';

/** Approves or rejects a call, with what the call waits for. The run uses it when it continues. */
export function Decision({ approval }: { readonly approval: Approval }) {
  const client = useClient();
  const may = useMay();
  const queries = useQueryClient();
  const namesUser = useNamesUser();
  const [by, setBy] = useState(stored('local', 'chat user') ?? '');
  const [note, setNote] = useState('');
  const [result, setResult] = useState('');
  const schema = schemaOfFields(approval.requirements?.[0]?.user_input_schema);
  const [values, setValues] = useState<unknown>(() => startValue(schema) ?? {});
  const [isTried, setIsTried] = useState(false);
  const status = useRef<'approved' | 'rejected'>('approved');
  const needs = approval.pause_type;
  const resolve = useMutation({
    mutationFn: () =>
      client.approvals.resolve(approval.id, {
        status: status.current,
        ...(namesUser && by && { resolved_by: by }),
        resolution_data: {
          ...(note && { note }),
          ...(status.current === 'approved' && needs === 'user_input' && { values }),
          ...(status.current === 'approved' && needs === 'external_execution' && { result }),
        },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['approvals'] }),
  });
  if (!may('approvals:write')) return <p className="text-muted">Your token does not allow you to decide.</p>;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsTried(true);
    const isIncomplete = needs === 'user_input' && problemsIn(schema, values).size > 0;
    if (status.current === 'approved' && isIncomplete) return;
    if (namesUser) store('local', 'chat user', by || undefined);
    resolve.mutate();
  };
  return (
    <form className="flex flex-col gap-3 border-t border-line pt-4" noValidate onSubmit={submit}>
      {needs === 'user_input' && (
        <SchemaForm schema={schema} value={values} onChange={setValues} showProblems={isTried} />
      )}
      {needs === 'external_execution' && (
        <Field label="Result of the call">
          <Textarea value={result} onChange={({ target }) => setResult(target.value)} />
        </Field>
      )}
      <Field label="Note (optional)" hint="If you reject the call, the agent reads it.">
        <Textarea rows={2} value={note} onChange={({ target }) => setNote(target.value)} />
      </Field>
      {namesUser && (
        <Field label="Your name" hint="Recorded with the decision.">
          <Input value={by} onChange={({ target }) => setBy(target.value)} />
        </Field>
      )}
      {resolve.error && <ErrorLine error={resolve.error} />}
      <div className="flex gap-2">
        <Button
          type="submit"
          variant="primary"
          busy={resolve.isPending}
          onClick={() => {
            status.current = 'approved';
          }}
        >
          Approve
        </Button>
        <Button
          type="submit"
          variant="danger"
          disabled={resolve.isPending}
          onClick={() => {
            status.current = 'rejected';
          }}
        >
          Reject
        </Button>
      </div>
    </form>
  );
}
