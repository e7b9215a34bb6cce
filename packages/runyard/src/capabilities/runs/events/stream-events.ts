import { type EventName, pieceFields } from '../../../core/events/run-event.js';
import type { LoggedEvent } from '../../../core/runs/events/logged-event.js';
import type { Run, RunKind } from '../../../core/runs/run.js';

/** Whether a stored run leaves it out: its body has the pieces put together. Workflows keep theirs. */
export function isPiece(kind: RunKind, eventName: EventName): boolean {
  return kind !== 'workflow' && eventName.replace(/^Team/, '') in pieceFields;
}

const agentContent: ReadonlySet<EventName> = new Set(['RunContent', 'RunPaused', 'RunError']);
const teamContent: ReadonlySet<EventName> = new Set(['TeamRunContent', 'TeamRunPaused', 'TeamRunError']);
const workflowContent: ReadonlySet<EventName> = new Set([
  'WorkflowStarted',
  'RunContent',
  'TeamRunContent',
  'StepOutput',
  'WorkflowPaused',
  'WorkflowCancelled',
  'WorkflowError',
  'WorkflowCompleted',
]);

/** What `stream_events=false` leaves: content, and what a reader must not miss. */
export function contentFilter({ kind, runId }: Run): (event: LoggedEvent) => boolean {
  if (kind === 'agent') return ({ name }) => agentContent.has(name);
  if (kind === 'workflow') return ({ name }) => workflowContent.has(name);
  // a team's stream has all events of its members; quotes in texts are escaped, so this is the field itself
  const ofLeader = `"run_id":${JSON.stringify(runId)}`;
  return ({ name, data }) => teamContent.has(name) || !data.includes(ofLeader);
}
