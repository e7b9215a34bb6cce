import type { Workflow } from '@runyard/client';
import { useState } from 'react';
import { useClient } from '../../connection/use-connection.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Textarea } from '../../ui/forms/inputs.js';
import { problemsIn, SchemaForm, startValue } from '../../ui/forms/schema-form.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';

export interface StartDialogProps {
  readonly workflow: Workflow;
  onClose(): void;
  onStarted(runId: string): void;
}

/** Starts a run in the background: from a form made of the input schema, from pasted JSON, or from a text. */
export function StartDialog({ workflow, onClose, onStarted }: StartDialogProps) {
  const client = useClient();
  const { input_schema: schema, factory_input_schema: factorySchema } = workflow;
  const [text, setText] = useState('');
  const [input, setInput] = useState<unknown>(() => schema && startValue(schema));
  const [factoryInput, setFactoryInput] = useState<unknown>(() => factorySchema && startValue(factorySchema));
  const [session, setSession] = useState('');
  const [tried, setTried] = useState(false);
  const isComplete =
    (schema === undefined || problemsIn(schema, input).size === 0) &&
    (factorySchema === undefined || problemsIn(factorySchema, factoryInput).size === 0);
  const start = async () => {
    setTried(true);
    if (!isComplete) return;
    const { runId } = await client.workflows.start(workflow.id, {
      message: schema === undefined ? text : objectOf(input),
      ...(factorySchema && { factory_input: objectOf(factoryInput) }),
      ...(session.trim() && { session_id: session.trim() }),
    });
    onStarted(runId);
    onClose();
  };
  return (
    <FormDialog
      title={`Run ${workflow.name}`}
      onClose={onClose}
      action="Run"
      className="flex flex-col gap-4"
      onSubmit={start}
    >
      {schema === undefined ? (
        <Field label="Input">
          <Textarea
            autoFocus
            rows={4}
            required
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
      ) : (
        <SchemaForm schema={schema} value={input} onChange={setInput} showProblems={tried} />
      )}
      {factorySchema && (
        <fieldset className="flex flex-col gap-2">
          <legend className="pb-1 text-sm font-semibold">Input of the factory</legend>
          <SchemaForm
            schema={factorySchema}
            value={factoryInput}
            onChange={setFactoryInput}
            showProblems={tried}
          />
        </fieldset>
      )}
      <Field label="Session" hint="The id of a session to continue. Empty: a new one.">
        <Input value={session} onChange={(event) => setSession(event.target.value)} />
      </Field>
    </FormDialog>
  );
}

function objectOf(value: unknown): { [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
