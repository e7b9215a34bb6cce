import type { Workflow, WorkflowRun } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import Play from 'lucide-react/icons/play';
import { useMemo, useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { StatusBadge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Select } from '../../ui/forms/inputs.js';
import { Link } from '../../ui/link.js';
import { PageHeader } from '../../ui/page-header.js';
import { Panel } from '../../ui/panel.js';
import { EmptyState, ErrorLine } from '../../ui/states.js';
import { type Executions, executionsOf, stepAt } from './executions.js';
import { GraphPanel } from './graph/graph-panel.js';
import { layout } from './graph/layout.js';
import { StartDialog } from './start-dialog.js';
import { StepPanel } from './step-panel.js';
import { isMoving, useWorkflowRun } from './workflow-run.js';

export function WorkflowPage() {
  const { client, address } = useConnection();
  const { workflowId } = useParams({ from: '/workflows/$workflowId' });
  const query = useQuery({
    queryKey: ['workflow', address, workflowId],
    queryFn: ({ signal }) => client.workflows.get(workflowId, {}, { signal }),
  });
  return (
    <div className="w-full px-4 py-6 md:px-8">
      {query.data === undefined && (
        <PageHeader title="Workflow" parent={<Link to="/workflows">Workflows</Link>} />
      )}
      <Loaded query={query}>{(workflow) => <LoadedWorkflow key={workflow.id} workflow={workflow} />}</Loaded>
    </div>
  );
}

const nothing: Executions = new Map();

function LoadedWorkflow({ workflow }: { readonly workflow: Workflow }) {
  const may = useMay();
  const [search, change] = useSearchState();
  const [starting, setStarting] = useState(false);
  const { run, trace } = useWorkflowRun(workflow.id, search.run);
  const graph = useMemo(() => layout(workflow.steps), [workflow.steps]);
  const executions = useMemo(
    () => (run.data ? executionsOf(workflow.steps, run.data, trace?.root) : nothing),
    [workflow.steps, run.data, trace],
  );
  const selected = search.step === undefined ? undefined : stepAt(workflow.steps, search.step);
  const canRun = may('workflows:run');
  useCommands(
    useMemo(
      () =>
        canRun
          ? [
              {
                id: 'workflow run',
                group: 'Workflow',
                title: `Run ${workflow.name}`,
                run: () => setStarting(true),
              },
            ]
          : [],
      [canRun, workflow.name],
    ),
  );
  return (
    <>
      <PageHeader
        title={workflow.name}
        parent={<Link to="/workflows">Workflows</Link>}
        description={workflow.description}
        actions={
          <>
            <RunChoice
              workflowId={workflow.id}
              runId={search.run}
              onChange={(next) => change({ run: next })}
            />
            <Link to="/chat/$kind/$componentId" params={{ kind: 'workflow', componentId: workflow.id }}>
              Chat
            </Link>
            {canRun && (
              <Button variant="primary" onClick={() => setStarting(true)}>
                <Play aria-hidden className="size-3.5" />
                Run
              </Button>
            )}
          </>
        }
      />
      {run.error && <ErrorLine error={run.error} />}
      {run.data && <RunLine workflowId={workflow.id} run={run.data} traceId={trace?.traceId} />}
      {workflow.steps.length === 0 ? (
        <Panel>
          <EmptyState title="No graph">
            {workflow.is_factory
              ? 'A factory builds this workflow for each run. Its steps are known when it runs.'
              : 'The steps of this workflow are decided in code. The trace of a run shows what it did.'}
          </EmptyState>
        </Panel>
      ) : (
        <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
          <GraphPanel
            graph={graph}
            name={workflow.name}
            executions={executions}
            isEnded={run.data?.status.toLowerCase() === 'completed'}
            selected={search.step}
            onSelect={(step) => change({ step })}
          />
          <section
            aria-label="Details"
            className="flex min-w-0 flex-col gap-4 rounded-lg border border-line bg-surface p-4"
          >
            {selected && search.step !== undefined ? (
              <StepPanel key={search.step} step={selected} executions={executions.get(search.step) ?? []} />
            ) : (
              <WholeRun run={run.data} />
            )}
            {selected && (
              <Button size="small" className="self-start" onClick={() => change({ step: undefined })}>
                Show the whole run
              </Button>
            )}
          </section>
        </div>
      )}
      {starting && (
        <StartDialog
          workflow={workflow}
          onClose={() => setStarting(false)}
          onStarted={(runId) => change({ run: runId, step: undefined })}
        />
      )}
    </>
  );
}

const recent = 20;
const shortTime = { dateStyle: 'short', timeStyle: 'short' } as const;

/** Which run the graph shows. */
function RunChoice({
  workflowId,
  runId,
  onChange,
}: {
  readonly workflowId: string;
  readonly runId: string | undefined;
  onChange(runId: string | undefined): void;
}) {
  const { client, address } = useConnection();
  const { data = [] } = useQuery({
    queryKey: ['workflow-runs', address, workflowId, runId],
    queryFn: ({ signal }) =>
      client.workflows.listRuns(workflowId, { include_events: false, limit: recent }, { signal }),
  });
  const listed = data.some(({ run_id }) => run_id === runId);
  return (
    <Select
      aria-label="Run shown in the graph"
      className="max-w-72"
      value={runId ?? ''}
      options={[
        { value: '', label: 'No run' },
        ...data.map(({ run_id, status, created_at }) => ({
          value: run_id,
          label: `${new Date(created_at).toLocaleString(undefined, shortTime)} · ${status.toLowerCase()}`,
        })),
        ...(runId === undefined || listed ? [] : [{ value: runId, label: runId }]),
      ]}
      onChange={(event) => onChange(event.target.value || undefined)}
    />
  );
}

function RunLine({
  workflowId,
  run,
  traceId,
}: {
  readonly workflowId: string;
  readonly run: WorkflowRun;
  readonly traceId: string | undefined;
}) {
  const status = run.status.toLowerCase();
  return (
    <p aria-live="polite" className="flex flex-wrap items-center gap-x-3 gap-y-1 pb-3">
      <StatusBadge status={status} />
      {status === 'paused' && (
        <span>
          {run.paused_step_name ? `“${run.paused_step_name}” waits for an answer. ` : 'The run waits. '}
          <Link
            to="/chat/$kind/$componentId"
            params={{ kind: 'workflow', componentId: workflowId }}
            search={{ session: run.session_id, run: run.run_id }}
          >
            Answer in the chat
          </Link>
        </span>
      )}
      <Link
        to="/runs/$kind/$componentId/$runId"
        params={{ kind: 'workflow', componentId: workflowId, runId: run.run_id }}
      >
        Run
      </Link>
      {traceId && (
        <Link to="/traces/$traceId" params={{ traceId }}>
          Trace
        </Link>
      )}
    </p>
  );
}

function WholeRun({ run }: { readonly run: WorkflowRun | undefined }) {
  if (run === undefined)
    return (
      <p className="text-muted">
        Select a step to see its settings. Run the workflow, or choose an earlier run, to see what each step
        got and gave.
      </p>
    );
  return (
    <>
      <Part title="Input" value={run.input} />
      {isMoving(run) ? (
        <p className="text-muted">The run is in progress.</p>
      ) : (
        <Part title={run.status.toLowerCase() === 'error' ? 'Error' : 'Output'} value={run.content} />
      )}
    </>
  );
}

function Part({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <div className="min-w-0">
      <h2 className="pb-1 text-xs font-medium text-muted">{title}</h2>
      {typeof value === 'object' && value !== null ? (
        <JsonView value={value} depth={2} />
      ) : (
        <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{String(value ?? '–')}</p>
      )}
    </div>
  );
}
