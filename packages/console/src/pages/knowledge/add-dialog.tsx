import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { formatBytes } from '../../ui/format/numbers.js';
import { Field } from '../../ui/forms/field.js';
import { Input, Textarea } from '../../ui/forms/inputs.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';
import { toast } from '../../ui/overlay/toasts.js';
import { Tabs } from '../../ui/tabs.js';
import { inBase, type KnowledgeBase, useKnowledgeConfig } from './bases.js';
import { IndexOptionFields, noOptions, optionsOf } from './index-options.js';
import { uploadFiles } from './uploads.js';

const wayNames = ['files', 'text', 'url'] as const;
type Way = (typeof wayNames)[number];

/** Adds files, a text or web addresses. */
export function AddDialog({
  base,
  files: given,
  onClose,
}: {
  readonly base: KnowledgeBase;
  /** Already chosen, such as by dropping them. */
  readonly files: readonly File[];
  onClose(): void;
}) {
  const { client } = useConnection();
  const queries = useQueryClient();
  const config = useKnowledgeConfig(base.id);
  const [way, setWay] = useState<Way>('files');
  const [files, setFiles] = useState(given);
  const [text, setText] = useState('');
  const [urls, setUrls] = useState('');
  const [options, setOptions] = useState(noOptions);
  const add = async () => {
    const described = optionsOf(options);
    if (way === 'files') uploadFiles(client, base.id, files, described);
    else {
      const source = way === 'text' ? { text_content: text } : { url: urlField(urls) };
      await client.knowledge.uploadContent({ ...described, ...source }, { query: inBase(base.id) });
      await queries.invalidateQueries({ queryKey: ['contents'] });
    }
    toast({ title: way === 'files' ? 'The files are being sent.' : 'Added. It is being processed.' });
    onClose();
  };
  const ready = way === 'files' ? files.length > 0 : (way === 'text' ? text : urls).trim() !== '';
  const ways: Record<Way, ReactNode> = {
    files: <ChosenFiles files={files} onChange={setFiles} />,
    text: (
      <Field label="Text">
        <Textarea rows={8} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
    ),
    url: (
      <Field
        label="Web addresses"
        hint="One per line. Of a page, up to ten pages of the same site are read; of a sitemap, the pages that it lists."
      >
        <Textarea
          rows={3}
          inputMode="url"
          spellCheck={false}
          placeholder="https://example.com/handbook"
          value={urls}
          onChange={(event) => setUrls(event.target.value)}
        />
      </Field>
    ),
  };
  const label = { files: 'Files', text: 'Text', url: 'Web addresses' };
  return (
    <FormDialog
      size="large"
      title={`Add to ${base.name}`}
      onClose={onClose}
      action={way === 'files' && files.length > 1 ? `Add ${files.length} files` : 'Add'}
      disabled={!ready}
      className="flex flex-col gap-4"
      onSubmit={add}
    >
      <Tabs
        label="What to add"
        value={way}
        onChange={(id) => setWay(wayNames.find((one) => one === id) ?? 'files')}
        tabs={wayNames.map((id) => ({ id, label: label[id], content: ways[id] }))}
      />
      <details>
        <summary className="text-xs font-medium text-accent-text">
          Name, metadata, reading and splitting
        </summary>
        <div className="pt-3">
          <IndexOptionFields
            config={config.data}
            value={options}
            onChange={setOptions}
            named={way !== 'files' || files.length < 2}
          />
        </div>
      </details>
    </FormDialog>
  );
}

function ChosenFiles({
  files,
  onChange,
}: {
  readonly files: readonly File[];
  onChange(files: readonly File[]): void;
}) {
  return (
    <div className="flex flex-col gap-2">
      <Field
        label="Files"
        hint="PDF, Office, Markdown, HTML, CSV, JSON, e-mail, source code, archives and plain text."
      >
        <Input
          type="file"
          multiple
          className="h-auto py-1"
          onChange={(event) => onChange([...(event.target.files ?? [])])}
        />
      </Field>
      <ul className="text-xs text-muted">
        {files.map((file) => (
          <li key={`${file.name} ${file.size} ${file.lastModified}`} className="truncate">
            {file.name} · {formatBytes(file.size)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** One address as it is; several as the JSON array that the service takes. */
function urlField(lines: string): string {
  const urls = lines
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return urls.length === 1 ? (urls[0] ?? '') : JSON.stringify(urls);
}
