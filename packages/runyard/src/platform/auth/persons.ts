import type { Caller } from './caller.js';
import { accountPrefix, isServiceAccount } from './named-user.js';

/** Stands for the maker of accounts without a named maker: the holder of the security key, or of a token without a subject. */
const namelessMaker = accountPrefix;

/**
 * The names that a caller acts under: their own, and of a service account that of the person who made it. Two callers
 * with a name in common are one person, as far as anybody can tell.
 */
export function personsBehind(caller: Pick<Caller, 'userId' | 'madeBy'>): readonly string[] {
  const { userId, madeBy = null } = caller;
  if (userId === null) return [];
  if (!isServiceAccount(caller)) return [userId];
  // an account that an account made leads to that one, if no person is known
  const isNameless = madeBy === null || isServiceAccount({ userId: madeBy });
  return [userId, ...(madeBy === null ? [] : [madeBy]), ...(isNameless ? [namelessMaker] : [])];
}
