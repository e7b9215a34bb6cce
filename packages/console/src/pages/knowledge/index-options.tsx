import type { KnowledgeConfig } from '@runyard/client';
import { Field } from '../../ui/forms/field.js';
import { CodeArea, Input, Select } from '../../ui/forms/inputs.js';
import { jsonFault, parseJsonObject } from '../../ui/forms/json-text.js';
import type { IndexOptions } from './uploads.js';

/** The options of a content as a person writes them. */
export interface OptionTexts {
  readonly name: string;
  readonly description: string;
  readonly metadata: string;
  readonly reader: string;
  readonly chunker: string;
  readonly chunkSize: string;
  readonly chunkOverlap: string;
}

export const noOptions: OptionTexts = {
  name: '',
  description: '',
  metadata: '',
  reader: '',
  chunker: '',
  chunkSize: '',
  chunkOverlap: '',
};

/** What is sent: only what a person has given. Throws if the metadata is not an object. */
export function optionsOf(texts: OptionTexts): IndexOptions {
  const metadata = parseJsonObject(texts.metadata);
  return {
    ...(texts.name.trim() && { name: texts.name.trim() }),
    ...(texts.description.trim() && { description: texts.description.trim() }),
    ...(metadata && { metadata }),
    ...(texts.reader && { reader_id: texts.reader }),
    ...(texts.chunker && { chunker: texts.chunker }),
    ...(texts.chunkSize && { chunk_size: Number(texts.chunkSize) }),
    ...(texts.chunkOverlap && { chunk_overlap: Number(texts.chunkOverlap) }),
  };
}

export interface IndexOptionFieldsProps {
  readonly config: KnowledgeConfig | undefined;
  readonly value: OptionTexts;
  onChange(value: OptionTexts): void;
  /** Several contents cannot have one name. */
  readonly named?: boolean;
}

/** How a content is called and found, and how it is read and split. */
export function IndexOptionFields({ config, value, onChange, named = true }: IndexOptionFieldsProps) {
  const text = (key: keyof OptionTexts) => ({
    value: value[key],
    onChange: (event: { target: { value: string } }) => onChange({ ...value, [key]: event.target.value }),
  });
  const readers = Object.values(config?.readers ?? {});
  const allowed = value.reader ? config?.readers[value.reader]?.chunkers : undefined;
  const chunkers = Object.values(config?.chunkers ?? {}).filter(
    ({ key }) => allowed === undefined || allowed.includes(key),
  );
  const defaults = value.chunker ? config?.chunkers[value.chunker]?.metadata : undefined;
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      {named && (
        <>
          <Field label="Name">
            <Input {...text('name')} maxLength={1_024} />
          </Field>
          <Field label="Description">
            <Input {...text('description')} />
          </Field>
        </>
      )}
      <div className="sm:col-span-2">
        <Field
          label="Metadata"
          hint="A JSON object. Searches filter by its keys."
          error={jsonFault(value.metadata, parseJsonObject)}
        >
          <CodeArea rows={2} placeholder='{"lang": "en"}' {...text('metadata')} />
        </Field>
      </div>
      <Field label="Reader">
        <Select
          {...text('reader')}
          options={[
            { value: '', label: 'By the type of the file' },
            ...readers.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
      </Field>
      <Field label="Chunker">
        <Select
          {...text('chunker')}
          options={[
            { value: '', label: 'As the reader says' },
            ...chunkers.map(({ key, name }) => ({ value: key, label: name })),
          ]}
        />
      </Field>
      <Field label="Chunk size">
        <Input
          type="number"
          min={1}
          placeholder={defaults?.chunk_size === undefined ? 'default' : String(defaults.chunk_size)}
          {...text('chunkSize')}
        />
      </Field>
      <Field label="Chunk overlap">
        <Input
          type="number"
          min={0}
          placeholder={defaults?.chunk_overlap === undefined ? 'default' : String(defaults.chunk_overlap)}
          {...text('chunkOverlap')}
        />
      </Field>
    </div>
  );
}
