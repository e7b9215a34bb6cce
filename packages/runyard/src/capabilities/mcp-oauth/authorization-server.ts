import { randomUUID } from 'node:crypto';
import { errors, RunyardError } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import { FailedAttempts } from '../../platform/auth/failed-attempts.js';
import type { SharedParts } from '../../platform/net/shared-parts.js';
import { storedJson } from '../../platform/storage/text.js';
import { AccessTokens } from './access-tokens.js';
import { checkedRequest, PendingRequests, requestLifeSeconds } from './authorization-requests.js';
import { ClientDocuments, documentFetch, isDocumentId } from './client-documents.js';
import { registeredClient } from './clients.js';
import { isSameText, newSecret, OauthKeys } from './keys.js';
import { isLocal, isRegistered, withAnswer } from './redirect-uris.js';
import type {
  AuthorizationParameters,
  AuthorizationServerOptions,
  AuthorizationStep,
  ConsentAnswer,
  ConsentQuestion,
  ConsentResult,
  OauthClient,
  OauthPlace,
} from './schema.js';
import type { OauthStore } from './store.js';
import { TokenEndpoint } from './token-endpoint.js';

const minute = 60_000;
const hour = 60 * minute;
const pendingClientMs = hour;
const codeMs = 5 * minute;
const longestSecret = 1000;
const failuresOfAddress = 10;
const failuresAtEndpoint = 60;
const failuresOfAll = 100;
const registrationsOfAddress = 20;

/** An authorization server for one resource, whose clients are public and whose users share one secret. */
export class AuthorizationServer {
  readonly tokens: AccessTokens;
  readonly keys: OauthKeys;
  readonly endpoint: TokenEndpoint;
  readonly #documents: ClientDocuments;
  readonly #requests: PendingRequests;
  readonly #failures: FailedAttempts;
  readonly #allFailures: FailedAttempts;
  readonly #registrations: FailedAttempts;

  constructor(
    private readonly store: OauthStore,
    private readonly options: AuthorizationServerOptions,
    private readonly log: Log,
    shared?: SharedParts,
  ) {
    const counted = (name: string, allowed: number) =>
      new FailedAttempts(allowed, { name: `mcp ${name}`, counts: shared?.counts });
    this.#failures = counted('wrong secrets', failuresOfAddress);
    this.#allFailures = counted('all wrong secrets', failuresOfAll);
    this.#registrations = counted('registrations', registrationsOfAddress);
    const { signingKey, cacheMs, fetchAllowedHosts, fetchDocument } = options;
    this.keys = new OauthKeys(signingKey);
    this.tokens = new AccessTokens({ keys: this.keys, store, cacheMs, shared });
    this.#documents = new ClientDocuments(fetchDocument ?? documentFetch(fetchAllowedHosts));
    this.#requests = new PendingRequests(this.keys);
    this.endpoint = new TokenEndpoint({
      store,
      keys: this.keys,
      tokens: this.tokens,
      documents: this.#documents,
      findClient: (...of) => this.#findClient(...of),
      failures: counted('wrong tokens', failuresAtEndpoint),
      log,
    });
  }

  get scopes(): readonly string[] {
    return this.options.scopes;
  }

  /** Registers a public client. It expires within an hour unless a person approves it. */
  async register(
    metadata: unknown,
    clientAddress: string,
  ): Promise<{ client: OauthClient; issuedAt: number }> {
    const limited = this.#registrations.note(clientAddress, Date.now());
    if (limited !== undefined)
      throw errors.oauthLimited(
        `At most ${registrationsOfAddress} clients are registered within a minute.`,
        Math.ceil(limited.retryAfterMs / 1000),
      );
    const client = registeredClient(randomUUID(), metadata);
    const issuedAt = await this.store.addClient(client.clientId, JSON.stringify(client), pendingClientMs);
    return { client, issuedAt };
  }

