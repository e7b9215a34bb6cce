import { createHash, timingSafeEqual } from 'node:crypto';
import { errors, RunyardError } from '../../core/errors/errors.js';
import type { Json, JsonObject } from '../../core/json.js';
import { anonymousCaller, type BoundValues, type Caller, type DataScope } from './caller.js';
import type { KeptCaller, RightsOfHolder } from './kept-caller.js';
import { schedulerUser } from './named-user.js';
import { prioritizeScope, Rights } from './rights.js';
import { type AuthMode, type AuthSettings, authMode } from './tokens/settings.js';
import type { TokenVerifier, VerifiedToken } from './tokens/verifier.js';

/** How the tokens of service accounts begin. */
export const accountTokenPrefix = 'runyard_pat_';

/** What the token of a service account proves. */
export interface AccountIdentity {
  readonly accountId: string;
  readonly principal: string;
  /** Who made the account; null when its maker had no name. */
  readonly madeBy: string | null;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
}

/** Knows the tokens of service accounts. Throws errors of the catalogue. */
export interface AccountTokens {
  verify(token: string, clientAddress: string): Promise<AccountIdentity>;
  /** An account that still has its rights; undefined for one that is unknown, revoked or expired. */
  find(accountId: string): Promise<AccountIdentity | undefined>;
}

/** Who the service itself is when it calls its own routes, and what it may do there. */
const schedulerScopes: readonly string[] = [
  ...['agents', 'teams', 'workflows'].flatMap((resource) => [`${resource}:read`, `${resource}:run`]),
  ...['read', 'write', 'delete'].map((action) => `schedules:${action}`),
  // schedules of the code start evals too
  ...['read', 'write'].map((action) => `evals:${action}`),
  prioritizeScope,
];

/** A caller that code names. Code has authenticated them: nothing is proved here. */
export interface NamedCaller {
  readonly userId: string;
  /** What they may do. Left out: everything with what is theirs. */
  readonly scopes?: readonly string[];
  /** What their token said. */
  readonly claims?: JsonObject;
}

export interface Identity {
  readonly caller: Caller;
  readonly by: 'jwt' | 'service_account' | 'security_key';
  /** From when on it is to be proved again, in milliseconds; null: not by itself. */
  readonly expiresAt: number | null;
}

export interface IdentitiesOptions {
  readonly settings: AuthSettings;
  readonly verifier: TokenVerifier;
  readonly accounts: AccountTokens;
}

/** Turns a token, or what is kept of an earlier caller, into who that is. */
export class Identities {
  readonly mode: AuthMode;

  constructor(private readonly options: IdentitiesOptions) {
    this.mode = authMode(options.settings);
  }

  /** Throws 401 for a token that proves nothing. In the open mode only service accounts have one. */
  async of(token: string, clientAddress: string): Promise<Identity> {
    const { settings, accounts, verifier } = this.options;
    if (token.startsWith(accountTokenPrefix))
      return this.#account(await accounts.verify(token, clientAddress));
    if (this.mode === 'security_key') {
      if (!isSame(token, settings.securityKey ?? '')) throw errors.securityKeyWrong();
      return { caller: rootCaller, by: 'security_key', expiresAt: null };
    }
    if (this.mode === 'none') throw errors.securityKeyWrong();
    return this.#holder(await verifier.verify(token));
  }

  /**
   * The caller that was kept, with the rights of now. `rights` is asked for those of the holder of a token: their scopes,
   * or null for one who has lost them. Throws 403 `rights_lost` when nothing is left of them.
   */
  async restored(kept: KeptCaller, rights?: RightsOfHolder): Promise<Caller> {
    const { mode } = this;
    if (kept.by === 'service') return this.#scheduler();
    if (kept.by === 'service_account') {
      const account = await this.options.accounts.find(kept.accountId);
      if (account !== undefined) return this.#account(account).caller;
      throw errors.rightsLost(`the service account ${kept.userId} was revoked, has expired or was deleted`);
    }
    if (mode === 'none')
      return kept.by === 'jwt' ? { ...anonymousCaller, userId: kept.userId } : anonymousCaller;
    if (kept.by === 'open') throw errors.rightsLost('it was made while the service had no authorization');
    if (kept.by !== mode)
      throw errors.rightsLost('the service no longer accepts the kind of token it was made with');
    if (kept.by === 'security_key') return rootCaller;
    const { userId, claims } = kept;
    const scopes = rights === undefined ? kept.scopes : await rights({ userId, claims });
    if (scopes === null)
      throw errors.rightsLost(`scheduleRights grants nothing to ${userId ?? 'its creator'}`);
    if (!isListOfTexts(scopes))
      throw new TypeError('scheduleRights returned neither a list of scopes nor null.');
    return this.#holder({ claims, subject: userId, scopes, expiresAt: null }).caller;
  }

  /** Who has the code and the databases of the service at hand: commands. */
  operator(userId: string | null): Caller {
    return { ...(this.mode === 'none' ? anonymousCaller : rootCaller), userId };
  }

  /** A caller that code names: sees their own rows alone, in every mode, unless their scopes are an admin's. */
  named({ userId, scopes, claims }: NamedCaller): Caller {
    const rights = scopes === undefined ? Rights.unlimited : this.#rights(scopes, true);
    const scope: DataScope = rights.isAdmin ? { kind: 'all' } : { kind: 'user', userId };
    const bound = claims === undefined ? {} : boundValues(claims, this.options.settings);
    return { userId, scope, rights, proven: true, claims: claims ?? null, bound };
  }

  /** A service account sees its own rows alone, in every mode. */
  #account({ accountId, principal, madeBy, scopes, expiresAt }: AccountIdentity): Identity {
    const rights = this.#rights(scopes, true);
    const scope: DataScope = rights.isAdmin ? { kind: 'all' } : { kind: 'user', userId: principal };
    return {
      caller: { userId: principal, accountId, madeBy, scope, rights, proven: true, claims: null, bound: {} },
      by: 'service_account',
      expiresAt,
    };
  }

  /** Where nobody needs a token, a payload names the user; elsewhere the service acts under its own name. */
  #scheduler(): Caller {
    if (this.mode === 'none') return anonymousCaller;
    const rights = this.#rights(schedulerScopes, true);
    const scope = this.#scopeOf(schedulerUser, rights);
    return { userId: schedulerUser, scope, rights, proven: true, claims: null, bound: {} };
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

/** The function of the application may be plain JavaScript. */
function isListOfTexts(given: unknown): boolean {
  return Array.isArray(given) && given.every((one) => typeof one === 'string');
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
