import { errors } from '../../core/errors.js';
import type { RunKind } from '../../core/runs/run.js';
import type { BoundValues, Caller } from '../../platform/auth/caller.js';
import { identifier } from '../../platform/http/fields.js';
import type { ContinueRequest } from './continue-request.js';
import type { CreateForm } from './schema.js';

/** What the caller's token fixes for a run of this user. An admin's says nothing about those whom they act for. */
export function boundFor({ bound, rights, userId }: Caller, owner: string | null): BoundValues {
  if (rights.isAdmin && owner !== userId) return {};
  if (bound.sessionId !== undefined && !identifier().safeParse(bound.sessionId).success)
    throw errors.invalidToken('its session cannot be the id of a session');
  return bound;
}

/** The form of a new run. What the token says takes the place of what the form says: nothing of that is left. */
export function boundForm<Form extends CreateForm>(form: Form, bound: BoundValues): Form {
  const { sessionId, sessionState, dependencies } = bound;
  return {
    ...form,
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(sessionState !== undefined && { session_state: sessionState }),
    ...(dependencies !== undefined && { dependencies }),
  };
}

/** The state of a session is given to a new run alone; a run that goes on has it. */
export function boundRequest(request: ContinueRequest, { dependencies }: BoundValues): ContinueRequest {
  if (dependencies === undefined) return request;
  return { ...request, options: { ...request.options, dependencies } };
}

/** The session that a read has to keep to: of workflows, the one that the token names. */
export function boundSession(caller: Caller, kind: RunKind, named: string | undefined): string | undefined {
  return (kind === 'workflow' && !caller.rights.isAdmin ? caller.bound.sessionId : undefined) ?? named;
}
