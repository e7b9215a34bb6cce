import type { Caller } from '../../../src/platform/auth/caller.js';
import { Rights } from '../../../src/platform/auth/rights.js';

const adminScope = 'agent_os:admin';

/** A caller whom a token names and who sees only their own; held to scopes when some are given. */
export function person(userId: string, scopes?: readonly string[]): Caller {
  return {
    userId,
    scope: { kind: 'user', userId },
    rights: scopes === undefined ? Rights.unlimited : new Rights(scopes, { adminScope, enforced: true }),
    proven: true,
    claims: { sub: userId },
    bound: {},
  };
}

/** A caller who sees everything, and may act for others. */
export function administrator(userId: string | null = 'root'): Caller {
  const rights = new Rights([adminScope], { adminScope, enforced: true });
  return { userId, scope: { kind: 'all' }, rights, proven: true, claims: {}, bound: {} };
}

/** The holder of a token without a subject, where people are kept apart. */
export const nobody: Caller = {
  userId: null,
  scope: { kind: 'unowned' },
  rights: Rights.unlimited,
  proven: true,
  claims: {},
  bound: {},
};
