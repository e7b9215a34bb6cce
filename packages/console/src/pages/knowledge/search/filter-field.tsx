import Plus from 'lucide-react/icons/plus';
import { useId, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { Field } from '../../../ui/forms/field.js';
import { CodeArea, Input, Select } from '../../../ui/forms/inputs.js';
import { jsonText, parseJson } from '../../../ui/forms/json-text.js';
import { useKnowledgeConfig } from '../bases.js';

const operators = [
  { value: 'EQ', label: 'is' },
  { value: 'NEQ', label: 'is not' },
  { value: 'CONTAINS', label: 'contains' },
  { value: 'STARTSWITH', label: 'begins with' },
  { value: 'IN', label: 'is one of' },
  { value: 'GT', label: '>' },
  { value: 'GTE', label: '≥' },
  { value: 'LT', label: '<' },
  { value: 'LTE', label: '≤' },
];

/** A filter on metadata: written as JSON, with a row that adds conditions to it. */
export function FilterField({
  baseId,
  value,
  fault,
  onChange,
}: {
  readonly baseId: string | undefined;
  readonly value: string;
  readonly fault: string | undefined;
  onChange(value: string): void;
}) {
  const keys = useKnowledgeConfig(baseId).data?.filters ?? [];
  const list = useId();
  const [key, setKey] = useState('');
  const [op, setOp] = useState('EQ');
  const [text, setText] = useState('');
  const add = () => {
    const condition =
      op === 'IN'
        ? { op, key, values: text.split(',').map((part) => typedValue(part.trim())) }
        : { op, key, value: typedValue(text) };
    onChange(jsonText([...conditionsIn(value), condition]));
    setText('');
  };
  return (
    <details open={value !== ''}>
      <summary className="text-xs font-medium text-accent-text">Filter by metadata</summary>
      <div className="flex flex-col gap-2 pt-2">
        <div className="flex flex-wrap items-center gap-2">
          <Input
            aria-label="Key of the metadata"
            className="w-36"
            list={list}
            placeholder="key"
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
          <datalist id={list}>
            {keys.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
          <Select
            aria-label="Comparison"
            className="w-32"
            value={op}
            options={operators}
            onChange={(event) => setOp(event.target.value)}
          />
          <Input
            aria-label="Value of the metadata"
            className="w-40"
            placeholder={op === 'IN' ? 'a, b, c' : 'value'}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button disabled={key === '' || fault !== undefined} onClick={add}>
            <Plus aria-hidden className="size-4" />
            Add condition
          </Button>
        </div>
        <Field
          label="Filter as JSON"
          hint="An object whose keys must be equal, or a list of conditions that must all hold."
          error={fault}
        >
          <CodeArea
            rows={value === '' ? 2 : Math.min(12, value.split('\n').length)}
            placeholder='{"lang": "en"}'
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        </Field>
      </div>
    </details>
  );
}

/** The conditions that are there already; an object is one for each of its keys. */
function conditionsIn(text: string): readonly unknown[] {
  const value = parseJson(text);
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null || 'op' in value) return [value];
  return Object.entries(value).map(([key, one]) => ({ op: 'EQ', key, value: one }));
}

/** Numbers and truth values are compared as such. */
function typedValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
