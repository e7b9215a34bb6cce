import { errors } from '../../core/errors/errors.js';
import type { Caller } from './caller.js';

/** How the users are called that stand for service accounts: no person can have such a name. */
export const accountPrefix = 'sa:';
const reservedPrefixes = [accountPrefix, '__oauth__:'];
/** The user that the service itself is, when it calls its own routes for schedules of the code. */
export const schedulerUser = '__scheduler__';
const reservedNames = new Set([schedulerUser]);

/** Whether a user is one of the service's own making, whom no caller can claim to be. */
export function isReservedUser(userId: string): boolean {
  return reservedNames.has(userId) || reservedPrefixes.some((prefix) => userId.startsWith(prefix));
}

/** Whether the caller is a service account. */
export function isServiceAccount({ userId }: Pick<Caller, 'userId'>): boolean {
  return userId?.startsWith(accountPrefix) ?? false;
}

/**
 * Whom a request acts for. A token's subject wins over what the request says, unless it is an admin's; a caller without
 * a name may take any but the reserved ones; one who sees only data without an owner has none.
 */
export function userFor(caller: Caller, named: string | undefined): string | null {
  refuseReserved(caller, named);
  return namedBy(caller, named) ?? caller.userId;
}

/** Refuses a name that only its holder may use. */
export function refuseReserved(caller: Caller, named: string | undefined): void {
  if (named !== undefined && isReservedUser(named) && named !== caller.userId)
    throw errors.reservedUser(named);
}

/** The user that a request names, where that counts: not if the caller can be but one. */
export function namedBy({ scope, userId, rights }: Caller, named: string | undefined): string | undefined {
  return scope.kind === 'all' && (userId === null || rights.isAdmin) ? named : undefined;
}
