import type { EventName, RunEvent } from '../../events/run-event.js';
import type { JsonObject } from '../../json.js';
import { isJob, type Run } from '../run.js';
import type { EventHead } from './logged-event.js';

/** Whose event it is: that of the run itself, or of a run within it. */
export interface EventOrigin {
  readonly runId: string;
  /** Fields that each of its events carries (the component's id and name, and what it is a part of). */
  readonly fields: JsonObject;
  /** What the names of its events begin with (`Team`); those of the application's own events stay as they are. */
  readonly prefix?: string;
  /** How many runs are around it. */
  readonly depth: number;
  /** Set for the events of a job, which say which job it is and of no session. */
  readonly isJob?: boolean;
}

/** What the names of a team's events begin with. */
export const teamPrefix = 'Team';

export function outermostOrigin({ runId, kind }: Run, fields: JsonObject): EventOrigin {
  if (isJob({ kind })) return { runId, fields, depth: 0, isJob: true };
  return { runId, fields, ...(kind === 'team' && { prefix: teamPrefix }), depth: 0 };
}

/** What an event says about itself: its name on the wire, its time (`at`, milliseconds), and its origin. */
export function eventHead(event: RunEvent, origin: EventOrigin, sessionId: string, at: number): EventHead {
  const { runId, fields, depth, isJob: ofJob } = origin;
  const name = nameOnWire(event, origin);
  const created_at = Math.floor(at / 1000);
  if (ofJob) return { created_at, event: name, job_id: runId, ...fields };
  return {
    created_at,
    event: name,
    ...fields,
    run_id: runId,
    session_id: sessionId,
    nested_depth: depth,
  };
}

export function nameOnWire({ event }: RunEvent, { prefix = '' }: EventOrigin): EventName {
  // the tables of events have each name with each prefix
  return (event === 'CustomEvent' ? event : prefix + event) as EventName;
}
