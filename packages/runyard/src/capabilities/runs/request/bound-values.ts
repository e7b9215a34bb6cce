import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { ResumeRequest } from '../../../core/runs/resume/resume-run.js';
import type { RunKind } from '../../../core/runs/run.js';
import type { BoundValues, Caller } from '../../../platform/auth/caller.js';
import { actsForAnother, fixedBy, without } from '../../../platform/auth/fixed-values.js';
import { identifier } from '../../../platform/http/request/fields.js';
import type { CreateForm } from '../schema.js';

/** What the caller's token fixes for a run of this user. An admin's says nothing about those whom they act for. */
export function boundFor(caller: Caller, owner: string | null): BoundValues {
  const { bound } = caller;
  if (actsForAnother(caller, owner)) return {};
  if (bound.sessionId !== undefined && !isSessionId(bound.sessionId))
    throw errors.invalidToken('its session claim is not a valid session id');
  return bound;
}

/** What a factory is told. Whoever the run belongs to may let it go on: they must not get what an admin would. */
export function claimsFor(caller: Caller, owner: string | null): JsonObject | null {
  return actsForAnother(caller, owner) ? null : caller.claims;
}

function isSessionId(text: string): boolean {
  return text !== '' && identifier().safeParse(text).success;
}

/** The form of a new run. What the token says takes the place of what the form says: nothing of that is left. */
export function boundForm<Form extends CreateForm>(form: Form, bound: BoundValues): Form {
  const { sessionId, claimNames } = bound;
  const sessionState = bound.sessionState ?? without(form.session_state, claimNames?.sessionState ?? []);
  const dependencies = bound.dependencies ?? without(form.dependencies, claimNames?.dependencies ?? []);
  return {
    ...form,
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(sessionState !== undefined && { session_state: sessionState }),
    ...(dependencies !== undefined && { dependencies }),
  };
}

/** A run that continues keeps to the token it continues with. */
export function boundRequest(request: ResumeRequest, bound: BoundValues): ResumeRequest {
  const given = without(request.options.dependencies, bound.claimNames?.dependencies ?? []);
  const dependencies = bound.dependencies ?? given;
  const fixed = fixedBy(bound);
  const options = {
    ...request.options,
    ...(dependencies !== undefined && { dependencies }),
    ...(fixed !== undefined && { fixed }),
  };
  return { ...request, options: options as ResumeRequest['options'] };
}

/** The session that a read has to keep to: of workflows, the one that the token names. */
export function boundSession(caller: Caller, kind: RunKind, named: string | undefined): string | undefined {
  return (kind === 'workflow' && !caller.rights.isAdmin ? caller.bound.sessionId : undefined) ?? named;
}
