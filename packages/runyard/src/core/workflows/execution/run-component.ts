import { storableSchema } from '../../agents/answer/output-format.js';
import { questionsAtRest } from '../../agents/requirements/questions-at-rest.js';
import { requirementBody } from '../../agents/requirements/requirement-body.js';
import { teamRequirementsOf } from '../../agents/requirements/team-requirements.js';
import { withinTime } from '../../async/abort.js';
import { backOffMs } from '../../async/back-off.js';
import { errorCode } from '../../errors/error-code.js';
import type { ExecutorFields } from '../../events/workflow-event.js';
import { RunPaused, recordedStep } from '../../runs/context.js';
import type { Executable } from '../../runs/executable.js';
import { childIdentity, childView, runChild, wasGivenUp } from '../../runs/execution/child-run.js';
import { pauseSince } from '../../runs/execution/failed-tries.js';
import { readIf } from '../../runs/journal/codec.js';
import { type ChildOutcome, childInput, thrownBy } from '../../runs/journal/records.js';
import type { RunInput, StepRecord } from '../../runs/run.js';
import type { StepNode } from '../definition/node.js';
import { textOf } from '../fold/group-content.js';
import { nodeKey, runKey } from '../journal-records.js';
import { type Flow, type Place, type Scope, stepFields, tell } from './flow.js';
import type { Round, RoundResult } from './round.js';
import { runFields } from './run-fields.js';
import { shownFailure } from './run-function.js';
import { boundOf, StepTimeout, timeoutType } from './step-timeout.js';

/** One round of a step that is an agent, a team or a workflow: a run within this one. */
export async function runComponent(
  flow: Flow,
  node: StepNode,
  component: Executable,
  place: Place,
  scope: Scope,
  round: Round,
  begin: () => void,
): Promise<RoundResult> {
  if (flow.context.recorded(runKey(place.path, round.number)) === undefined) begin();
  for (let attempt = 1; ; attempt += 1) {
    const key = runKey(place.path, round.number, attempt);
    const result = await attemptRun(flow, node, component, place, scope, round, key);
    if (!('failure' in result) || attempt > node.maxRetries) return result;
    await beforeNextTry(flow, node, key, runKey(place.path, round.number, attempt + 1), attempt - 1);
  }
}

/** A try that has begun in an earlier execution is not waited for again. */
async function beforeNextTry(
  { context }: Flow,
  { backoff }: StepNode,
  failed: string,
  next: string,
  failures: number,
): Promise<void> {
  if (context.recorded(next) !== undefined) return;
  context.replay?.stop();
  const { endedAt = null } = context.recorded(failed) ?? {};
  await pauseSince(endedAt, backOffMs(backoff, failures), context.signal, context.timers);
}

async function attemptRun(
  flow: Flow,
  node: StepNode,
  component: Executable,
  place: Place,
  scope: Scope,
  round: Round,
  key: string,
): Promise<RoundResult> {
  const { context } = flow;
  const expected = { kind: 'step', name: component.id, identity: childIdentity(component) } as const;
  const earlier = context.recorded(key, expected);
  if (earlier !== undefined && wasGivenUp(earlier)) return { failure: timeoutOf(earlier) };
  const resting = questionsAtRest(context, key);
  if (resting !== undefined) throw new RunPaused(resting);
  try {
    const { status, result } = await runInside(flow, node, component, place, scope, round, key);
    if (status === 'completed') return { record: { from: key, success: true, error: null, stop: false } };
    const { type = 'Error', message = textOf(result.content) } = result.error ?? {};
    return { failure: { type, message }, from: key };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof RunPaused) {
      if (context.replay !== null) throw error;
      tellOfPause(flow, node, component, place, key);
      throw error;
    }
    // its input schema does not take what the step before it made
    const isRefusedInput = errorCode(error) === 'invalid_request';
    if (error instanceof StepTimeout || isRefusedInput) return { failure: shownFailure(error) };
    throw error;
  }
}

