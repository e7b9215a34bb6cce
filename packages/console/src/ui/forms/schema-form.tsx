import Plus from 'lucide-react/icons/plus';
import Trash from 'lucide-react/icons/trash-2';
import { type ReactNode, useEffect, useState } from 'react';
import { Button, IconButton } from '../button.js';
import { Field } from './field.js';
import { CodeArea, Input, Select, Textarea } from './inputs.js';
import { emptyValue, formOf, type JsonSchema, pathTo, problemsIn } from './schema.js';
import { Checkbox } from './toggles.js';

export type { JsonSchema } from './schema.js';
export { problemsIn, startValue } from './schema.js';

export interface SchemaFormProps {
  readonly schema: JsonSchema;
  /** Begin with startValue(schema). */
  readonly value: unknown;
  onChange(value: unknown): void;
  /** Shows what is missing, after a person tried to send it. */
  readonly showProblems?: boolean;
}

/** A form made of a JSON schema, with the same value as JSON for those who paste it. */
export function SchemaForm({ schema, value, onChange, showProblems = false }: SchemaFormProps) {
  const [asJson, setAsJson] = useState(() => !hasForm(schema));
  const problems = showProblems ? problemsIn(schema, value) : none;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {asJson ? (
        <JsonField label="JSON" value={value} onChange={onChange} error={problems.get('')} rows={8} />
      ) : (
        <Fields
          place={{ root: schema, problems }}
          schema={schema}
          path=""
          value={value}
          onChange={onChange}
        />
      )}
      {hasForm(schema) && (
        <Button
          variant="ghost"
          size="small"
          className="self-start text-muted"
          onClick={() => setAsJson(!asJson)}
        >
          {asJson ? 'Edit as a form' : 'Edit as JSON'}
        </Button>
      )}
    </div>
  );
}

function hasForm(schema: JsonSchema): boolean {
  return formOf(schema, schema).control === 'object';
}

const none: ReadonlyMap<string, string> = new Map();

interface Place {
  readonly root: JsonSchema;
  readonly problems: ReadonlyMap<string, string>;
}

interface PartProps {
  readonly place: Place;
  readonly schema: JsonSchema;
  readonly path: string;
  readonly value: unknown;
  onChange(value: unknown): void;
}

/** The fields of an object. A field that is emptied is left out. */
function Fields({ place, schema: given, path, value, onChange }: PartProps) {
  const { schema } = formOf(given, place.root);
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return <p className="text-muted">Nothing to fill in.</p>;
  return fields.map(([name, field]) => (
    <Part
      key={name}
      place={place}
      schema={field}
      path={pathTo(path, name)}
      label={field.title ?? name}
      required={schema.required?.includes(name) ?? false}
      value={Object(value)[name]}
      onChange={(next) => onChange(withField(value, name, next))}
    />
  ));
}

function withField(value: unknown, name: string, next: unknown): Record<string, unknown> {
  const { [name]: _before, ...rest }: Record<string, unknown> = Object(value);
  return next === undefined ? rest : { ...rest, [name]: next };
}

function Part(props: PartProps & { readonly label: string; readonly required: boolean }) {
  const { place, path, label, required, value, onChange } = props;
  const { schema, control, nullable } = formOf(props.schema, place.root);
  const error = place.problems.get(path);
  const common = { label: <Label text={label} required={required} />, hint: schema.description, error };
  switch (control) {
    case 'flag':
      if (required || schema.default !== undefined)
        return (
          <Checkbox label={label} hint={schema.description} checked={value === true} onChange={onChange} />
        );
      return <Choice {...common} options={[true, false]} value={value} isOptional onChange={onChange} />;
    case 'choice':
      return (
        <Choice
          {...common}
          options={schema.enum ?? [schema.const]}
          value={value}
          isOptional={!required || nullable}
          onChange={onChange}
        />
      );
    case 'number':
      return (
        <Field {...common}>
          <Input
            type="number"
            inputMode={schema.type === 'integer' ? 'numeric' : 'decimal'}
            step={schema.type === 'integer' ? 1 : 'any'}
            value={typeof value === 'number' ? value : ''}
            onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
          />
        </Field>
      );
    case 'text':
      return (
        <Field {...common}>
          <TextControl schema={schema} value={value} onChange={onChange} />
        </Field>
      );
    case 'object':
      return (
        <Group label={label} hint={schema.description} error={error}>
          <Fields place={place} schema={schema} path={path} value={value} onChange={onChange} />
        </Group>
      );
    case 'list':
      return <List {...props} schema={schema} error={error} />;
    default:
      return <JsonField {...common} value={value} onChange={onChange} />;
  }
}

