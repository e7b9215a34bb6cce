import X from 'lucide-react/icons/x';
import { IconButton } from '../../../ui/button.js';
import { Input, Select } from '../../../ui/forms/inputs.js';
import { Checkbox } from '../../../ui/forms/toggles.js';
import type { DraftRule, FilterField } from './draft.js';
import { operatorWords } from './expression.js';

export interface RuleEditorProps {
  readonly rule: DraftRule;
  readonly fields: readonly FilterField[];
  onChange(rule: DraftRule | undefined): void;
}

/** A field, an operator and a value. */
export function RuleEditor({ rule, fields, onChange }: RuleEditorProps) {
  const field = fields.find(({ key }) => key === rule.key);
  // a filter written as text may use every operator on every field
  const operators = [...new Set([...(field?.operators ?? []), rule.op])];
  const choose = (key: string) => {
    const next = fields.find((one) => one.key === key);
    const keepsOperator = next?.operators.includes(rule.op);
    const keepsValue = next?.type === field?.type && next?.values === null;
    onChange({
      ...rule,
      key,
      op: keepsOperator ? rule.op : (next?.operators[0] ?? 'EQ'),
      values: keepsValue ? rule.values : [next?.values?.[0] ?? ''],
    });
  };
  const chooseOperator = (op: string) =>
    onChange({ ...rule, op, values: op === 'IN' ? rule.values : rule.values.slice(0, 1) });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Checkbox label="not" checked={rule.negated} onChange={(negated) => onChange({ ...rule, negated })} />
      <Select
        aria-label="Field"
        className="max-w-40"
        value={rule.key}
        options={[
          ...fields.map(({ key, label }) => ({ value: key, label })),
          ...(field ? [] : [{ value: rule.key, label: rule.key }]),
        ]}
        onChange={(event) => choose(event.target.value)}
      />
      <Select
        aria-label="Operator"
        className="max-w-40"
        value={rule.op}
        options={operators.map((op) => ({ value: op, label: operatorWords[op] ?? op }))}
        onChange={(event) => chooseOperator(event.target.value)}
      />
      <div className="min-w-40 flex-1">
        <ValueEditor rule={rule} field={field} onChange={(values) => onChange({ ...rule, values })} />
      </div>
      <IconButton size="small" label="Remove the condition" onClick={() => onChange(undefined)}>
        <X aria-hidden className="size-4" />
      </IconButton>
    </div>
  );
}

function ValueEditor({
  rule,
  field,
  onChange,
}: {
  readonly rule: DraftRule;
  readonly field: FilterField | undefined;
  onChange(values: readonly string[]): void;
}) {
  const [value = ''] = rule.values;
  if (field?.values && rule.op === 'IN')
    return (
      <div className="flex flex-wrap gap-3">
        {field.values.map((one) => (
          <Checkbox
            key={one}
            label={one}
            checked={rule.values.includes(one)}
            onChange={(checked) =>
              onChange(checked ? [...rule.values, one] : rule.values.filter((other) => other !== one))
            }
          />
        ))}
      </div>
    );
  if (field?.values && (field.values.includes(value) || value === ''))
    return (
      <Select
        aria-label="Value"
        value={value}
        options={field.values.map((one) => ({ value: one, label: one }))}
        onChange={(event) => onChange([event.target.value])}
      />
    );
  if (rule.op === 'IN')
    return (
      <Input
        aria-label="Values, separated by commas"
        placeholder="One, two, three"
        value={rule.values.join(',')}
        onChange={(event) => onChange(event.target.value.split(',').map((one) => one.trimStart()))}
      />
    );
  if (field?.type === 'datetime')
    return (
      <Input
        type="datetime-local"
        step={1}
        aria-label="Value"
        value={localTime(value)}
        onChange={(event) => onChange([isoTime(event.target.value)])}
      />
    );
  return (
    <Input
      aria-label="Value"
      {...(field?.type === 'number' && { inputMode: 'decimal' as const })}
      value={value}
      onChange={(event) => onChange([event.target.value])}
    />
  );
}

/** The reader's own time, as the control of the browser takes it. */
function localTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function isoTime(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
