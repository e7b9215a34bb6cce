import type { Kind } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { useClient, useMay } from '../../connection/use-connection.js';
import { useComponents } from '../../data/components.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Button } from '../../ui/button.js';
import { JsonView } from '../../ui/content/json-view.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Link } from '../../ui/link.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { Panel } from '../../ui/panel.js';
import { type Tab, Tabs } from '../../ui/tabs.js';
import { EventList } from './detail/event-list.js';
import { type FollowedRun, useRunEvents } from './detail/run-events.js';
import { RunFacts } from './detail/run-facts.js';
import { Failure, ModelUses, Output, RunMessages, Steps, ToolCalls, Value } from './detail/run-parts.js';
import { type AnyRun, useRunQuery, useTraceId } from './detail/use-run.js';
import { isActive } from './run-rows.js';

export function RunPage() {
  const params = useParams({ from: '/runs/$kind/$componentId/$runId' });
  const kind = kindOf(params.kind);
  const query = useRunQuery(kind, params.componentId, params.runId);
  return (
    <Page>
      {query.data === undefined && <PageHeader title="Run" parent={<Link to="/runs">Runs</Link>} />}
      <Loaded query={query}>
        {(run) => <LoadedRun key={params.runId} kind={kind} componentId={params.componentId} run={run} />}
      </Loaded>
    </Page>
  );
}

function kindOf(text: string): Kind {
  return text === 'team' || text === 'workflow' ? text : 'agent';
}

interface LoadedRunProps {
  readonly kind: Kind;
  readonly componentId: string;
  readonly run: AnyRun;
}

function LoadedRun({ kind, componentId, run }: LoadedRunProps) {
  const client = useClient();
  const may = useMay();
  const queries = useQueryClient();
  const [cancelling, setCancelling] = useState(false);
  const { components } = useComponents();
  const { run_id: runId, session_id: sessionId } = run;
  const status = run.status.toLowerCase();
  // a run that continues after a pause has further events
  const followed = useRunEvents(kind, componentId, runId, status === 'paused' ? 1 : 0);
  const traceId = useTraceId(runId, status);
  useEffect(() => {
    if (followed.state === 'ended') void queries.invalidateQueries({ queryKey: ['run'] });
  }, [followed.state, queries]);
  const name = components.find((one) => one.kind === kind && one.id === componentId)?.name ?? componentId;
  const canCancel = isActive(status) && may(`${kind}s:run`);
  useCommands(
    useMemo(
      () =>
        canCancel
          ? [{ id: 'run cancel', group: 'Run', title: 'Cancel this run', run: () => setCancelling(true) }]
          : [],
      [canCancel],
    ),
  );
  return (
    <>
      <PageHeader
        title={name}
        parent={<Link to="/runs">Runs</Link>}
        description={
          <span className="inline-flex max-w-full items-center gap-1 font-mono text-xs">
            <span className="truncate">{runId}</span>
            <CopyButton text={runId} label="Copy the id of the run" />
          </span>
        }
        actions={
          <>
            <Link
              to="/chat/$kind/$componentId"
              params={{ kind, componentId }}
              search={{ session: sessionId, run: runId }}
            >
              {status === 'paused' ? 'Answer in the chat' : 'Chat'}
            </Link>
            {traceId && (
              <Link to="/traces/$traceId" params={{ traceId }}>
                Trace
              </Link>
            )}
            {kind === 'workflow' && (
              <Link to="/workflows/$workflowId" params={{ workflowId: componentId }} search={{ run: runId }}>
                Graph
              </Link>
            )}
            <Link to="/runs" search={{ session: sessionId }}>
              Session
            </Link>
            {canCancel && <Button onClick={() => setCancelling(true)}>Cancel</Button>}
          </>
        }
      />
      <RunFacts run={run} status={followed.state === 'reconnecting' ? 'reconnecting' : status} />
      <RunTabs run={run} status={status} followed={followed} />
      <ConfirmDialog
        open={cancelling}
        onClose={() => setCancelling(false)}
        title="Cancel the run?"
        action="Cancel run"
        destructive
        onConfirm={async () => {
          await client[`${kind}s`].cancel(componentId, runId);
          await queries.invalidateQueries({ queryKey: ['run'] });
        }}
      >
        It stops at once, with its model calls and tools. A cancelled run cannot continue.
      </ConfirmDialog>
    </>
  );
}

interface RunTabsProps {
  readonly run: AnyRun;
  readonly status: string;
  readonly followed: FollowedRun;
}

function RunTabs({ run, status, followed }: RunTabsProps) {
  const [search, change] = useSearchState();
  const tools = 'tools' in run ? (run.tools ?? []) : [];
  const tabs: Tab[] = [
    {
      id: 'overview',
      label: 'Overview',
      content: <Overview run={run} status={status} text={followed.text} />,
    },
  ];
  if ('step_states' in run && run.step_states)
    tabs.push({ id: 'steps', label: 'Steps', content: <Steps states={run.step_states} /> });
  if (tools.length > 0)
    tabs.push({ id: 'tools', label: `Tools ${tools.length}`, content: <ToolCalls tools={tools} /> });
  if ('messages' in run && run.messages)
    tabs.push({ id: 'messages', label: 'Messages', content: <RunMessages messages={run.messages} /> });
  if ('member_responses' in run && Array.isArray(run.member_responses) && run.member_responses.length > 0)
    tabs.push({
      id: 'members',
      label: 'Members',
      content: <JsonView value={run.member_responses} depth={2} />,
    });
  tabs.push(
    { id: 'events', label: `Events ${followed.entries.length}`, content: <EventList followed={followed} /> },
    { id: 'json', label: 'JSON', content: <JsonView value={run} depth={1} /> },
  );
  const value = tabs.find(({ id }) => id === search.tab)?.id ?? 'overview';
  return (
    <Tabs
      label="Parts of the run"
      tabs={tabs}
      value={value}
      onChange={(tab) => change({ tab: tab === 'overview' ? undefined : tab })}
    />
  );
}

interface OverviewProps {
  readonly run: AnyRun;
  readonly status: string;
  /** What was streamed so far. */
  readonly text: string;
}

function Overview({ run, status, text }: OverviewProps) {
  const input = 'workflow_id' in run ? run.input : inputContent(run.input);
  const isRunning = status === 'running' || status === 'pending';
  return (
    <div className="flex flex-col gap-4">
      {status === 'error' && <Failure type={run.error_type} content={run.content} />}
      <Panel title="Input">
        <Value value={input} />
      </Panel>
      {status !== 'error' && (
        <Panel title={isRunning ? 'Output so far' : 'Output'}>
          <Output content={isRunning ? text : run.content} />
        </Panel>
      )}
      {run.metrics && <ModelUses metrics={run.metrics} />}
    </div>
  );
}

function inputContent(input: unknown): unknown {
  return typeof input === 'object' && input !== null ? Reflect.get(input, 'input_content') : input;
}
