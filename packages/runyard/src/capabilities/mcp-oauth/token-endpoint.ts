import { errors } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import type { FailedAttempts } from '../../platform/auth/failed-attempts.js';
import { storedJson } from '../../platform/storage/text.js';
import { type AccessTokens, accessTokenSeconds } from './access-tokens.js';
import { checkResource } from './authorization-requests.js';
import { assertionType, checkAssertion, subjectOf } from './client-assertion.js';
import type { ClientDocuments } from './client-documents.js';
import { scopesIn } from './clients.js';
import { challengeOf, isSameText, newSecret, type OauthKeys } from './keys.js';
import type { IssuedTokens, OauthClient, TokenForm, TokenSite } from './schema.js';
import type { CodeData, IssuedToken, OauthStore, TokenKind } from './store.js';

export interface TokenEndpointOptions {
  readonly store: OauthStore;
  readonly keys: OauthKeys;
  readonly tokens: AccessTokens;
  readonly documents: ClientDocuments;
  findClient(clientId: string, clientAddress: string): Promise<OauthClient>;
  readonly failures: FailedAttempts;
  readonly log: Log;
}

const day = 86_400_000;
const refreshMs = 30 * day;
/** Longer than any refresh token lasts: a client that comes back need not register again. */
const clientLifeMs = 90 * day;
const verifierForm = /^[\w.~-]{43,128}$/;

/** Issues, rotates and revokes tokens. */
export class TokenEndpoint {
  constructor(private readonly options: TokenEndpointOptions) {}

  async issue(form: TokenForm, site: TokenSite): Promise<IssuedTokens> {
    const { grant_type: type } = form;
    if (type === undefined) throw errors.oauth('invalid_request', 'grant_type is missing.');
    if (type !== 'authorization_code' && type !== 'refresh_token')
      throw errors.oauth('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.');
    const client = await this.#authenticated(form, site);
    return type === 'authorization_code'
      ? this.#redeem(form, client, site)
      : this.#refresh(form, client, site);
  }

  /** Ends the grant of a refresh token or an access token (RFC 7009). Of an unknown one nothing is said. */
  async revoke(form: TokenForm, site: TokenSite): Promise<void> {
    const { token } = form;
    if (token === undefined) throw errors.oauth('invalid_request', 'token is missing.');
    const client = await this.#authenticated(form, site);
    const { store, keys, tokens } = this.options;
    const refresh = await store.findToken(keys.hash('refresh', token), 'refresh');
    const grantId = refresh?.grant.grantId ?? (await tokens.grantIdOf(token, site));
    if (grantId === undefined) return;
    const grant = refresh?.grant ?? (await store.findLive(grantId));
    if (grant?.clientId === client.clientId) await this.#end(grantId);
  }

