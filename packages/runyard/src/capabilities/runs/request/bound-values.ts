import { errors } from '../../../core/errors/errors.js';
import { ComponentFactory } from '../../../core/factories/component-factory.js';
import type { JsonObject } from '../../../core/json.js';
import type { RunOptions } from '../../../core/runs/run.js';
import type { BoundValues, Caller } from '../../../platform/auth/caller.js';
import { actsForAnother, fixedBy, without } from '../../../platform/auth/fixed-values.js';
import { identifier } from '../../../platform/http/request/fields.js';
import type { Component } from '../../components/service.js';
import type { RunsPlace } from '../run-lookup.js';

/**
 * What the caller's token fixes for a run of this user and component. An admin's says nothing about those whom they act
 * for.
 */
export function boundFor(
  caller: Caller,
  owner: string | null,
  component: Component | undefined,
): BoundValues {
  const bound = { ...caller.bound, ...knowledgeClaims(caller, component) };
  if (actsForAnother(caller, owner)) return {};
  if (bound.sessionId !== undefined && !isSessionId(bound.sessionId))
    throw errors.invalidToken('its session claim is not a valid session id');
  return bound;
}

/**
 * The claims that the knowledge of a component is bound to, for a caller who is isolated: no others are stored with the
 * run. Such a caller is known by them also when there are none, so that knowledge that is bound later is closed to them.
 */
function knowledgeClaims({ scope, claims }: Caller, component: Component | undefined): BoundValues {
  if (scope.kind === 'all') return {};
  // what a factory builds or a function chooses is not known yet, and the claims are stored with the run in any case
  if (component instanceof ComponentFactory || component?.readsClaims) return { claims: claims ?? {} };
  const { knowledgeBases = [] } = component ?? {};
  const names = new Set(knowledgeBases.flatMap(({ settings }) => Object.values(settings.claimFilters ?? {})));
  const bound = Object.entries(claims ?? {}).filter(([name]) => names.has(name));
  return { claims: Object.fromEntries(bound) };
}

/** What a factory receives. The owner of the run may continue it: they must not get what an admin would. */
export function claimsFor(caller: Caller, owner: string | null): JsonObject | null {
  return actsForAnother(caller, owner) ? null : caller.claims;
}

function isSessionId(text: string): boolean {
  return text !== '' && identifier().safeParse(text).success;
}

/** The options of a request, in which the values of the token take the place of its own. A new run also has a state. */
export function bindOptions(
  options: Partial<RunOptions>,
  bound: BoundValues,
  isNew: boolean,
): Partial<RunOptions> {
  const { claimNames } = bound;
  const fixed = fixedBy(bound);
  const dependencies = bound.dependencies ?? without(options.dependencies, claimNames?.dependencies ?? []);
  const state = bound.sessionState ?? without(options.sessionState, claimNames?.sessionState ?? []);
  return {
    ...options,
    ...(dependencies !== undefined && { dependencies }),
    ...(isNew && state !== undefined && { sessionState: state }),
    ...(fixed !== undefined && { fixed }),
  };
}

/** The place that a read has to keep to: of workflows, the session that the token names. */
export function boundPlace<Place extends RunsPlace>(caller: Caller, place: Place): Place {
  const { sessionId } = caller.bound;
  const isBound = place.kind === 'workflow' && !caller.rights.isAdmin && sessionId !== undefined;
  return isBound ? { ...place, sessionId } : place;
}
