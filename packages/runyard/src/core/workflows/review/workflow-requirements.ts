import { requirementBody } from '../../agents/requirements/requirement-body.js';
import { teamRequirementsOf } from '../../agents/requirements/team-requirements.js';
import type { ToolRequirementState } from '../../agents/requirements/tool-requirements.js';
import type { PauseFields, StepIndex } from '../../events/workflow-event.js';
import type { JsonObject } from '../../json.js';
import { type ChildView, childrenOf, wasGivenUp } from '../../runs/execution/child-run.js';
import { childPrefix, ownSteps } from '../../runs/journal/child-steps.js';
import { read } from '../../runs/journal/codec.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { nodeOf } from '../fold/workflow-fold.js';
import { waitsOf } from '../functions/open-waits.js';
import { stepIdOf } from '../journal-records.js';
import { reviewedOutput } from './reviewed-output.js';
import {
  type ErrorRequirement,
  requirementOf,
  type StepAnswer,
  type StepRequirement,
  stepAnswer,
  stepQuestion,
  stepWaitKinds,
} from './step-requirement.js';

/** Something that a workflow waits, or waited, for. */
export interface StepRequirementState {
  readonly kind: 'step' | 'error' | 'executor';
  readonly isOpen: boolean;
  readonly stepId: string;
  readonly stepName: string;
  readonly stepIndex: StepIndex;
  /** StepRequirement or ErrorRequirement of the wire. */
  readonly body: JsonObject;
  /** The key of the `wait` step in the journal of the outermost run; null for what an executor waits for. */
  readonly waitKey: string | null;
  /** The calls that an executor waits for. */
  readonly calls: readonly ExecutorCall[];
  /** The place of the step at the top that it belongs to. */
  readonly topIndex: number;
}

/** A tool call of an executor, or of a member of one, that waits or waited. */
export interface ExecutorCall {
  /** In the journal of the outermost run. */
  readonly waitKey: string;
  readonly state: ToolRequirementState;
  readonly body: JsonObject;
}

export interface WorkflowRequirements {
  /** What was answered, and last what the run waits for. */
  readonly stepRequirements: readonly JsonObject[];
  readonly errorRequirements: readonly JsonObject[];
  readonly open: readonly StepRequirementState[];
  /** The events and times that functions of a paused run wait for. */
  readonly waits: readonly JsonObject[];
  readonly pausedStepIndex?: number;
  readonly pausedStepName?: string;
  /** Left out for a step that failed. */
  readonly pauseKind?: 'step' | 'executor';
}

type Found = StepRequirementState & { readonly seq: number };

/** All that a workflow, the workflows within it and what executes their steps wait or waited for. */
export function workflowRequirementsOf(run: Run, steps: readonly StepRecord[]): WorkflowRequirements {
  const found = statesOf(run, steps, '', undefined).sort((left, right) => left.seq - right.seq);
  const open = found.filter(({ isOpen }) => isOpen);
  const ordered = [...found.filter(({ isOpen }) => !isOpen), ...open];
  const active = open.at(-1);
  const bodies = (wanted: (state: Found) => boolean) => ordered.filter(wanted).map(({ body }) => body);
  return {
    stepRequirements: bodies(({ kind }) => kind !== 'error'),
    errorRequirements: bodies(({ kind }) => kind === 'error'),
    open,
    waits: run.status === 'paused' ? waitsOf(steps) : [],
    ...(active !== undefined && {
      pausedStepIndex: active.topIndex,
      pausedStepName: active.stepName,
      ...(active.kind !== 'error' && { pauseKind: active.kind }),
    }),
  };
}

function statesOf(run: Run, steps: readonly StepRecord[], prefix: string, top: number | undefined): Found[] {
  const own = ownSteps(steps)
    .filter(({ kind, name }) => kind === 'wait' && stepWaitKinds.some((known) => known === name))
    .map((step) => reviewState(step, steps, prefix, top));
  const inside = childrenOf(run, steps).flatMap((view) => {
    const topIndex = top ?? topIndexOf(view.step.key);
    const inner = prefix + childPrefix(view.step.key);
    // a run that was given up has no open questions
    const stands = ({ isOpen }: Found) => !(isOpen && wasGivenUp(view.step));
    if (view.run.kind === 'workflow') return statesOf(view.run, view.steps, inner, topIndex).filter(stands);
    const state = executorState(run, view, steps, inner, topIndex);
    return state === undefined || !stands(state) ? [] : [state];
  });
  return [...own, ...inside];
}

