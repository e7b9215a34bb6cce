import type { JsonObject } from '../../core/json.js';
import type { BoundValues, Caller, DataScope } from '../../platform/auth/caller.js';
import { Rights } from '../../platform/auth/rights.js';

/**
 * Who started an eval, as it is stored with it: the runs of the eval belong to them and see what they may see, in
 * whichever process. It holds what the token said and never the token.
 */
export interface StoredCaller {
  readonly userId: string | null;
  readonly madeBy?: string | null;
  readonly scope: DataScope;
  readonly proven: boolean;
  readonly claims: JsonObject | null;
  readonly bound: BoundValues;
}

export function storedCaller({ userId, madeBy, scope, proven, claims, bound }: Caller): StoredCaller {
  return { userId, ...(madeBy !== undefined && { madeBy }), scope, proven, claims, bound };
}

/** Whether they may start the runs was decided when the eval was started: the rights open nothing further. */
export function callerFrom(stored: StoredCaller): Caller {
  return { ...stored, rights: Rights.none };
}
