import type { Caller } from './caller.js';
import { accountPrefix, isServiceAccount } from './named-user.js';

/** Stands for all who have no name: holders of the security key who make accounts, and of tokens without a subject. */
const nameless = accountPrefix;
/** One list for all runs of an open service. */
const nobody: readonly string[] = [];

/**
 * The names that a caller acts under: their own, and of a service account that of the person who made it. Two callers
 * with a name in common are taken for one person.
 */
export function personsBehind(caller: Pick<Caller, 'userId' | 'madeBy' | 'claims'>): readonly string[] {
  const { userId, madeBy = null, claims } = caller;
  // a token without a subject has a holder, who may have accounts; the security key and an open service know no people
  if (userId === null) return claims === null ? nobody : [nameless];
  if (!isServiceAccount(caller)) return [userId];
  // an account that an account made leads to that one, if no person is known
  const isNameless = madeBy === null || isServiceAccount({ userId: madeBy });
  return [userId, ...(madeBy === null ? [] : [madeBy]), ...(isNameless ? [nameless] : [])];
}
