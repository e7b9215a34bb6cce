import { handled } from '../../errors/handled.js';
import { customEvent } from '../../events/custom-event.js';
import type { Json } from '../../json.js';
import { type RunContext, RunPaused } from '../../runs/context.js';
import { type Executable, RunFailed } from '../../runs/executable.js';
import { childrenOf, runChild } from '../../runs/execution/child-run.js';
import { Reports } from '../../runs/execution/reports.js';
import type { StepIdentity } from '../../runs/journal/journal-match.js';
import { anyRecord } from '../../runs/journal/records.js';
import type { StepContext, WorkflowContext, WorkflowFunction } from '../definition/functions.js';
import { type Flow, placeAtTop, type Scope, stepInput } from './flow.js';
import { recordOf } from './run-function.js';

/** The step of a workflow that is one function. */
export const wholeKey = 'function';

/** What the function runs is matched run by run; the function itself is the workflow, whatever that is called. */
const wholeIdentity: StepIdentity = { is: 'a function', was: () => 'a function' };

/** A whole workflow that is a function: what it runs inside is not run again when the function is. */
export async function runWhole(
  flow: Flow,
  work: WorkflowFunction,
  scope: Scope,
  register: (component: Executable) => void,
): Promise<Json> {
  const { context } = flow;
  const spec = {
    kind: 'step',
    name: flow.workflow.name,
    record: anyRecord,
    identity: wholeIdentity,
  } as const;
  if (context.recorded(wholeKey)?.status !== 'completed')
    context.replay?.leaveOut('what the function of the workflow runs');
  return context.step(wholeKey, spec, async (site) => {
    const state = context.state.fork();
    const reports = new Reports(context);
    let over = false;
    const input = stepInput(flow, placeAtTop(flow, 0), scope, state);
    const step: StepContext = Object.assign(input, {
      rejectionFeedback: null,
      signal: site.signal,
      idempotencyKey: site.idempotencyKey,
      log: context.log,
      emit: senderOf(context, reports),
    });
    const { extra = {} } = context.options;
    const begun: Promise<Json>[] = [];
    const names = new Set<string>();
    const runOne = runnerOf(flow, scope, register, names);
    const run: WorkflowContext['run'] = (component, message, name) => {
      // what begins after the end of the function would not be waited for
      if (over)
        return handled(
          Promise.reject(new Error(`The function of workflow '${flow.workflow.id}' has ended.`)),
        );
      const running = handled(runOne(component, message, name));
      begun.push(running);
      return running;
    };
    const called: WorkflowFunction = (whole) =>
      context.callApplication(flow.workflow.name, () => work(whole));
    const made = await settled(called, Object.assign(step, { fields: extra, run }), begun).finally(() => {
      over = true;
      reports.end();
    });
    assertAllAskedFor(flow, names);
    if (!made.success) {
      const message =
        made.error ?? `The function of workflow '${flow.workflow.id}' says that it did not succeed.`;
      throw new RunFailed({ type: 'workflow_failed', message });
    }
    state.merge();
    return made.content ?? '';
  });
}

/**
 * Waits for the end of all that the function runs, also what it does not wait for itself. What waits for a person
 * pauses the run, whatever the function makes of the error that it saw.
 */
async function settled(work: WorkflowFunction, whole: WorkflowContext, begun: readonly Promise<Json>[]) {
  const [result] = await Promise.allSettled([Promise.resolve(whole).then(work)]);
  const runs = await Promise.allSettled(begun);
  const waits = runs.flatMap((run) =>
    run.status === 'rejected' && run.reason instanceof RunPaused ? [...run.reason.requirements] : [],
  );
  if (waits.length > 0) throw new RunPaused(waits);
  if (result.status === 'rejected') throw result.reason;
  return recordOf(result.value);
}

/** A name may have characters that mean something in a key. */
function keyOf(name: string): string {
  return `${wholeKey}:run:${encodeURIComponent(name)}`;
}

/** An answer to a run that the function no longer has would go unheard. */
function assertAllAskedFor({ context }: Flow, names: ReadonlySet<string>): void {
  const keys = new Set(Array.from(names, keyOf));
  const forgotten = childrenOf(context.run, context.allSteps()).find(
    ({ step, steps }) =>
      step.parentKey === wholeKey &&
      step.status === 'running' &&
      !keys.has(step.key) &&
      steps.some(({ kind }) => kind === 'wait'),
  );
  if (forgotten === undefined) return;
  const { kind, componentId } = forgotten.run;
  throw context.definitionChanged({ key: forgotten.step.key, was: `${kind} '${componentId}'`, is: null });
}

function senderOf(context: RunContext, reports: Reports): StepContext['emit'] {
  let sent = 0;
  return (event) => {
    sent += 1;
    return reports.send(
      () => customEvent('workflow', event, {}),
      `on:${wholeKey}:custom:${context.run.attempt}:${sent}`,
    );
  };
}

function runnerOf(
  flow: Flow,
  scope: Scope,
  register: (component: Executable) => void,
  names: Set<string>,
): WorkflowContext['run'] {
  const { context, workflow } = flow;
  return async (component, message, name = component.name ?? component.id) => {
    if (names.has(name))
      throw new RunFailed({
        type: 'workflow_failed',
        message: `The function of workflow '${workflow.id}' runs '${name}' twice. Give each run its own name.`,
      });
    names.add(name);
    register(component);
    const isWorkflow = component.kind === 'workflow';
    const { sessionState: _state, version: _version, factoryInput: _input, ...options } = context.options;
    const content =
      component.acceptInput === undefined
        ? message
        : await component.acceptInput(message, context.callApplication);
    const { status, result } = await runChild(context, {
      key: keyOf(name),
      kind: 'step',
      parentKey: wholeKey,
      executable: component,
      input: { content, media: scope.media, options },
      fields: isWorkflow
        ? {}
        : { workflow_id: workflow.id, workflow_run_id: context.run.runId, step_name: name },
      depth: isWorkflow ? context.depth + 1 : context.depth,
    });
    if (status === 'completed') return result.content;
    const { type = 'Error', message: failure = 'It failed' } = result.error ?? {};
    throw new RunFailed({ type, message: `'${name}' failed: ${failure}` });
  };
}