  async #redeem(form: TokenForm, client: OauthClient, site: TokenSite): Promise<IssuedTokens> {
    const { code, redirect_uri: redirectUri, code_verifier: verifier = '' } = form;
    if (code === undefined) throw errors.oauth('invalid_request', 'code is missing.');
    const hash = this.options.keys.hash('code', code);
    const issued = await this.#find(hash, 'code', client, site);
    const { redirectUri: expected, challenge } = storedJson<CodeData>(issued.data ?? '{}');
    // OAuth 2.1 no longer sends it; what is sent has to be the same
    if (redirectUri !== undefined && redirectUri !== expected)
      throw this.#refused(site, 'redirect_uri is not the one of the authorization request.');
    if (!verifierForm.test(verifier) || !isSameText(challengeOf(verifier), challenge))
      throw this.#refused(site, 'code_verifier is not the one of the authorization request.');
    return this.#exchange(hash, 'code', issued, client, site, issued.grant.scopes, form.resource);
  }

  async #refresh(form: TokenForm, client: OauthClient, site: TokenSite): Promise<IssuedTokens> {
    const { refresh_token: token, scope } = form;
    if (token === undefined) throw errors.oauth('invalid_request', 'refresh_token is missing.');
    const hash = this.options.keys.hash('refresh', token);
    const issued = await this.#find(hash, 'refresh', client, site);
    const asked = scopesIn(scope ?? '');
    if (asked.some((one) => !issued.grant.scopes.includes(one)))
      throw errors.oauth('invalid_scope', 'scope exceeds what was granted.');
    const scopes = asked.length > 0 ? asked : issued.grant.scopes;
    return this.#exchange(hash, 'refresh', issued, client, site, scopes, form.resource);
  }

  /** What was issued to this client, used or not. Another client's token is not one of its own. */
  async #find(hash: string, kind: TokenKind, client: OauthClient, site: TokenSite): Promise<IssuedToken> {
    const issued = await this.options.store.findToken(hash, kind);
    if (issued === undefined || issued.grant.clientId !== client.clientId)
      throw this.#refused(site, 'It is not known, was revoked, or has expired.');
    return issued;
  }

  /** Replaces a code or a refresh token by new tokens, once. What is presented again was stolen: its family ends. */
  async #exchange(
    hash: string,
    kind: TokenKind,
    { grant, used, expired }: IssuedToken,
    client: OauthClient,
    site: TokenSite,
    scopes: readonly string[],
    resource: string | undefined,
  ): Promise<IssuedTokens> {
    const { store, keys, tokens } = this.options;
    if (used) throw await this.#replayed(grant.grantId, kind, client, site);
    if (grant.revoked || expired || grant.resource !== site.resource)
      throw this.#refused(site, 'It is not known, was revoked, or has expired.');
    checkResource(resource, grant.resource);
    const refreshToken = client.refreshes ? newSecret() : undefined;
    const isFirst = await store.redeem({
      hash,
      kind,
      grant,
      refreshHash: refreshToken && keys.hash('refresh', refreshToken),
      lifeMs: refreshToken === undefined ? accessTokenSeconds * 1000 : refreshMs,
      clientLifeMs,
    });
    // another request was faster: which of the two is the thief's, nobody knows
    if (!isFirst) throw await this.#replayed(grant.grantId, kind, client, site);
    return {
      access_token: await tokens.make(grant, scopes, site),
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      scope: scopes.join(' '),
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    };
  }

  async #replayed(grantId: string, kind: TokenKind, { clientId }: OauthClient, site: TokenSite) {
    if (await this.#end(grantId)) {
      const what = kind === 'code' ? 'an authorization code' : 'a refresh token';
      this.options.log.warn(
        { client_id: clientId, address: site.clientAddress },
        `${what} of an MCP client was presented twice; all tokens of its grant are revoked`,
      );
    }
    return this.#refused(site, 'It was used before. All tokens of this grant are revoked.');
  }

  async #end(grantId: string): Promise<boolean> {
    const { store, tokens } = this.options;
    const ended = await store.revoke(grantId);
    tokens.forget(grantId);
    return ended;
  }

  /** A public client is who it says: what it presents was given to this id alone. Others prove it. */
  async #authenticated(form: TokenForm, site: TokenSite): Promise<OauthClient> {
    const { client_assertion: assertion, client_assertion_type: type } = form;
    const clientId = form.client_id ?? (await subjectOf(assertion));
    if (clientId === undefined) throw errors.oauth('invalid_request', 'client_id is missing.');
    const client = await this.options.findClient(clientId, site.clientAddress);
    if (client.authentication === 'none') return client;
    if (assertion === undefined || type !== assertionType)
      throw errors.oauth('invalid_client', 'This client has to send a client_assertion.');
    await checkAssertion(client, assertion, site, this.options);
    return client;
  }

  #refused(site: TokenSite, text: string) {
    const limited = this.options.failures.note(site.clientAddress, Date.now());
    if (limited === undefined) return errors.oauth('invalid_grant', text);
    return errors.oauthLimited(
      'Too many failed attempts to get tokens.',
      Math.ceil(limited.retryAfterMs / 1000),
    );
  }
}
