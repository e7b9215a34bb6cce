import { endingFields } from '../agents/answer/ending.js';
import type { RunEvent } from '../events/run-event.js';
import type { RunContext } from '../runs/context.js';
import type { RunEnd } from '../runs/executable.js';
import type { Run, RunResult } from '../runs/run.js';
import { wasRejected } from './execution/execute-workflow.js';
import { executorRunBody, executorRunsOf, stepResultsOf } from './fold/workflow-fold.js';
import { pauseFields, workflowRequirementsOf } from './review/workflow-requirements.js';

/** What is known of a run that ends. */
type EndedContext = Pick<RunContext, 'run' | 'allSteps'>;

/** The last events of a workflow's run. `isChat`: an agent stands in front of the workflow. */
export function endEvents(end: RunEnd, context: EndedContext, isChat: boolean): readonly RunEvent[] {
  const { result } = end;
  // the events show the run as it is about to be stored
  const run: Run = { ...context.run, status: end.status, result };
  switch (end.status) {
    case 'completed':
      return completedEvents(run, context, result, isChat);
    case 'cancelled': {
      const cancelled: RunEvent = {
        event: 'WorkflowCancelled',
        reason: end.reason,
        content: result.content || end.reason,
      };
      return wasRejected(context) ? [cancelled] : [cancelled, workflowCompleted(run, context, result)];
    }
    case 'paused':
      return [workflowPaused(run, context, result)];
    case 'error':
      return [
        {
          event: 'WorkflowError',
          error: end.failure.message,
          error_type: end.failure.type,
          error_id: end.failure.id,
          additional_data: end.failure.additionalData,
        },
      ];
  }
}

function completedEvents(
  run: Run,
  context: EndedContext,
  result: RunResult,
  isChat: boolean,
): readonly RunEvent[] {
  const completed = workflowCompleted(run, context, result);
  if (!isChat) return [completed];
  const agentCompleted: RunEvent = { event: 'WorkflowAgentCompleted', content: result.content };
  return result.metadata?.agent_direct_response === true
    ? [agentCompleted, completed]
    : [completed, agentCompleted];
}

function workflowCompleted(run: Run, context: EndedContext, result: RunResult): RunEvent {
  const { results, runs } = done(run, context);
  return {
    event: 'WorkflowCompleted',
    content: result.content,
    content_type: result.contentType,
    ...endingFields(result),
    step_results: results,
    step_executor_runs: runs.length > 0 ? runs : undefined,
    metadata: result.metadata,
    metrics: result.metrics,
  };
}

/** The whole state of the run: any reader can answer with this alone. */
function workflowPaused(run: Run, context: EndedContext, result: RunResult): RunEvent {
  const { results, runs } = done(run, context);
  return {
    event: 'WorkflowPaused',
    status: 'paused',
    ...pauseFields(workflowRequirementsOf(run, context.allSteps())),
    step_results: results,
    step_executor_runs: runs,
    content: result.content === '' ? undefined : result.content,
    metadata: result.metadata,
  };
}

function done(run: Run, context: EndedContext) {
  const steps = context.allSteps();
  return {
    results: stepResultsOf(run, steps),
    runs: executorRunsOf(run, steps).map((inside) => executorRunBody(inside, run)),
  };
}
