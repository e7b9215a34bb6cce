import { randomUUID } from 'node:crypto';
import { errors, RunyardError } from '../../core/errors/errors.js';
import { RecentMap } from '../../platform/auth/recent-map.js';
import type { SharedParts } from '../../platform/net/shared-parts.js';
import { accessTokenType, type OauthKeys } from './keys.js';
import type { OauthPlace, VerifiedAccess } from './schema.js';
import type { NewGrant, OauthStore } from './store.js';

export const accessTokenSeconds = 3600;

const cachedGrants = 10_000;

export interface AccessTokenOptions {
  readonly keys: OauthKeys;
  readonly store: OauthStore;
  /** For how long a process trusts a grant after it has looked it up. */
  readonly cacheMs: number;
  /** What processes have in common; left out: nothing. */
  readonly shared?: SharedParts | undefined;
}

/** Makes and verifies the access tokens of clients. A token is as good as its grant: it ends with it. */
export class AccessTokens {
  /** By the id of the grant. */
  readonly #live = new RecentMap<{ readonly grant: NewGrant; readonly readAt: number }>(cachedGrants);
  readonly #key: Uint8Array;
  readonly #sayRevoked: ((grantId: string) => void) | undefined;
  #revocations = 0;

  constructor(private readonly options: AccessTokenOptions) {
    this.#key = options.keys.key('access token');
    this.#sayRevoked = options.shared?.channel('revoked-grants', (grantId) => this.#forgetHere(grantId));
  }

  async make(grant: NewGrant, scopes: readonly string[], { issuer, resource }: OauthPlace): Promise<string> {
    const { SignJWT } = await import('jose');
    const claims = { client_id: grant.clientId, scope: scopes.join(' '), grant_id: grant.grantId };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: accessTokenType, kid: this.options.keys.keyId })
      .setIssuer(issuer)
      .setAudience(resource)
      .setSubject(principalOf(grant.clientId))
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime(`${accessTokenSeconds}s`)
      .sign(this.#key);
  }

  /** Throws 401 for a token that is not good, for this place or any longer. */
  async verify(token: string, place: OauthPlace): Promise<VerifiedAccess> {
    const { grantId, clientId, scopes } = await this.#read(token, place, true);
    const grant = await this.#findLive(grantId);
    if (grant === undefined || grant.clientId !== clientId || grant.resource !== place.resource)
      throw errors.invalidToken('it was revoked');
    const granted = scopes.filter((scope) => grant.scopes.includes(scope));
    return { userId: principalOf(clientId), scopes: granted };
  }

  /** The grant that a token of ours is from, whether or not it has expired; undefined for any other text. */
  async grantIdOf(token: string, place: OauthPlace): Promise<string | undefined> {
    if (!this.options.keys.isOurs(token)) return undefined;
    try {
      return (await this.#read(token, place, false)).grantId;
    } catch {
      return undefined;
    }
  }

  /** For a grant that was revoked: this process trusts it no longer, and others that it can reach neither. */
  forget(grantId: string): void {
    this.#forgetHere(grantId);
    this.#sayRevoked?.(grantId);
  }

  #forgetHere(grantId: string): void {
    this.#revocations += 1;
    this.#live.delete(grantId);
  }

  async #read(token: string, { issuer, resource }: OauthPlace, inTime: boolean) {
    const { errors: joseErrors, jwtVerify } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, this.#key, {
        algorithms: ['HS256'],
        typ: accessTokenType,
        issuer,
        audience: resource,
        requiredClaims: ['exp', 'sub'],
        ...(inTime ? undefined : { currentDate: new Date(0) }),
      });
      const { client_id: clientId, scope, grant_id: grantId } = payload;
      if (typeof clientId !== 'string' || typeof scope !== 'string' || typeof grantId !== 'string')
        throw errors.invalidToken('claims are missing');
      return { clientId, grantId, scopes: scope === '' ? [] : scope.split(' ') };
    } catch (error) {
      if (error instanceof RunyardError) throw error;
      if (error instanceof joseErrors.JWTExpired) throw errors.tokenExpired();
      throw errors.invalidToken('it is not for this endpoint, or its signature is wrong');
    }
  }

  async #findLive(grantId: string): Promise<NewGrant | undefined> {
    const { cacheMs, store } = this.options;
    const readAt = performance.now();
    const known = this.#live.get(grantId);
    if (known !== undefined && readAt - known.readAt < cacheMs) return known.grant;
    const revocations = this.#revocations;
    let grant: NewGrant | undefined;
    try {
      grant = await store.findLive(grantId);
    } catch (error) {
      throw errors.authenticationUnavailable(error);
    }
    if (grant === undefined) this.#live.delete(grantId);
    // what was revoked while it was read must not be trusted any longer than this once
    else if (cacheMs > 0 && revocations === this.#revocations) this.#live.set(grantId, { grant, readAt });
    return grant;
  }
}

/** The user that the runs of a client belong to. No person and no service account can have this name. */
function principalOf(clientId: string): string {
  return `__oauth__:${clientId}`;
}
