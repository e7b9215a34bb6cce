import { endingFields } from '../../../core/agents/answer/ending.js';
import type { WorkflowEvent } from '../../../core/events/run-event.js';
import type { Json, JsonObject } from '../../../core/json.js';
import type { ChildView } from '../../../core/runs/execution/child-run.js';
import { componentKey } from '../../../core/runs/resume/ending-executable.js';
import type { Run, RunResult, StepRecord } from '../../../core/runs/run.js';
import { nestedRunBody, type StatusText } from '../../../core/teams/member-responses.js';
import {
  chatRunOf,
  type ExecutorRun,
  executorRunsOf,
  nodeStates,
  stepResultsOf,
} from '../../../core/workflows/fold/workflow-fold.js';
import { pauseFields, workflowRequirementsOf } from '../../../core/workflows/review/workflow-requirements.js';
import { createdAtIn, statusIn, type WireFormat } from '../../../platform/http/response/wire-format.js';
import type { SoFar } from '../events/listed-events.js';

export interface WorkflowRunView {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  readonly events?: readonly WorkflowEvent[];
  readonly input?: Json;
  readonly soFar?: SoFar;
}

type Body = Record<string, unknown>;

/** No media; what a run made takes the place of these. */
const noMedia = { images: [], videos: [], audio: [], files: [] };

/** The body of a run of a workflow. `produced`: the media that it made, by their names. */
export function workflowRunBodyOf(view: WorkflowRunView, produced: Body, format: WireFormat): Body {
  const { run, steps, events } = view;
  const states = nodeStates(run, steps);
  return {
    ...runFields(view, (status) => statusIn(format, status)),
    agent_id: run.componentId,
    version: versionOf(run),
    priority: run.input.options.priority,
    forked_from_run_id: run.lineage?.forkedFromRunId,
    user_id: run.userId,
    created_at: createdAtIn(format, run),
    ...noMedia,
    ...produced,
    step_states: states.length > 0 ? states : undefined,
    events,
  };
}

/** The version of the stored component that ran; undefined for one of the code. */
export function versionOf({ kind, componentId, input: { options } }: Run): number | undefined {
  return options.configs?.[componentKey(kind, componentId)]?.version;
}

/** A run of a workflow in a list: every key but `events` is there, with nulls. */
export function listedWorkflowRunOf(view: WorkflowRunView, produced: Body, format: WireFormat): Body {
  const { run, steps, soFar } = view;
  const statusText: StatusText = (status) => statusIn(format, status);
  const done = !rests(run) && doneFields(run, steps, statusText);
  const fields: Body = { ...done, ...runFields(view, statusText) };
  return {
    run_id: run.runId,
    run_input: run.input.content,
    workflow_id: run.componentId,
    user_id: run.userId ?? '',
    content: rests(run) ? fields.content : soFar?.text || null,
    content_type: fields.content_type ?? null,
    status: fields.status,
    step_results: fields.step_results ?? [],
    step_executor_runs: fields.step_executor_runs ?? [],
    step_requirements: fields.step_requirements ?? null,
    error_requirements: fields.error_requirements ?? null,
    pause_kind: fields.pause_kind ?? null,
    paused_step_name: fields.paused_step_name ?? null,
    paused_step_index: fields.paused_step_index ?? null,
    metrics: fields.metrics ?? {},
    created_at: new Date(run.createdAt).toISOString(),
    reasoning_content: '',
    reasoning_steps: [],
    references: [],
    ...listedEnding(rests(run) ? run.result : null),
    reasoning_messages: [],
    ...noMedia,
    ...produced,
    response_audio: null,
    error_type: fields.error_type ?? null,
    error_id: fields.error_id ?? null,
    additional_data: fields.additional_data ?? null,
  };
}

/** How the answer ended, in a list. */
export function listedEnding(result: RunResult | null): Body {
  return { finish_reason: null, finish_message: null, citations: null, ...endingFields(result ?? {}) };
}

/** The fields of all workflow runs, nested ones included. */
function runFields(view: WorkflowRunView, statusText: StatusText): Body {
  const { run, steps } = view;
  const result = rests(run) ? run.result : null;
  return {
    input: view.input ?? run.input.content,
    content: result?.content ?? '',
    content_type: result?.contentType,
    ...endingFields(result ?? {}),
    workflow_id: run.componentId,
    workflow_name: run.componentName ?? undefined,
    run_id: run.runId,
    session_id: run.sessionId,
    status: statusText(run.status),
    ...(rests(run) && restingFields(run, steps, statusText)),
    metrics: result?.metrics,
    metadata: result?.metadata,
    session_state: hasKeys(result?.sessionState) ? result?.sessionState : undefined,
    error_type: result?.error?.type,
    error_id: result?.error?.id,
    additional_data: result?.error?.additionalData,
    ...result?.extra,
  };
}

/** What was done so far. */
function doneFields(run: Run, steps: readonly StepRecord[], statusText: StatusText): Body {
  const results = stepResultsOf(run, steps);
  const runs = executorRunsOf(run, steps).map((inside) => executorRunBody(inside, run, statusText));
  return {
    step_results: results.length > 0 ? results : undefined,
    step_executor_runs: runs.length > 0 ? runs : undefined,
  };
}

/** What to show of a run that no process executes: what was done, and what it waits for. */
function restingFields(run: Run, steps: readonly StepRecord[], statusText: StatusText): Body {
  const chat = chatRunOf(run, steps);
  // a cancelled run's questions can no longer be answered
  const shown = run.status === 'paused' ? steps : steps.filter((step) => !isOpenQuestion(step));
  return {
    ...doneFields(run, steps, statusText),
    workflow_agent_run: chat && executorRunBody({ ...chat, stepId: null }, run, statusText),
    ...pauseFields(workflowRequirementsOf(run, shown)),
  };
}

/** The body of a run that executed a step. The workflow names its owner. */
function executorRunBody({ stepId, ...view }: ExecutorRun, workflow: Run, statusText: StatusText): Body {
  const place = { parent_run_id: workflow.runId, workflow_step_id: stepId ?? undefined };
  if (view.run.kind === 'workflow') return { ...nestedWorkflowBody(view, statusText), ...place };
  const { user_id: _user, ...body } = nestedRunBody(view, statusText);
  return { ...body, workflow_id: workflow.componentId, ...place };
}

function nestedWorkflowBody(view: ChildView, statusText: StatusText): Body {
  return { ...runFields(view, statusText), created_at: Math.floor(view.run.createdAt / 1000) };
}

function rests({ status, result }: Run): boolean {
  return status === 'paused' || (result !== null && status !== 'pending' && status !== 'running');
}

function isOpenQuestion({ kind, status }: StepRecord): boolean {
  return kind === 'wait' && status === 'running';
}

function hasKeys(state: JsonObject | undefined): boolean {
  return Object.keys(state ?? {}).length > 0;
}
