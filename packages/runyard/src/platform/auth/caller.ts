import type { JsonObject } from '../../core/json.js';
import { Rights } from './rights.js';

/**
 * Which rows a request may see. Every store method that answers a caller takes one, so that a query that
 * forgets it does not type-check.
 */
export type DataScope =
  | { readonly kind: 'all' }
  /** Only rows that belong to this user. */
  | { readonly kind: 'user'; readonly userId: string }
  /** Only rows without an owner: of a caller without a proven identity where people are kept apart. */
  | { readonly kind: 'unowned' };

/** What a token fixes for the runs of its holder, whatever the request says. */
export interface BoundValues {
  readonly sessionId?: string;
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
  /** Of a caller who is isolated: the claims that searches of knowledge are bound to. */
  readonly claims?: JsonObject;
  /** What only a token can say: a form that names it, where the token does not, says nothing. */
  readonly claimNames?: {
    readonly sessionState: readonly string[];
    readonly dependencies: readonly string[];
  };
}

/** Who makes a request. Resolved once, before any agent code, and handed on as a value. */
export interface Caller {
  /** The identity that a token proved; null for an anonymous caller. */
  readonly userId: string | null;
  /** Of a service account. Its name may be that of another one later. */
  readonly accountId?: string;
  /** Of a service account: the person who made it, and answers for it. */
  readonly madeBy?: string | null;
  readonly scope: DataScope;
  /** What the caller may do. That a route may be called at all was checked before; lists and gates ask further. */
  readonly rights: Rights;
  /** Whether a credential was shown and found good. */
  readonly proven: boolean;
  /** What the token says, for the application's own code; null where there was none. */
  readonly claims: JsonObject | null;
  readonly bound: BoundValues;
  /** Of a caller in whose name a schedule calls: the schedule, and the record of the attempt. */
  readonly schedule?: { readonly scheduleId: string; readonly scheduleRunId: string };
}

/** The caller of a service without authorization: may name any user. */
export const anonymousCaller: Caller = {
  userId: null,
  scope: { kind: 'all' },
  rights: Rights.unlimited,
  proven: false,
  claims: null,
  bound: {},
};

/** The scope of a request that may name a user. A caller who sees only their own stays within that. */
export function scopeNaming({ scope }: Pick<Caller, 'scope'>, userId: string | undefined): DataScope {
  return scope.kind !== 'all' || userId === undefined ? scope : { kind: 'user', userId };
}

/** Whether a row that belongs to this user, or has no owner, lies within the scope. */
export function isWithin(scope: DataScope, userId: string | null): boolean {
  if (scope.kind === 'all') return true;
  return scope.kind === 'unowned' ? userId === null : userId === scope.userId;
}