function Label({ text, required }: { readonly text: string; readonly required: boolean }) {
  return (
    <>
      {text}
      {!required && <span className="font-normal text-muted"> (optional)</span>}
    </>
  );
}

const inputTypes: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time',
  email: 'email',
  uri: 'url',
  password: 'password',
};
const longText = 200;

function TextControl({ schema, value, onChange }: Pick<PartProps, 'schema' | 'value' | 'onChange'>) {
  const text = typeof value === 'string' ? value : '';
  const change = (next: string) => onChange(next === '' ? undefined : next);
  const isLong = schema.format === 'textarea' || (schema.maxLength ?? 0) > longText || text.length > longText;
  if (isLong) return <Textarea value={text} onChange={({ target }) => change(target.value)} />;
  return (
    <Input
      type={inputTypes[schema.format ?? ''] ?? 'text'}
      value={text}
      onChange={({ target }) => change(target.value)}
    />
  );
}

interface ChoiceProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error: string | undefined;
  readonly options: readonly unknown[];
  readonly value: unknown;
  readonly isOptional: boolean;
  onChange(value: unknown): void;
}

function Choice({ label, hint, error, options, value, isOptional, onChange }: ChoiceProps) {
  const at = options.indexOf(value);
  const shown = (option: unknown) => (typeof option === 'boolean' ? (option ? 'yes' : 'no') : String(option));
  return (
    <Field label={label} hint={hint} error={error}>
      <Select
        value={at < 0 ? '' : String(at)}
        options={[
          ...(isOptional || at < 0 ? [{ value: '', label: '–' }] : []),
          ...options.map((option, index) => ({ value: String(index), label: shown(option) })),
        ]}
        onChange={({ target }) => onChange(target.value === '' ? undefined : options[Number(target.value)])}
      />
    </Field>
  );
}

function Group(props: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-3 rounded-md border border-line p-3">
      <legend className="px-1 text-xs font-medium">{props.label}</legend>
      {props.hint && <p className="text-xs text-muted">{props.hint}</p>}
      {props.children}
      {props.error && (
        <p role="alert" className="text-xs text-danger">
          {props.error}
        </p>
      )}
    </fieldset>
  );
}

function List(props: PartProps & { readonly label: string; readonly error: string | undefined }) {
  const { place, schema, path, label, value, onChange, error } = props;
  const items = schema.items ?? {};
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  const change = (at: number, next: unknown) =>
    onChange(entries.map((entry, index) => (index === at ? (next ?? emptyValue(items, place.root)) : entry)));
  return (
    <Group label={label} hint={schema.description} error={error}>
      {entries.map((entry, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have no name; their place is what they are.
        <div key={at} className="flex min-w-0 items-end gap-2">
          <div className="min-w-0 flex-1">
            <Part
              place={place}
              schema={items}
              path={pathTo(path, String(at))}
              label={`${label} ${at + 1}`}
              required
              value={entry}
              onChange={(next) => change(at, next)}
            />
          </div>
          <IconButton
            label={`Remove ${label} ${at + 1}`}
            onClick={() => onChange(entries.filter((_, index) => index !== at))}
          >
            <Trash aria-hidden className="size-4" />
          </IconButton>
        </div>
      ))}
      <Button
        size="small"
        className="self-start"
        onClick={() => onChange([...entries, emptyValue(items, place.root)])}
      >
        <Plus aria-hidden className="size-3.5" />
        Add
      </Button>
    </Group>
  );
}

export interface JsonFieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly value: unknown;
  readonly rows?: number;
  onChange(value: unknown): void;
}

/** A value as JSON text. While the text is not valid, there is no value. */
export function JsonField({ label, hint, error, value, rows = 4, onChange }: JsonFieldProps) {
  const written = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [text, setText] = useState(written);
  const [fault, setFault] = useState<string>();
  // a value that came from elsewhere replaces the text
  useEffect(() => {
    setText((before) => (sameJson(before, written) ? before : written));
  }, [written]);
  const change = (next: string) => {
    setText(next);
    if (next.trim() === '') {
      setFault(undefined);
      onChange(undefined);
      return;
    }
    try {
      onChange(JSON.parse(next));
      setFault(undefined);
    } catch (failure) {
      onChange(undefined);
      setFault(failure instanceof Error ? `Not valid JSON: ${failure.message}` : 'Not valid JSON');
    }
  };
  return (
    <Field label={label} hint={hint} error={fault ?? error}>
      <CodeArea rows={rows} value={text} onChange={({ target }) => change(target.value)} />
    </Field>
  );
}

function sameJson(text: string, written: string): boolean {
  try {
    const value = text.trim() === '' ? undefined : JSON.parse(text);
    return (value === undefined ? '' : JSON.stringify(value, null, 2)) === written;
  } catch {
    // what is being typed stays
    return true;
  }
}
