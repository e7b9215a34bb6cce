import type { EvalRequest } from '@runyard/client';
import { Field } from '../../ui/forms/field.js';
import { Input, Select, Textarea } from '../../ui/forms/inputs.js';
import { Checkbox } from '../../ui/forms/toggles.js';

/** What the form holds for all types. Only what belongs to the chosen one is sent. */
export interface EvalOptions {
  readonly expected: string;
  readonly guidelines: string;
  readonly criteria: string;
  readonly numeric: boolean;
  readonly threshold: string;
  readonly tools: string;
  readonly allowOthers: boolean;
  readonly warmups: string;
  readonly scorers: readonly string[];
  readonly further: string;
}

export const startOptions: EvalOptions = {
  expected: '',
  guidelines: '',
  criteria: '',
  numeric: false,
  threshold: '7',
  tools: '',
  allowOthers: false,
  warmups: '0',
  scorers: ['contains'],
  further: '',
};

/** Ready scorers that need no options. */
const plainScorers = ['contains', 'exact', 'accuracy', 'reliability'];

/** The fields of the request. Throws where a text is not the JSON that it has to be. */
export function optionsFor(type: EvalRequest['eval_type'], options: EvalOptions): Partial<EvalRequest> {
  const expected = options.expected ? { expected_output: options.expected } : {};
  const guidelines = options.guidelines ? { additional_guidelines: options.guidelines } : {};
  const tools = options.tools
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  switch (type) {
    case 'accuracy':
      return { ...expected, ...guidelines };
    case 'agent_as_judge':
      return {
        ...guidelines,
        criteria: options.criteria,
        scoring_strategy: options.numeric ? 'numeric' : 'binary',
        ...(options.numeric && { threshold: Number(options.threshold) }),
      };
    case 'performance':
      return { warmup_runs: Number(options.warmups) };
    case 'reliability':
      return {
        ...(tools.length > 0 && { expected_tool_calls: tools }),
        allow_additional_tool_calls: options.allowOthers,
      };
    case 'custom':
      return { ...expected, scorers: [...options.scorers, ...furtherScorers(options.further)] };
  }
}

function furtherScorers(text: string): (string | { name: string })[] {
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!Array.isArray(value))
    throw new Error('Further scorers: give a JSON list of names, or of objects with name and options.');
  return value;
}

export interface OptionsOfTypeProps {
  readonly type: EvalRequest['eval_type'];
  readonly hasDataset: boolean;
  readonly options: EvalOptions;
  onChange(options: EvalOptions): void;
}

/** The fields that belong to the type of the eval. */
export function OptionsOfType({ type, hasDataset, options, onChange }: OptionsOfTypeProps) {
  const change = (changed: Partial<EvalOptions>) => onChange({ ...options, ...changed });
  const expected = (
    <Field label="Expected output" hint={hasDataset ? 'For cases that have none of their own.' : undefined}>
      <Textarea
        rows={2}
        required={type === 'accuracy' && !hasDataset}
        value={options.expected}
        onChange={(event) => change({ expected: event.target.value })}
      />
    </Field>
  );
  const guidelines = (
    <Field label="Guidelines for the judge">
      <Textarea
        rows={2}
        value={options.guidelines}
        onChange={(event) => change({ guidelines: event.target.value })}
      />
    </Field>
  );
  switch (type) {
    case 'accuracy':
      return (
        <>
          {expected}
          {guidelines}
        </>
      );
    case 'agent_as_judge':
      return (
        <>
          <Field label="Criteria">
            <Textarea
              rows={2}
              required
              value={options.criteria}
              onChange={(event) => change({ criteria: event.target.value })}
            />
          </Field>
          <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
            <Field label="Scoring">
              <Select
                value={options.numeric ? 'numeric' : 'binary'}
                options={[
                  { value: 'binary', label: 'passed or not' },
                  { value: 'numeric', label: 'a score from 1 to 10' },
                ]}
                onChange={(event) => change({ numeric: event.target.value === 'numeric' })}
              />
            </Field>
            {options.numeric && (
              <Field label="Least score that passes">
                <Input
                  type="number"
                  min={1}
                  max={10}
                  value={options.threshold}
                  onChange={(event) => change({ threshold: event.target.value })}
                />
              </Field>
            )}
          </div>
          {guidelines}
        </>
      );
    case 'performance':
      return (
        <Field label="Warm-up runs" hint="Executed before those that are measured.">
          <Input
            type="number"
            min={0}
            max={10}
            value={options.warmups}
            onChange={(event) => change({ warmups: event.target.value })}
          />
        </Field>
      );
    case 'reliability':
      return (
        <>
          <Field label="Expected tool calls" hint="Names of tools, separated by commas.">
            <Input value={options.tools} onChange={(event) => change({ tools: event.target.value })} />
          </Field>
          <Checkbox
            label="Other tools may be called"
            checked={options.allowOthers}
            onChange={(allowOthers) => change({ allowOthers })}
          />
        </>
      );
    case 'custom':
      return (
        <>
          <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
            <legend className="pb-1 text-xs font-medium">Scorers</legend>
            {plainScorers.map((name) => (
              <Checkbox
                key={name}
                label={name}
                checked={options.scorers.includes(name)}
                onChange={(checked) =>
                  change({
                    scorers: checked
                      ? [...options.scorers, name]
                      : options.scorers.filter((one) => one !== name),
                  })
                }
              />
            ))}
          </fieldset>
          <Field
            label="Further scorers as JSON"
            hint='Ready ones with options, and those of the service: ["brief", {"name": "max_tokens", "options": {"tokens": 1000}}]'
          >
            <Textarea
              rows={2}
              className="font-mono"
              value={options.further}
              onChange={(event) => change({ further: event.target.value })}
            />
          </Field>
          {expected}
        </>
      );
  }
}