async function runInside(
  flow: Flow,
  node: StepNode,
  component: Executable,
  place: Place,
  scope: Scope,
  round: Round,
  key: string,
): Promise<ChildOutcome> {
  const { context } = flow;
  const earlier = context.recorded(key);
  if (earlier?.status === 'running' && component.kind !== 'workflow' && wasAnswered(flow, key)) {
    tell(flow, place, `executor-continued:${context.continuedIn}`, {
      event: 'StepExecutorContinued',
      ...stepFields(node, place),
      ...executorFields(flow, component, key),
    });
  }
  const fields = stepFields(node, place);
  const request = {
    key,
    kind: 'step' as const,
    parentKey: nodeKey(place.path),
    executable: component,
    // what it was given is in the journal once it has begun
    input: earlier === undefined ? await inputOf(flow, node, component, scope, round) : emptyInput,
    fields: component.kind === 'workflow' ? { parent_step_id: fields.step_id } : runFields(flow, fields),
    depth: component.kind === 'workflow' ? context.depth + 1 : context.depth,
  };
  if (node.timeoutMs === undefined) return runChild(context, request);
  const run = (signal: AbortSignal) => runChild(context, { ...request, signal });
  return withinTime({ ...boundOf(node, context.signal, context.timers), graceMs: tidyMs }, run);
}

/** How long a stopped run may take to report its end. */
const tidyMs = 1_000;

const emptyInput: RunInput = { content: '', media: [], options: { stream: false } };

/** What the step is given, with what there is to say beside it. */
async function inputOf(
  flow: Flow,
  { outputSchema }: StepNode,
  component: Executable,
  scope: Scope,
  round: Round,
): Promise<RunInput> {
  // whether the component takes what it is given is for its own schema to say
  flow.context.replay?.stop();
  const { sessionState: _state, version: _version, factoryInput: _input, ...options } = flow.context.options;
  const parts = [flow.historyText, textOf(scope.givenIn(flow)), ...remarks(scope, round)];
  const text = parts.filter((part) => part !== '').join('\n\n');
  const content =
    component.acceptInput === undefined
      ? text
      : await component.acceptInput(text, flow.context.callApplication);
  // a workflow has the steps that make what it makes
  const isAsked = outputSchema !== undefined && component.kind !== 'workflow';
  const shape = isAsked && { outputSchema: storableSchema(outputSchema) };
  return { content, media: scope.media, options: { ...options, ...shape } };
}

function remarks({ additionalData }: Scope, { feedback, rejected }: Round): string[] {
  const { user_input: filledIn, rejection_feedback: said } = additionalData;
  const remark = feedback ?? (typeof said === 'string' ? said : null);
  return [
    filledIn === undefined ? '' : `Input of the user:\n${JSON.stringify(filledIn, null, 2)}`,
    rejected === null ? '' : `Your last answer:\n${textOf(rejected)}`,
    remark === null || remark === '' ? '' : `Your last answer was rejected: ${remark}`,
  ];
}

/** Only a timeout stops a run while the workflow continues. */
function timeoutOf(step: StepRecord): { type: string; message: string } {
  return { type: timeoutType, message: thrownBy(step)?.message ?? '' };
}

function executorFields({ context }: Flow, component: Executable, key: string): ExecutorFields {
  const runId = readIf(context.recorded(key), childInput)?.runId;
  return {
    executor_id: component.id,
    executor_name: component.name ?? component.id,
    executor_type: component.kind,
    ...(runId !== undefined && { executor_run_id: runId }),
  };
}

/** Whether the nested run continues with an answer that came with the last request to continue the workflow. */
function wasAnswered({ context }: Flow, key: string): boolean {
  const { continuedIn } = context;
  return context
    .stepsInside(key)
    .some(({ kind, status, attempt }) => kind === 'wait' && status === 'completed' && attempt >= continuedIn);
}

/** A nested workflow itself reports what it waits for. */
function tellOfPause(flow: Flow, node: StepNode, component: Executable, place: Place, key: string): void {
  if (component.kind === 'workflow') return;
  const { context } = flow;
  const inside = childView(context.run, recordedStep(context, key), context.stepsInside(key));
  const waits = teamRequirementsOf(inside.run, inside.steps).filter(({ answer }) => answer === null);
  tell(flow, place, `executor-paused:${context.run.attempt}`, {
    event: 'StepExecutorPaused',
    ...stepFields(node, place),
    ...executorFields(flow, component, key),
    executor_requirements: waits.map(requirementBody),
  });
}
