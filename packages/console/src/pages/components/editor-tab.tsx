import { ApiError, type ComponentConfig, ConflictError } from '@runyard/client';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/forms/field.js';
import { CodeArea, Select } from '../../ui/forms/inputs.js';
import { type JsonObject, jsonFault, jsonText, parseJsonObject } from '../../ui/forms/json-text.js';
import { toast } from '../../ui/overlay/toasts.js';
import { EmptyState, ErrorLine } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { ConfigForm } from './config-form.js';
import { ConflictNotice } from './conflict-notice.js';
import { faultsAt } from './faults.js';
import { PublishDialog } from './publish-dialog.js';
import { type StoredComponent, useReloadComponent, useVersion, versionToEdit } from './stored-component.js';

/** One version in the editor. A published one becomes a new draft when it is saved. */
export function EditorTab({ stored }: { readonly stored: StoredComponent }) {
  const { component, versions } = stored;
  const [search, change] = useSearchState();
  const asked = Number(search.version);
  const chosen = versions.some(({ version }) => version === asked) ? asked : versionToEdit(stored);
  const loaded = useVersion(component.component_id, chosen);
  if (chosen === undefined) return <EmptyState title="This component has no versions" />;
  const chooser = (
    <Select
      aria-label="Version"
      className="max-w-80"
      value={String(chosen)}
      options={versions.map(({ version, stage, label }) => ({
        value: String(version),
        label: `Version ${version} (${stage}${version === component.current_version ? ', current' : ''})${label ? ` · ${label}` : ''}`,
      }))}
      onChange={(event) => change({ version: event.target.value })}
    />
  );
  return (
    <Loaded query={loaded}>
      {(version) => (
        <Editor
          key={`${version.version}/${version.revision}`}
          stored={stored}
          version={version}
          chooser={chooser}
          onVersion={(next) => change({ version: String(next) })}
        />
      )}
    </Loaded>
  );
}

interface EditorProps {
  readonly stored: StoredComponent;
  readonly version: ComponentConfig;
  /** Chooses another version. */
  readonly chooser: ReactNode;
  onVersion(version: number): void;
}

/** The form and the JSON text are two views of one draft: the text. */
function Editor({ stored: { component }, version, chooser, onVersion }: EditorProps) {
  const { client } = useConnection();
  const reload = useReloadComponent();
  const mayWrite = useMay()('components:write') && component.deleted_at === undefined;
  const begun = jsonText(version.config ?? {});
  const [text, setText] = useState(begun);
  const [view, setView] = useState('form');
  const [publishing, setPublishing] = useState(false);
  const fault = jsonFault(text, parseJsonObject);
  const config = fault === undefined ? (parseJsonObject(text) ?? {}) : undefined;
  const isDraft = version.stage === 'draft';
  const save = useMutation({
    mutationFn: (revision: number) => {
      const body = { config: parseJsonObject(text) ?? {} };
      return isDraft
        ? client.components.updateConfig(component.component_id, version.version, {
            ...body,
            expected_revision: revision,
          })
        : client.components.createConfig(component.component_id, { ...body, stage: 'draft' });
    },
    onSuccess: async (saved) => {
      toast({ title: isDraft ? 'Saved.' : `Saved as the draft ${saved.version}.` });
      onVersion(saved.version);
      await reload();
    },
  });
  const faults = faultsAt(save.error);
  const conflict = save.error instanceof ConflictError && save.error.errorCode === 'stale_revision';
  const setConfig = (next: JsonObject) => setText(jsonText(next));
  const changed = text !== begun;
  const placed = save.error instanceof ApiError && save.error.faults.length > 0;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2 text-muted">
        {chooser}
        <span className="min-w-0 flex-1 basis-24 [overflow-wrap:anywhere]">{version.notes}</span>
        {mayWrite && (
          <>
            {changed && <Button onClick={() => setText(begun)}>Discard changes</Button>}
            <Button
              variant={changed || !isDraft ? 'primary' : 'secondary'}
              busy={save.isPending}
              disabled={!changed || fault !== undefined}
              onClick={() => save.mutate(version.revision)}
            >
              {isDraft ? 'Save draft' : 'Save as a new draft'}
            </Button>
            {isDraft && (
              <Button
                variant={changed ? 'secondary' : 'primary'}
                disabled={changed}
                onClick={() => setPublishing(true)}
              >
                Publish…
              </Button>
            )}
          </>
        )}
      </div>
      {conflict && (
        <ConflictNotice
          componentId={component.component_id}
          version={version.version}
          mine={text}
          onReload={() => void reload()}
          onOverwrite={(revision) => save.mutate(revision)}
        />
      )}
      {save.error && !conflict && !placed && <ErrorLine error={save.error} />}
      {placed && (
        <div role="alert" className="rounded-lg bg-danger-soft px-4 py-2 text-danger">
          <p className="font-medium">The service does not accept this configuration:</p>
          <ul className="list-disc pl-5">
            {[...faults].map(([path, message]) => (
              <li key={path} className="[overflow-wrap:anywhere]">
                <code className="text-xs">{path || 'config'}</code> {message}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Tabs
        label="View of the configuration"
        value={view}
        onChange={setView}
        tabs={[
          {
            id: 'form',
            label: 'Form',
            content:
              config === undefined ? (
                <EmptyState title="The JSON cannot be read">{fault}</EmptyState>
              ) : (
                <ConfigForm
                  type={component.component_type}
                  config={config}
                  faults={faults}
                  disabled={!mayWrite}
                  onChange={setConfig}
                />
              ),
          },
          {
            id: 'json',
            label: 'JSON',
            content: (
              <Field label="Configuration" error={fault}>
                <CodeArea
                  rows={Math.min(32, Math.max(12, text.split('\n').length + 1))}
                  readOnly={!mayWrite}
                  value={text}
                  onChange={(event) => setText(event.target.value)}
                />
              </Field>
            ),
          },
        ]}
      />
      {publishing && (
        <PublishDialog component={component} version={version} onClose={() => setPublishing(false)} />
      )}
    </div>
  );
}
