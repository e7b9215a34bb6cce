import type { JsonObject } from '../../core/json.js';
import type { Caller } from './caller.js';
import { schedulerUser } from './named-user.js';

/**
 * What is kept of a caller in whose name the service calls its own routes later, when there is no token. It holds no
 * credential: `Identities.restored` decides each time what is left of their rights.
 */
export type KeptCaller =
  /** The code of the service. */
  | { readonly by: 'service' }
  /** Anyone, of a service without authorization. */
  | { readonly by: 'open' }
  | { readonly by: 'security_key' }
  | { readonly by: 'service_account'; readonly accountId: string; readonly userId: string }
  | {
      readonly by: 'jwt';
      readonly userId: string | null;
      readonly scopes: readonly string[];
      readonly claims: JsonObject;
    };

/** The scopes that the holder of a token has now; null for one who has lost them. */
export type RightsOfHolder = (holder: {
  readonly userId: string | null;
  readonly claims: JsonObject;
}) => Promise<readonly string[] | null> | readonly string[] | null;

/** What to keep of a caller. */
export function keptCaller({ proven, userId, accountId, claims, rights }: Caller): KeptCaller {
  if (!proven) return { by: 'open' };
  if (accountId !== undefined && userId !== null) return { by: 'service_account', accountId, userId };
  if (userId === schedulerUser) return { by: 'service' };
  return claims === null ? { by: 'security_key' } : { by: 'jwt', userId, scopes: rights.held, claims };
}
