import { useRun } from '@runyard/client/react';
import Play from 'lucide-react/icons/play';
import Square from 'lucide-react/icons/square';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { StatusBadge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Markdown } from '../../ui/content/markdown.js';
import { formatDuration, formatTokens } from '../../ui/format/numbers.js';
import { Field } from '../../ui/forms/field.js';
import { Select, Textarea } from '../../ui/forms/inputs.js';
import { Link } from '../../ui/link.js';
import { Panel } from '../../ui/panel.js';
import { ErrorLine } from '../../ui/states.js';
import type { StoredComponent } from './stored-component.js';

interface Sent {
  readonly count: number;
  readonly message: string;
}

/** The same message to two versions, side by side. Each run has a session of its own. */
export function TryTab({ stored }: { readonly stored: StoredComponent }) {
  const { component, versions } = stored;
  const draft = versions.find(({ stage }) => stage === 'draft')?.version;
  const newest = versions[0]?.version ?? 1;
  const [left, setLeft] = useState(component.current_version ?? newest);
  const [right, setRight] = useState(draft ?? newest);
  const [message, setMessage] = useState('');
  const [sent, setSent] = useState<Sent>({ count: 0, message: '' });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSent({ count: sent.count + 1, message });
  };
  const side = (version: number, choose: (version: number) => void, name: string) => (
    <TryPanel key={version} stored={stored} version={version} onVersion={choose} sent={sent} name={name} />
  );
  return (
    <div className="flex flex-col gap-4">
      <form className="flex flex-wrap items-end gap-2" onSubmit={submit}>
        <div className="min-w-48 flex-1">
          <Field label="Message to both">
            <Textarea rows={2} value={message} onChange={(event) => setMessage(event.target.value)} />
          </Field>
        </div>
        <Button type="submit" variant="primary" disabled={message.trim() === ''}>
          <Play aria-hidden className="size-3.5" />
          Run both
        </Button>
      </form>
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
        {side(left, setLeft, 'Left version')}
        {side(right, setRight, 'Right version')}
      </div>
    </div>
  );
}

interface TryPanelProps {
  readonly stored: StoredComponent;
  readonly version: number;
  onVersion(version: number): void;
  readonly sent: Sent;
  readonly name: string;
}

function TryPanel({ stored: { component, versions }, version, onVersion, sent, name }: TryPanelProps) {
  const { client } = useConnection();
  const kind = component.component_type === 'team' ? 'team' : 'agent';
  const agentRun = useRun(client.agents, component.component_id);
  const teamRun = useRun(client.teams, component.component_id);
  const run = kind === 'team' ? teamRun : agentRun;
  const { send } = run;
  const shown = useRef(sent.count);
  useEffect(() => {
    if (sent.count === shown.current) return;
    shown.current = sent.count;
    void send({ message: sent.message, version, session_id: null });
  }, [sent, send, version]);
  // the numbers of a run that has ended
  const metrics = run.run?.metrics as { total_tokens?: number; duration?: number } | undefined;
  return (
    <Panel
      title={
        <Select
          aria-label={name}
          className="max-w-64"
          value={String(version)}
          options={versions.map((one) => ({
            value: String(one.version),
            label: `Version ${one.version} (${one.version === component.current_version ? 'current' : one.stage})`,
          }))}
          onChange={(event) => onVersion(Number(event.target.value))}
        />
      }
      actions={
        <>
          {run.status !== 'idle' && <StatusBadge status={run.status} />}
          {run.status === 'running' && (
            <Button size="small" onClick={() => void run.cancel()}>
              <Square aria-hidden className="size-3" />
              Stop
            </Button>
          )}
        </>
      }
    >
      <div aria-live="polite" className="min-h-24">
        {run.status === 'idle' && <p className="text-muted">The answer appears here.</p>}
        <Markdown text={run.text} />
        {run.error !== undefined && <ErrorLine error={run.error} />}
        {run.status === 'paused' && (
          <p className="text-warning">It waits for an answer of a person. Open the run to give it.</p>
        )}
      </div>
      {run.runId && run.run && (
        <p className="flex flex-wrap gap-3 border-t border-line pt-2 text-xs text-muted">
          <Link
            to="/runs/$kind/$componentId/$runId"
            params={{ kind, componentId: component.component_id, runId: run.runId }}
          >
            Open the run
          </Link>
          {metrics?.total_tokens !== undefined && <span>{formatTokens(metrics.total_tokens)} tokens</span>}
          {metrics?.duration !== undefined && <span>{formatDuration(metrics.duration * 1_000)}</span>}
        </p>
      )}
    </Panel>
  );
}
