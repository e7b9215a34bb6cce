import type { ComponentType } from '@runyard/client';
import type { ReactNode } from 'react';
import { Field } from '../../ui/forms/field.js';
import { Input, Select, Textarea } from '../../ui/forms/inputs.js';
import type { JsonObject } from '../../ui/forms/json-text.js';
import { Checkbox } from '../../ui/forms/toggles.js';
import { type FormField, formFields } from './config-fields.js';
import { faultOf } from './faults.js';
import { MembersField } from './members-field.js';
import { PickField } from './pick-field.js';

export interface ConfigFormProps {
  readonly type: ComponentType;
  readonly config: JsonObject;
  readonly faults: ReadonlyMap<string, string>;
  readonly disabled: boolean;
  onChange(config: JsonObject): void;
}

/** The common keys of a configuration as fields. The others stay as they are, and are listed. */
export function ConfigForm({ type, config, faults, disabled, onChange }: ConfigFormProps) {
  const set = (key: string, value: unknown) => {
    const { [key]: _before, ...rest } = config;
    onChange(value === undefined ? rest : { ...rest, [key]: value });
  };
  const groups = formFields(type);
  const shown = new Set(groups.flatMap(({ fields }) => fields.map(({ key }) => key)));
  const others = Object.keys(config).filter((key) => !shown.has(key));
  const unplaced = [...faults].filter(([path]) => !shown.has(path.split('.')[0] ?? ''));
  return (
    <fieldset disabled={disabled} className="flex min-w-0 flex-col gap-5">
      {groups.map(({ title, fields }) => (
        <section key={title} className="grid grid-cols-1 gap-x-6 gap-y-3 lg:grid-cols-[10rem_minmax(0,1fr)]">
          <h2 className="pt-1 text-xs font-semibold text-muted">{title}</h2>
          <div className="grid grid-cols-1 gap-3 rounded-lg border border-line bg-surface p-4 sm:grid-cols-2">
            {fields.map((field) => (
              <div key={field.key} className={field.wide ? 'sm:col-span-2' : undefined}>
                <ConfigField
                  field={field}
                  value={config[field.key]}
                  error={faultOf(faults, field.key)}
                  onChange={(value) => set(field.key, value)}
                />
              </div>
            ))}
          </div>
        </section>
      ))}
      {(others.length > 0 || type === 'workflow') && (
        <p className="text-muted">
          {others.length > 0 && (
            <>
              In the JSON only: <code className="text-xs">{others.join(', ')}</code>.{' '}
            </>
          )}
          {type === 'workflow' && 'Edit the steps as JSON.'}
        </p>
      )}
      {unplaced.length > 0 && (
        <p className="text-danger">The service refuses keys that the form does not show: see the JSON.</p>
      )}
    </fieldset>
  );
}

interface ConfigFieldProps {
  readonly field: FormField;
  readonly value: unknown;
  readonly error: string | undefined;
  onChange(value: unknown): void;
}

function ConfigField({ field, value, error, onChange }: ConfigFieldProps): ReactNode {
  const { label, hint, control } = field;
  if (control === 'flag')
    return <Checkbox label={label} hint={hint} checked={value === true} onChange={onChange} />;
  if (control === 'tools' || control === 'knowledge')
    return <PickField kind={control} label={label} value={value} error={error} onChange={onChange} />;
  if (control === 'members')
    return <MembersField label={label} value={value} error={error} onChange={onChange} />;
  if (!fits(field, value))
    return (
      <Field label={label} hint="This value has a form of its own: edit it as JSON." error={error}>
        <Input disabled value={JSON.stringify(value)} />
      </Field>
    );
  return (
    <Field label={label} hint={hint} error={error}>
      <Control field={field} value={value} onChange={onChange} />
    </Field>
  );
}

/** Whether the value has the simple form that the field edits. A model may be an object, instructions a function. */
function fits({ control }: FormField, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (control === 'number') return typeof value === 'number';
  if (control === 'lines') return typeof value === 'string' || isTexts(value);
  return typeof value === 'string';
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function Control({ field, value, onChange }: Omit<ConfigFieldProps, 'error'>) {
  const text = isTexts(value) ? value.join('\n') : String(value ?? '');
  const give = (event: { target: { value: string } }) => onChange(event.target.value || undefined);
  switch (field.control) {
    case 'choice':
      return (
        <Select
          value={text}
          options={[
            { value: '', label: 'Default' },
            ...(field.options ?? []).map((one) => ({ value: one, label: one })),
          ]}
          onChange={give}
        />
      );
    case 'number':
      return (
        <Input
          type="number"
          min={0}
          value={text}
          onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
        />
      );
    case 'lines':
    case 'area':
      return <Textarea rows={field.control === 'lines' ? 6 : 2} value={text} onChange={give} />;
    default:
      return <Input value={text} spellCheck={field.key !== 'model'} onChange={give} />;
  }
}
