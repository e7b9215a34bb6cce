import type { DatasetCase } from '@runyard/client';
import { useState } from 'react';
import { Field } from '../../../ui/forms/field.js';
import { Input, Textarea } from '../../../ui/forms/inputs.js';
import { FormDialog } from '../../../ui/overlay/form-dialog.js';

/** A case as a form gives it. Null clears a field. */
export interface EditedCase {
  readonly input: string;
  readonly expected_output: string | null;
  readonly expected_tool_calls: (string | { name: string })[] | null;
  readonly metadata: Record<string, unknown> | null;
}

export interface CaseDialogProps {
  /** Left out for a new case. */
  readonly given?: DatasetCase;
  onClose(): void;
  onSave(edited: EditedCase, id: string | undefined): Promise<unknown>;
}

export function CaseDialog({ given, onClose, onSave }: CaseDialogProps) {
  const [id, setId] = useState(given?.id ?? '');
  const [input, setInput] = useState(given?.input ?? '');
  const [output, setOutput] = useState(given?.expected_output ?? '');
  const [calls, setCalls] = useState(written(given?.expected_tool_calls));
  const [metadata, setMetadata] = useState(written(given?.metadata));
  const save = async () => {
    await onSave(
      {
        input,
        expected_output: output === '' ? null : output,
        expected_tool_calls: read(calls, 'Expected tool calls', Array.isArray),
        metadata: read(metadata, 'Metadata', isObject),
      },
      id.trim() || undefined,
    );
    onClose();
  };
  return (
    <FormDialog
      title={given ? `Case ${given.id}` : 'New case'}
      onClose={onClose}
      disabled={input === ''}
      onSubmit={save}
    >
      {!given && (
        <Field label="Id" hint="Identifies the case when evals are compared. Made from the input if empty.">
          <Input value={id} onChange={(event) => setId(event.target.value)} />
        </Field>
      )}
      <Field label="Input">
        <Textarea rows={3} value={input} onChange={(event) => setInput(event.target.value)} />
      </Field>
      <Field label="Expected output">
        <Textarea rows={3} value={output} onChange={(event) => setOutput(event.target.value)} />
      </Field>
      <Field
        label="Expected tool calls as JSON"
        hint='A list of names, or of objects: ["search", {"name": "add", "arguments": {"a": 1}}]'
      >
        <Textarea
          rows={2}
          className="font-mono"
          value={calls}
          onChange={(event) => setCalls(event.target.value)}
        />
      </Field>
      <Field label="Metadata as JSON" hint='An object, such as {"difficulty": "high"}'>
        <Textarea
          rows={2}
          className="font-mono"
          value={metadata}
          onChange={(event) => setMetadata(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}

function written(value: unknown): string {
  return value === null || value === undefined ? '' : JSON.stringify(value, null, 2);
}

function read<T>(text: string, label: string, fits: (value: unknown) => value is T): T | null {
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!fits(value)) throw new Error(`${label}: this is not the JSON that the hint describes.`);
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
