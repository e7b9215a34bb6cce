import type { DatasetCasesAdd, TraceDetail } from '@runyard/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useConnection } from '../../../connection/use-connection.js';
import { Field } from '../../../ui/forms/field.js';
import { Input, Select, Textarea } from '../../../ui/forms/inputs.js';
import { Checkbox } from '../../../ui/forms/toggles.js';
import { FormDialog } from '../../../ui/overlay/form-dialog.js';
import { toast } from '../../../ui/overlay/toasts.js';
import type { PlacedSpan } from './spans.js';

export interface AddToDatasetProps {
  readonly trace: TraceDetail;
  readonly runId: string;
  readonly spans: readonly PlacedSpan[];
  onClose(): void;
}

const newDataset = '';
const most = 100;

/** Makes a case of the run of a trace. The person sees the case before it is stored, and may change it. */
export function AddToDataset({ trace, runId, spans, onClose }: AddToDatasetProps) {
  const { client, address } = useConnection();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const datasets = useQuery({
    queryKey: ['datasets', address, 'choices'],
    queryFn: ({ signal }) =>
      client.datasets.list({ limit: most, sort_by: 'updated_at', sort_order: 'desc' }, { signal }),
  });
  const calls = spans.filter(({ span }) => span.type === 'TOOL' && span.status === 'OK');
  const [chosen, choose] = useState<string>();
  const [name, setName] = useState('');
  const [input, setInput] = useState(trace.input ?? '');
  const [takeOutput, setTakeOutput] = useState(trace.output !== undefined);
  const [output, setOutput] = useState(trace.output ?? '');
  const [takeCalls, setTakeCalls] = useState(false);
  const dataset = chosen ?? datasets.data?.data[0]?.id ?? newDataset;
  const save = async () => {
    const id = dataset || (await client.datasets.create({ name: name.trim() })).id;
    // stays chosen if what follows fails
    choose(id);
    const body: DatasetCasesAdd = {
      run_id: runId,
      take_output: takeOutput,
      take_tool_calls: takeCalls,
      ...(input !== trace.input && { input }),
      ...(takeOutput && output !== trace.output && { expected_output: output }),
    };
    const { updated } = await client.datasets.addCases(id, body);
    await queries.invalidateQueries({ queryKey: ['datasets', address] });
    toast({
      title: updated > 0 ? 'The case of this run was replaced' : 'The case was added',
      tone: 'success',
      action: {
        label: 'Open the dataset',
        onClick: () => void navigate({ to: '/datasets/$datasetId', params: { datasetId: id } }),
      },
    });
    onClose();
  };
  return (
    <FormDialog
      title="Add to a dataset"
      onClose={onClose}
      action="Add the case"
      disabled={datasets.isPending || (dataset === newDataset && name.trim() === '')}
      error={datasets.error}
      onSubmit={save}
    >
      <Field label="Dataset">
        <Select
          value={dataset}
          disabled={datasets.isPending}
          options={[
            ...(datasets.data?.data ?? []).map(({ id, name: label, case_count }) => ({
              value: id,
              label: `${label} (${case_count})`,
            })),
            { value: newDataset, label: 'New dataset …' },
          ]}
          onChange={(event) => choose(event.target.value)}
        />
      </Field>
      {dataset === newDataset && (
        <Field label="Name of the dataset">
          <Input value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
        </Field>
      )}
      <Field label="Input">
        <Textarea rows={3} value={input} onChange={(event) => setInput(event.target.value)} />
      </Field>
      <Checkbox
        label="Expect this output"
        hint={trace.output === undefined ? 'The run has no output.' : undefined}
        disabled={trace.output === undefined}
        checked={takeOutput}
        onChange={setTakeOutput}
      />
      {takeOutput && (
        <Field label="Expected output">
          <Textarea rows={4} value={output} onChange={(event) => setOutput(event.target.value)} />
        </Field>
      )}
      <Checkbox
        label="Expect the tool calls that succeeded"
        hint={calls.map(({ span }) => span.name).join(', ') || 'No tool was called.'}
        disabled={calls.length === 0}
        checked={takeCalls}
        onChange={setTakeCalls}
      />
    </FormDialog>
  );
}
