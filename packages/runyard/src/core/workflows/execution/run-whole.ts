import { customEvent } from '../../events/custom-event.js';
import type { Json } from '../../json.js';
import type { RunContext } from '../../runs/context.js';
import { RunFailed } from '../../runs/executable.js';
import { Reports } from '../../runs/execution/reports.js';
import type { StepIdentity } from '../../runs/journal/journal-match.js';
import { anyRecord } from '../../runs/journal/records.js';
import type { StepContext, WorkflowContext, WorkflowFunction } from '../definition/functions.js';
import { FunctionCalls, functionAtRest } from '../functions/function-calls.js';
import type { FunctionSite } from '../functions/function-site.js';
import { type Flow, placeAtTop, type Scope, stepInput } from './flow.js';
import { recordOf } from './run-function.js';

/** The step of a workflow that is one function. */
export const wholeKey = 'function';

/** What the function runs is matched run by run; the function itself is the workflow, whatever that is called. */
const wholeIdentity: StepIdentity = { is: 'a function', was: () => 'a function' };

/** A whole workflow that is a function: what it runs inside is not run again when the function is. */
export async function runWhole(flow: Flow, work: WorkflowFunction, scope: Scope): Promise<Json> {
  const { context } = flow;
  const spec = {
    kind: 'step',
    name: flow.workflow.name,
    record: anyRecord,
    identity: wholeIdentity,
  } as const;
  if (context.recorded(wholeKey)?.status !== 'completed')
    context.replay?.leaveOut('what the function of the workflow runs');
  const resting = functionAtRest(flow, wholeKey);
  if (resting !== undefined) throw resting;
  return context.step(wholeKey, spec, async (site) => {
    const state = context.state.fork();
    const reports = new Reports(context);
    const calls = new FunctionCalls(siteOf(flow, scope), {
      tries: 0,
      signal: site.signal,
      isBounded: false,
    });
    const { run, suspend, sleep, waitForEvent } = calls;
    const whole: WorkflowContext = Object.assign(stepInput(flow, placeAtTop(flow, 0), scope, state), {
      rejectionFeedback: null,
      rejectedContent: null,
      signal: site.signal,
      idempotencyKey: site.idempotencyKey,
      log: context.log,
      emit: senderOf(context, reports),
      fields: context.options.extra ?? {},
      run,
      suspend,
      sleep,
      waitForEvent,
    });
    const called = Promise.resolve(whole).then((given) =>
      context.callApplication(flow.workflow.name, () => work(given)),
    );
    const [returned] = await Promise.allSettled([called]);
    await calls.settled().finally(() => reports.end());
    if (returned.status === 'rejected') throw returned.reason;
    const made = recordOf(returned.value);
    calls.assertAllAskedFor();
    if (!made.success) {
      const message =
        made.error ?? `The function of workflow '${flow.workflow.id}' says that it did not succeed.`;
      throw new RunFailed({ type: 'workflow_failed', message });
    }
    state.merge();
    return made.content ?? '';
  });
}

function siteOf(flow: Flow, scope: Scope): FunctionSite {
  const { workflow, context } = flow;
  return {
    flow,
    place: placeAtTop(flow, 0),
    scope,
    name: workflow.name,
    parentKey: wholeKey,
    runPrefix: `${wholeKey}:run:`,
    waitPrefix: '',
    runFields: (name) => ({
      workflow_id: workflow.id,
      workflow_run_id: context.run.runId,
      step_name: name,
    }),
  };
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
