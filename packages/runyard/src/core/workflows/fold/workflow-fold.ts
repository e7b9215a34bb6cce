import { endingFields } from '../../agents/answer/ending.js';
import type { StepIndex, StepOutput } from '../../events/workflow-event.js';
import type { JsonObject } from '../../json.js';
import { type ChildView, childrenOf } from '../../runs/execution/child-run.js';
import { ownSteps } from '../../runs/journal/child-steps.js';
import { read } from '../../runs/journal/codec.js';
import { childInput } from '../../runs/journal/records.js';
import type { Run, RunStatus, StepRecord } from '../../runs/run.js';
import { isRunInside } from '../../runs/run-usage.js';
import { chatKey } from '../chat-agent.js';
import {
  type GroupRecord,
  isGroup,
  isNodeInput,
  isTopLevel,
  type NodeInput,
  type NodeRecord,
  nodeInput,
  nodeRecord,
  runsByNode,
} from '../journal-records.js';
import { foldNode, unendedOutput } from './node-view.js';

/** `step_results`: the outputs of the steps at the top, in order. A step that the run did not finish did not succeed. */
export function stepResultsOf(run: Run, steps: readonly StepRecord[]): StepOutput[] {
  const own = ownSteps(steps);
  const byKey = new Map(own.map((step) => [step.key, step]));
  const isOver = run.status === 'cancelled' || run.status === 'error';
  return own
    .filter(({ key }) => isTopLevel(key))
    .sort((left, right) => positionOf(left) - positionOf(right))
    .flatMap((step) => {
      if (step.status === 'completed') return [foldNode((key) => byKey.get(key), step.key).output];
      return isOver ? [unendedOutput(own, step, whyUnended(run), false)] : [];
    });
}

function positionOf({ key }: StepRecord): number {
  return Number(key.slice('node:'.length));
}

function whyUnended({ status }: Run): string {
  return status === 'cancelled' ? 'The workflow was cancelled.' : 'The workflow failed.';
}

/** `step_executor_runs`: the runs of agents, teams and workflows, in the order in which they began. */
export function executorRunsOf(run: Run, steps: readonly StepRecord[]): readonly ExecutorRun[] {
  const byKey = new Map(ownSteps(steps).map((step) => [step.key, step]));
  return childrenOf(run, steps)
    .filter(({ step }) => step.key !== chatKey)
    .map((view) => ({ ...view, stepId: nodeIn(byKey, view)?.step_id ?? null }));
}

export interface ExecutorRun extends ChildView {
  /** The step that it executes; null in a workflow that is one function. */
  readonly stepId: string | null;
}

/** `workflow_agent_run`: the run of the agent in front of the workflow. */
export function chatRunOf(run: Run, steps: readonly StepRecord[]): ChildView | undefined {
  return childrenOf(run, steps).find(({ step }) => step.key === chatKey);
}

/** The node that a run inside is the work of. */
export function nodeOf(view: ChildView, steps: readonly StepRecord[]): NamedNode | undefined {
  return nodeIn({ get: (wanted) => steps.find(({ key }) => key === wanted) }, view);
}

type NamedNode = NodeInput & { readonly name: string };

function nodeIn(
  steps: Pick<ReadonlyMap<string, StepRecord>, 'get'>,
  { step }: ChildView,
): NamedNode | undefined {
  const at = step.key.indexOf(':run:');
  const node = steps.get(step.key.slice(0, Math.max(at, 0)));
  return node !== undefined && isNodeInput(node.input)
    ? { ...read(node, nodeInput), name: node.name }
    : undefined;
}

/** A nested run as the events of the workflow show it; its messages are in the body of the run. */
export function executorRunBody({ run, stepId }: ExecutorRun, workflow: Run): JsonObject {
  const { result } = run;
  return {
    run_id: run.runId,
    [`${run.kind}_id`]: run.componentId,
    ...(run.componentName !== null && { [`${run.kind}_name`]: run.componentName }),
    parent_run_id: workflow.runId,
    ...(run.kind !== 'workflow' && { workflow_id: workflow.componentId }),
    ...(stepId !== null && { workflow_step_id: stepId }),
    session_id: run.sessionId,
    input: run.kind === 'workflow' ? run.input.content : { input_content: run.input.content },
    ...(result !== null && {
      content: result.content,
      content_type: result.contentType,
      ...endingFields(result),
    }),
    ...(result?.metrics !== undefined && { metrics: result.metrics }),
    created_at: Math.floor(run.createdAt / 1000),
    status: run.status,
  };
}

/** The state of a node of the definition in this run. */
export type NodeState = {
  readonly key: string;
  readonly step_id: string;
  readonly step_name: string;
  readonly step_type: string;
  readonly step_index: StepIndex;
  readonly status: 'completed' | 'failed' | 'skipped' | 'running' | 'paused' | 'cancelled';
  /** Milliseconds. */
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly branch?: string;
  readonly selected_steps?: string[];
  readonly iterations?: number;
  readonly run_ids?: string[];
};

/** The nodes that were begun, in order, each iteration of a loop with its own. */
export function nodeStates(run: Run, steps: readonly StepRecord[]): NodeState[] {
  const own = ownSteps(steps);
  const runs = runsByNode(own);
  return own
    .filter(({ key, input }) => key.startsWith('node:') && isNodeInput(input))
    .map((step) => stateOf(run, step, runs.get(step.key) ?? []));
}

function stateOf(run: Run, step: StepRecord, runs: readonly StepRecord[]): NodeState {
  const { node, step_id, index } = read(step, nodeInput);
  const record = step.status === 'completed' ? read(step, nodeRecord) : undefined;
  const runIds = runs.filter(isRunInside).map((inside) => read(inside, childInput).runId);
  return {
    key: step.key,
    step_id,
    step_name: step.name,
    step_type: node,
    step_index: index,
    status: statusOf(run.status, step, record),
    started_at: step.startedAt,
    ended_at: step.endedAt,
    ...(record !== undefined && isGroup(record) && groupFacts(record)),
    ...(runIds.length > 0 && { run_ids: runIds }),
  };
}

function groupFacts({ branch, selected, iterations }: GroupRecord) {
  return {
    ...(branch !== undefined && { branch }),
    ...(selected !== undefined && { selected_steps: selected }),
    ...(iterations !== undefined && { iterations: iterations.length }),
  };
}

function statusOf(run: RunStatus, step: StepRecord, record: NodeRecord | undefined): NodeState['status'] {
  if (record?.skipped) return 'skipped';
  if (record !== undefined) return 'success' in record && !record.success ? 'failed' : 'completed';
  if (step.status === 'error') return run === 'cancelled' ? 'cancelled' : 'failed';
  if (run === 'paused') return 'paused';
  return run === 'running' || run === 'pending' ? 'running' : 'cancelled';
}
