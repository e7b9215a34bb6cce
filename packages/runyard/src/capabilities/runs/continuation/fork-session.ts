import { errors } from '../../../core/errors/errors.js';
import { newId } from '../../../core/ids.js';
import type { Caller } from '../../../platform/auth/caller.js';
import { namedBy } from '../../../platform/auth/named-user.js';
import type { RunLookup, RunsPlace } from '../run-lookup.js';

export interface SessionPlace extends RunsPlace {
  readonly sessionId: string;
  /** When given, the session has to belong to this user, or have no owner. */
  readonly userId?: string | undefined;
  /** When given, only the runs that began before this one are copied. */
  readonly beforeRunId?: string | undefined;
}

/** Copies a session with its finished runs, and answers with the id of the copy. */
export async function forkSession(lookup: RunLookup, caller: Caller, place: SessionPlace): Promise<string> {
  const space = await lookup.spaceWith(caller.scope, place, caller);
  const session = await space.sessions.find(caller.scope, place.sessionId);
  const belongs = session?.kind === place.kind && session.componentId === place.componentId;
  if (!belongs || !mayMean(caller, place.userId, session.userId)) throw errors.nothingToFork();
  const newSessionId = newId();
  const runs = await space.runs.copySession({
    sourceSessionId: session.sessionId,
    newSessionId,
    beforeRunId: place.beforeRunId,
    now: Date.now(),
    newRunId: newId,
  });
  if (runs === 0) throw errors.nothingToFork();
  return newSessionId;
}

/** Whether a caller who may name a user can have meant a thing that belongs to this owner. */
export function mayMean(caller: Caller, named: string | undefined, owner: string | null): boolean {
  const meant = namedBy(caller, named);
  return meant === undefined || owner === null || meant === owner;
}
