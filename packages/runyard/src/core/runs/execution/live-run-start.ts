import type { JsonObject } from '../../json.js';
import type { SentEvents } from '../events/sent-events.js';
import type { RestingRun, RunWrite, SessionWrite } from '../journal/ports.js';
import type { Run, RunEntry, StepRecord } from '../run.js';

/** The attempt of a run that waits for a free slot. */
export const notBegun = 0;

/** For a stored run: the steps that it began with are not needed again. */
export const noSteps: readonly StepRecord[] = [];

/** What a live run is made from. */
export interface LiveRunStart {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  /** What this execution of the run is. */
  readonly entry: RunEntry;
  /** Set for a run that is not stored yet. */
  readonly session: SessionWrite | null;
  /** Whether the session has a name. */
  readonly isNamed?: boolean;
  /** Set for a job that is not stored yet: it belongs to no session. */
  readonly unstoredJob?: boolean;
  /** Set for a run that is not stored yet and must not be started twice. */
  readonly idempotency?: RunWrite['idempotency'];
  /** Set for a run that rested: the first write takes it over. */
  readonly claims?: RestingRun | undefined;
  /** How long the lease lasts that each write prolongs. */
  readonly leaseMs: number;
  readonly sessionState: JsonObject;
  /** Which events an earlier execution sent; they are not sent again. */
  readonly sentEvents: SentEvents;
  /** Fields that every event of the component carries (its id and name). */
  readonly eventFields: JsonObject;
}

export type StoredRun = Pick<LiveRunStart, 'run' | 'steps'>;

/** The session of a run that is stored already. */
export function knownSession({ sessionId, kind, componentId, userId, createdAt }: Run) {
  return { sessionId, kind, componentId, userId, existing: true, now: createdAt };
}

/** How a run is made once more in the same execution: from what was stored of it, or as it began. */
export function startAgain(
  start: LiveRunStart,
  { attempt, leaseOwner }: Run,
  /** An index that was shown is not used again. */
  nextEventIndex: number,
  stored: StoredRun | undefined,
): LiveRunStart {
  const { run, steps } = stored ?? { run: { ...start.run, attempt, leaseOwner }, steps: start.steps };
  const session = stored === undefined ? start.session : null;
  const unstoredJob = stored === undefined && start.unstoredJob === true;
  return { ...start, run: { ...run, nextEventIndex }, steps, session, unstoredJob, claims: undefined };
}
