import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { errors } from '../../core/errors/errors.js';
import { lazyObject } from '../../core/schemas/lazy-schema.js';
import { scopesIn } from './clients.js';
import type { OauthKeys } from './keys.js';
import type { AuthorizationParameters, AuthorizationRequest, OauthClient, OauthPlace } from './schema.js';

export const requestLifeSeconds = 600;
const longestState = 2000;

const requestSchema = lazyObject(() => ({
  jti: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  state: z.string().optional(),
  challenge: z.string(),
  scopes: z.array(z.string()),
}));

/** Checks what a known client asks for at a redirect URI of its own. Throws the error that the client receives. */
export function checkedRequest(
  parameters: AuthorizationParameters,
  client: OauthClient,
  offered: readonly string[],
  { resource }: OauthPlace,
): { readonly challenge: string; readonly scopes: readonly string[] } {
  const { response_type: type, code_challenge: challenge, code_challenge_method: method } = parameters;
  if (type !== 'code') throw errors.oauth('unsupported_response_type', 'response_type must be code.');
  if (challenge === undefined || !/^[\w-]{43}$/.test(challenge))
    throw errors.oauth('invalid_request', 'code_challenge must be a SHA-256 in base64url: PKCE is required.');
  if (method !== 'S256') throw errors.oauth('invalid_request', 'code_challenge_method must be S256.');
  if (parameters.state !== undefined && parameters.state.length > longestState)
    throw errors.oauth('invalid_request', `state has more than ${longestState} characters.`);
  checkResource(parameters.resource, resource);
  return { challenge, scopes: grantedScopes(parameters.scope, client, offered) };
}

/** Tokens are for `/mcp` alone, whichever way its address is written. */
export function checkResource(given: string | undefined, resource: string): void {
  if (given === undefined) return;
  const plain = (text: string) => (URL.canParse(text) ? new URL(text).href.replace(/\/$/, '') : text);
  if (plain(given) !== plain(resource)) throw errors.oauth('invalid_target', `resource must be ${resource}.`);
}

/**
 * A client that names scopes of the service gets those. One that names none, or only words of its own, gets what the
 * server offers: the person sees it, and approves it or not.
 */
function grantedScopes(
  asked: string | undefined,
  client: OauthClient,
  offered: readonly string[],
): readonly string[] {
  const scopes = scopesIn(asked ?? '');
  const allowed = client.scopes ?? offered;
  const foreign = scopes.filter((scope) => !allowed.includes(scope));
  if (foreign.length > 0)
    throw errors.oauth('invalid_scope', `Client was not registered with scope ${foreign[0]?.slice(0, 200)}.`);
  const known = scopes.filter((scope) => offered.includes(scope));
  return known.length > 0 ? known : offered;
}

/**
 * Requests that wait for a person. They are signed texts in the address of the page, and not rows: a stranger who sends many of
 * them fills nothing, and every process can show them.
 */
export class PendingRequests {
  readonly #key: Uint8Array;

  constructor(keys: OauthKeys) {
    this.#key = keys.key('authorization request');
  }

  async sign(request: Omit<AuthorizationRequest, 'jti'>, { issuer, resource }: OauthPlace): Promise<string> {
    const { SignJWT } = await import('jose');
    return new SignJWT({ ...request })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(issuer)
      .setAudience(resource)
      .setJti(randomUUID())
      .setExpirationTime(`${requestLifeSeconds}s`)
      .sign(this.#key);
  }

  /** Undefined for one that is unknown or too old. */
  async open(
    transaction: string,
    { issuer, resource }: OauthPlace,
  ): Promise<AuthorizationRequest | undefined> {
    const { jwtVerify } = await import('jose');
    try {
      const options = { algorithms: ['HS256'], issuer, audience: resource, requiredClaims: ['exp', 'jti'] };
      const { payload } = await jwtVerify(transaction, this.#key, options);
      return requestSchema.parse(payload);
    } catch {
      return undefined;
    }
  }
}