  /** Begins an authorization. Throws when the client or its redirect URI is not known: nothing is sent to such a place. */
  async authorize(
    parameters: AuthorizationParameters,
    place: OauthPlace,
    clientAddress: string,
  ): Promise<AuthorizationStep> {
    const { client_id: clientId, redirect_uri: redirectUri, state } = parameters;
    if (clientId === undefined) throw errors.oauth('invalid_request', 'client_id is missing.');
    const client = await this.#findClient(clientId, clientAddress);
    if (redirectUri === undefined) throw errors.oauth('invalid_request', 'redirect_uri is missing.');
    if (!isRegistered(redirectUri, client.redirectUris))
      throw errors.oauth('invalid_request', 'The client did not register this redirect_uri.');
    try {
      const checked = checkedRequest(parameters, client, this.options.scopes, place);
      const request = { clientId, redirectUri, state, challenge: checked.challenge };
      const transaction = await this.#requests.sign({ ...request, scopes: [...checked.scopes] }, place);
      return { to: 'consent', transaction };
    } catch (error) {
      if (!(error instanceof RunyardError) || error.status !== 400) throw error;
      const answer = { error: error.code, error_description: error.message, state, iss: place.issuer };
      const location = withAnswer(redirectUri, answer);
      // anyone can register any address: a link to us must not lead people there unasked
      const isTrusted = isLocal(redirectUri) || (await this.store.isApproved(clientId));
      return isTrusted ? { to: 'client', location } : { to: 'notice', error, location };
    }
  }

  /** What a person is asked; undefined for a request that is unknown or too old. */
  async question(
    transaction: string,
    place: OauthPlace,
    clientAddress: string,
  ): Promise<ConsentQuestion | undefined> {
    const request = await this.#requests.open(transaction, place);
    if (request === undefined) return undefined;
    try {
      return { client: await this.#findClient(request.clientId, clientAddress), request };
    } catch (error) {
      if (error instanceof RunyardError && error.code === 'invalid_client') return undefined;
      throw error;
    }
  }

  /** Takes the answer of a person. A right secret is never refused because of wrong ones before it. */
  async answer(answer: ConsentAnswer, place: OauthPlace): Promise<ConsentResult> {
    const question = await this.question(answer.transaction, place, answer.clientAddress);
    if (question === undefined) return { kind: 'gone' };
    const { request, client } = question;
    const { redirectUri, state } = request;
    const iss = place.issuer;
    if (!answer.approves) {
      const error_description = 'The request was denied.';
      const location = withAnswer(redirectUri, { error: 'access_denied', error_description, state, iss });
      return { kind: 'decided', location };
    }
    const given = answer.secret.trim();
    if (given.length > longestSecret || !isSameText(given, this.options.secret.trim()))
      return { kind: 'wrong', question, ...this.#noteFailure(answer.clientAddress) };
    const code = newSecret();
    const grant = {
      grantId: randomUUID(),
      clientId: client.clientId,
      scopes: request.scopes,
      resource: place.resource,
    };
    const { challenge } = request;
    const stored = { hash: this.keys.hash('code', code), data: { redirectUri, challenge }, lifeMs: codeMs };
    const spent = { hash: this.keys.hash('request', request.jti), lifeMs: requestLifeSeconds * 1000 };
    if (!(await this.store.addCode(grant, stored, spent))) return { kind: 'gone' };
    const { clientId, name } = client;
    this.log.info({ client_id: clientId, client_name: name, scopes: grant.scopes }, 'MCP client approved');
    return { kind: 'decided', location: withAnswer(redirectUri, { code, state, iss }) };
  }

  /** Ties a form to the browser that it was shown to. */
  formToken(cookie: string, transaction: string): string {
    return this.keys.formToken(cookie, transaction);
  }

  isFormOf(cookie: string, transaction: string, formToken: string): boolean {
    return isSameText(formToken, this.keys.formToken(cookie, transaction));
  }

  #noteFailure(address: string): { readonly retryAfterSeconds?: number } {
    const now = Date.now();
    const limited = [this.#failures.note(address, now), this.#allFailures.note('', now)].filter(
      (one) => one !== undefined,
    );
    if (limited.length === 0) return {};
    if (limited.some(({ begins }) => begins))
      this.log.warn({ address }, 'too many wrong secrets for connecting an MCP client');
    const waitMs = Math.max(...limited.map(({ retryAfterMs }) => retryAfterMs));
    return { retryAfterSeconds: Math.ceil(waitMs / 1000) };
  }

  /** Throws `invalid_client` for one that is unknown or has expired. */
  async #findClient(clientId: string, clientAddress: string): Promise<OauthClient> {
    if (isDocumentId(clientId)) return this.#documents.find(clientId, clientAddress);
    const stored = /^[\da-f-]{36}$/.test(clientId) ? await this.store.findClient(clientId) : undefined;
    if (stored === undefined)
      throw errors.oauth('invalid_client', 'The client is not known, or its registration has expired.');
    return storedJson(stored);
  }
}
