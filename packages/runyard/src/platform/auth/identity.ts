import { createHash, timingSafeEqual } from 'node:crypto';
import { errors, RunyardError } from '../../core/errors/errors.js';
import type { Json, JsonObject } from '../../core/json.js';
import type { BoundValues, Caller, DataScope } from './caller.js';
import { Rights } from './rights.js';
import { type AuthMode, type AuthSettings, authMode } from './tokens/settings.js';
import type { TokenVerifier, VerifiedToken } from './tokens/verifier.js';

/** How the tokens of service accounts begin. */
export const accountTokenPrefix = 'runyard_pat_';

/** What the token of a service account proves. */
export interface AccountIdentity {
  readonly principal: string;
  /** Who made the account; null when its maker had no name. */
  readonly madeBy: string | null;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
}

/** Knows the tokens of service accounts. Throws errors of the catalogue. */
export interface AccountTokens {
  verify(token: string, clientAddress: string): Promise<AccountIdentity>;
}

/** Who the service itself is when it calls its own routes, and what it may do there. */
const internalPrincipal = '__scheduler__';
const internalScopes: readonly string[] = [
  ...['agents', 'teams', 'workflows'].flatMap((resource) => [`${resource}:read`, `${resource}:run`]),
  ...['read', 'write', 'delete'].map((action) => `schedules:${action}`),
];

export interface Identity {
  readonly caller: Caller;
  readonly by: 'jwt' | 'service_account' | 'security_key' | 'internal_token';
  /** From when on it is to be proved again, in milliseconds; null: not by itself. */
  readonly expiresAt: number | null;
}

export interface IdentitiesOptions {
  readonly settings: AuthSettings;
  readonly verifier: TokenVerifier;
  readonly accounts: AccountTokens;
  /** The service's own token for its own calls. */
  readonly internalToken: string;
}

/** Turns a token into who it proves its holder to be. */
export class Identities {
  readonly mode: AuthMode;

  constructor(private readonly options: IdentitiesOptions) {
    this.mode = authMode(options.settings);
  }

  /** Throws 401 for a token that proves nothing. In the open mode only service accounts and the service itself have one. */
  async of(token: string, clientAddress: string): Promise<Identity> {
    const { settings, accounts, internalToken, verifier } = this.options;
    if (token.startsWith(accountTokenPrefix))
      return this.#account(await accounts.verify(token, clientAddress));
    if (isSame(token, internalToken)) return this.#internal();
    if (this.mode === 'security_key') {
      if (!isSame(token, settings.securityKey ?? '')) throw errors.securityKeyWrong();
      return { caller: rootCaller, by: 'security_key', expiresAt: null };
    }
    if (this.mode === 'none') throw errors.securityKeyWrong();
    return this.#holder(await verifier.verify(token));
  }

  /** A service account sees its own rows alone, in every mode. */
  #account({ principal, madeBy, scopes, expiresAt }: AccountIdentity): Identity {
    const rights = this.#rights(scopes, true);
    const scope: DataScope = rights.isAdmin ? { kind: 'all' } : { kind: 'user', userId: principal };
    return {
      caller: { userId: principal, madeBy, scope, rights, proven: true, claims: null, bound: {} },
      by: 'service_account',
      expiresAt,
    };
  }

  #internal(): Identity {
    const rights = this.#rights(internalScopes, true);
    const scope = this.#scopeOf(internalPrincipal, rights);
    return {
      caller: { userId: internalPrincipal, scope, rights, proven: true, claims: null, bound: {} },
      by: 'internal_token',
      expiresAt: null,
    };
  }

  #holder({ claims, subject, scopes, expiresAt }: VerifiedToken): Identity {
    const rights = this.#rights(scopes, this.options.settings.authorization);
    const scope = this.#scopeOf(subject, rights);
    const bound = boundValues(claims, this.options.settings);
    return {
      caller: { userId: subject, scope, rights, proven: true, claims, bound },
      by: 'jwt',
      expiresAt,
    };
  }

  #rights(scopes: readonly string[], enforced: boolean): Rights {
    return new Rights(scopes, { adminScope: this.options.settings.adminScope, enforced });
  }

  #scopeOf(userId: string | null, rights: Rights): DataScope {
    if (!this.options.settings.userIsolation || rights.isAdmin) return { kind: 'all' };
    return userId === null ? { kind: 'unowned' } : { kind: 'user', userId };
  }
}

/** The holder of the one key of a service that knows no users. */
const rootCaller: Caller = {
  userId: null,
  scope: { kind: 'all' },
  rights: Rights.unlimited,
  proven: true,
  claims: null,
  bound: {},
};

/** Whether an error only says that a token is not good. */
export function isRefusedToken(error: unknown): error is RunyardError {
  return error instanceof RunyardError && (error.status === 401 || error.status === 429);
}

/** How long it takes reveals neither how much of it is right nor how long the right one is. */
function isSame(given: string, expected: string): boolean {
  return expected !== '' && timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function boundValues(claims: JsonObject, settings: AuthSettings): BoundValues {
  const { sessionIdClaim, sessionStateClaims, dependenciesClaims } = settings;
  const session = ownClaim(claims, sessionIdClaim) ?? null;
  const sessionState = chosenClaims(claims, sessionStateClaims);
  const dependencies = chosenClaims(claims, dependenciesClaims);
  return {
    ...(session !== null && { sessionId: sessionIdIn(session) }),
    claimNames: { sessionState: sessionStateClaims, dependencies: dependenciesClaims },
    ...(sessionState !== undefined && { sessionState }),
    ...(dependencies !== undefined && { dependencies }),
  };
}

/** What cannot name a session does not leave the choice to the caller: it becomes an id that no session has. */
function sessionIdIn(claim: Json): string {
  return typeof claim === 'string' || typeof claim === 'number' ? String(claim) : '';
}

function chosenClaims(claims: JsonObject, names: readonly string[]): JsonObject | undefined {
  const present = names.flatMap((name) => {
    const value = ownClaim(claims, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return present.length === 0 ? undefined : Object.fromEntries(present);
}

function ownClaim(claims: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