function topIndexOf(key: string): number {
  return Number(/node:(\d+)/.exec(key)?.[1] ?? 0);
}

function reviewState(
  step: StepRecord,
  steps: readonly StepRecord[],
  prefix: string,
  top: number | undefined,
): Found {
  const { due_at: _due, covers: _covers, ...asked } = read(step, stepQuestion);
  const answer = step.status === 'completed' ? read(step, stepAnswer) : undefined;
  const output = step.name === 'step_error' ? undefined : reviewedOutput(step, steps);
  return {
    kind: step.name === 'step_error' ? 'error' : 'step',
    isOpen: answer === undefined,
    stepId: asked.step_id,
    stepName: asked.step_name,
    stepIndex: asked.step_index,
    body: {
      ...asked,
      // distinguishes the questions about one step
      requirement_id: prefix + step.key,
      ...(output !== undefined && { step_output: output }),
      ...answerFields(asked, answer),
    },
    waitKey: prefix + step.key,
    calls: [],
    topIndex: top ?? topIndexOf(step.key),
    seq: step.seq,
  };
}

function answerFields(asked: StepRequirement | ErrorRequirement, answer: StepAnswer | undefined): JsonObject {
  if (answer === undefined) return {};
  if (!('confirmed' in answer)) return { ...answer };
  const { user_input: values } = answer;
  if (values === undefined || !('user_input_schema' in asked)) return { ...answer };
  const schema = (asked.user_input_schema ?? []).map((field) => ({
    ...field,
    value: values[String(field.name)] ?? null,
  }));
  return { ...answer, user_input_schema: schema };
}

function executorState(
  workflow: Run,
  view: ChildView,
  steps: readonly StepRecord[],
  prefix: string,
  topIndex: number,
): Found | undefined {
  const calls = teamRequirementsOf(view.run, view.steps).map((state) => ({
    waitKey: prefix + state.waitKey,
    state,
    body: requirementBody(state),
  }));
  if (calls.length === 0) return undefined;
  const { run, step } = view;
  const node = nodeOf(view, steps);
  const fields = {
    step_id: node?.step_id ?? stepIdOf(workflow, step.key),
    step_name: node?.name ?? run.componentName ?? run.componentId,
    step_index: node?.index ?? topIndex,
  };
  return {
    kind: 'executor',
    isOpen: calls.some(({ state }) => state.answer === null),
    stepId: fields.step_id,
    stepName: fields.step_name,
    stepIndex: fields.step_index,
    body: {
      ...requirementOf(fields, 'Step', {}, 0),
      requires_executor_input: true,
      executor_requirements: calls.map(({ body }) => body),
      executor_id: run.componentId,
      executor_name: run.componentName ?? run.componentId,
      executor_run_id: run.runId,
      executor_type: run.kind,
      executor_session_id: run.sessionId,
    },
    waitKey: null,
    calls,
    topIndex,
    seq: Math.max(step.seq, ...view.steps.map(({ seq }) => seq)),
  };
}

/** The wire leaves nothing out that a client may look for. */
export function pauseFields(requirements: WorkflowRequirements): PauseFields {
  const { stepRequirements, errorRequirements, waits } = requirements;
  const { pausedStepIndex, pausedStepName, pauseKind } = requirements;
  return {
    ...(pausedStepIndex !== undefined && { paused_step_index: pausedStepIndex }),
    ...(pausedStepName !== undefined && { paused_step_name: pausedStepName }),
    ...(pauseKind !== undefined && { pause_kind: pauseKind }),
    ...(stepRequirements.length > 0 && { step_requirements: [...stepRequirements] }),
    ...(errorRequirements.length > 0 && { error_requirements: [...errorRequirements] }),
    ...(waits.length > 0 && { waiting_for: [...waits] }),
  };
}
