import type { EvalRequest } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { useComponents } from '../../data/components.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Select, Textarea } from '../../ui/forms/inputs.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';
import { typeWords } from './measures.js';
import { type EvalOptions, OptionsOfType, optionsFor, startOptions } from './options-of-type.js';

export interface StartEvalProps {
  /** The id of a dataset that is chosen at first. */
  readonly dataset: string | undefined;
  onClose(): void;
  onStarted(id: string): void;
}

const most = 100;

/** Starts an eval in the background. */
export function StartEval({ dataset: given, onClose, onStarted }: StartEvalProps) {
  const { client, address } = useConnection();
  const { components } = useComponents();
  const datasets = useQuery({
    queryKey: ['datasets', address, 'choices'],
    queryFn: ({ signal }) =>
      client.datasets.list({ limit: most, sort_by: 'updated_at', sort_order: 'desc' }, { signal }),
  });
  const [component, setComponent] = useState<string>();
  const [type, setType] = useState<EvalRequest['eval_type']>('accuracy');
  const [name, setName] = useState('');
  const [dataset, setDataset] = useState(given ?? '');
  const [input, setInput] = useState('');
  const [iterations, setIterations] = useState('1');
  const [options, setOptions] = useState<EvalOptions>(startOptions);
  const chosen = components.find(({ kind, id }) => `${kind}/${id}` === component) ?? components[0];
  const start = async () => {
    if (chosen === undefined) return;
    const { id } = await client.evals.run({
      [`${chosen.kind}_id`]: chosen.id,
      eval_type: type,
      background: true,
      num_iterations: Number(iterations),
      ...(name.trim() && { name: name.trim() }),
      ...(dataset ? { dataset_id: dataset } : { input }),
      ...optionsFor(type, options),
    });
    onStarted(id);
  };
  return (
    <FormDialog
      title="Run an eval"
      onClose={onClose}
      action="Run"
      disabled={chosen === undefined}
      error={datasets.error}
      onSubmit={start}
    >
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field label="Component">
          <Select
            value={chosen && `${chosen.kind}/${chosen.id}`}
            options={components.map(({ kind, id, name: label }) => ({
              value: `${kind}/${id}`,
              label: `${label} (${kind})`,
            }))}
            onChange={(event) => setComponent(event.target.value)}
          />
        </Field>
        <Field label="Type">
          <Select
            value={type}
            options={Object.entries(typeWords).map(([value, label]) => ({ value, label }))}
            onChange={(event) => setType(typeOf(event.target.value))}
          />
        </Field>
        <Field label="Name" hint="Evals with the same name have a history.">
          <Input value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="Iterations" hint="How often each case is executed.">
          <Input
            type="number"
            min={1}
            max={100}
            required
            value={iterations}
            onChange={(event) => setIterations(event.target.value)}
          />
        </Field>
      </div>
      <Field label="Cases">
        <Select
          value={dataset}
          options={[
            { value: '', label: 'One input' },
            ...(datasets.data?.data ?? []).map(({ id, name: label, case_count }) => ({
              value: id,
              label: `Dataset ${label} (${case_count})`,
            })),
          ]}
          onChange={(event) => setDataset(event.target.value)}
        />
      </Field>
      {dataset === '' && (
        <Field label="Input">
          <Textarea rows={2} required value={input} onChange={(event) => setInput(event.target.value)} />
        </Field>
      )}
      <OptionsOfType type={type} hasDataset={dataset !== ''} options={options} onChange={setOptions} />
    </FormDialog>
  );
}

function typeOf(text: string): EvalRequest['eval_type'] {
  const types: EvalRequest['eval_type'][] = [
    'accuracy',
    'agent_as_judge',
    'performance',
    'reliability',
    'custom',
  ];
  return types.find((one) => one === text) ?? 'accuracy';
}
