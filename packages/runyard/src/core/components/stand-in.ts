import { endEvents as agentEndEvents } from '../agents/agent-events.js';
import { metricsOf as agentMetrics } from '../agents/metrics.js';
import type { RunEvent } from '../events/run-event.js';
import type { JsonObject } from '../json.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { Run } from '../runs/run.js';
import { teamEndEvents } from '../teams/team-events.js';
import { endEvents as workflowEndEvents } from '../workflows/end-events.js';
import { metricsOf as workflowMetrics } from '../workflows/fold/metrics.js';

/**
 * Stands in for a component that this process does not have: it cannot execute a run, but it can end one. The last
 * events of a run follow from its kind and its journal.
 */
export function standIn(run: Run): Executable {
  const { kind, componentId: id, componentName: name } = run;
  return {
    kind,
    id,
    name,
    model: null,
    initialState: {},
    eventFields: eventFieldsOf(run),
    execute: () => Promise.reject(new Error(`The ${kind} '${id}' is not registered in this process.`)),
    inside: standIn,
    metrics: (context) => metricsOf(run, context),
    endEvents: (end, context) => endEventsOf(run, end, context),
  };
}

function eventFieldsOf({ kind, componentId, componentName }: Run): JsonObject {
  return { [`${kind}_id`]: componentId, [`${kind}_name`]: componentName };
}

function metricsOf({ kind }: Run, context: RunContext): JsonObject {
  return kind === 'workflow'
    ? workflowMetrics(context.run, context.steps(), context.timers.now())
    : agentMetrics(null, context);
}

function endEventsOf({ kind }: Run, end: RunEnd, context: RunContext): readonly RunEvent[] {
  if (kind === 'workflow') return workflowEndEvents(end, context, false);
  return kind === 'team' ? teamEndEvents(end, context) : agentEndEvents(end, context.steps());
}
