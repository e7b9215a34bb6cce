import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Services } from '../../../capabilities/capability.js';
import { assertionAlgorithms } from '../../../capabilities/mcp-oauth/schema.js';
import { errors, RunyardError } from '../../../core/errors/errors.js';
import { lazyObject } from '../../../core/schemas/lazy-schema.js';
import { cookieIn } from '../../../platform/auth/presented-token.js';
import { type ContentReply, type Reply, reply } from '../../../platform/http/response/results.js';
import { defineRoute, type EncodeError, type Route, type RouteFacts } from '../../../platform/http/route.js';
import { consentPage, noticePage } from './pages.js';
import { consentRoute, type Place } from './place.js';
import type { OauthSite } from './site.js';

interface OauthServices {
  readonly mcpOauthSite?: OauthSite;
}

const text = z.string().optional();

const authorizationQuery = lazyObject(() => ({
  response_type: text,
  client_id: text,
  redirect_uri: text,
  scope: text,
  state: text,
  code_challenge: text,
  code_challenge_method: text,
  resource: text,
}));

const tokenForm = lazyObject(() => ({
  grant_type: text,
  code: text,
  redirect_uri: text,
  code_verifier: text,
  refresh_token: text,
  scope: text,
  resource: text,
  client_id: text,
  client_assertion: text,
  client_assertion_type: text,
}));

const revocationForm = lazyObject(() => ({
  token: text,
  token_type_hint: text,
  client_id: text,
  client_assertion: text,
  client_assertion_type: text,
}));

const consentForm = lazyObject(() => ({ txn: text, csrf: text, secret: text, decision: text }));

/** They are described by metadata of their own, which clients of OAuth read. */
const facts = { public: true, tag: 'MCP', undocumented: true, addition: true } as const;

/** Errors in the words of OAuth. */
const encodeError: EncodeError = ({ code, status, message, options }) => {
  const { headers } = options;
  if (status >= 500) return reply(status, { error: 'server_error', error_description: message }, headers);
  // what is wrong with the form itself
  const isOauth = status === 400 || status === 401 || status === 429;
  const body = { error: isOauth ? code : 'invalid_request', error_description: message };
  return reply(status === 422 ? 400 : status, body, headers);
};

type Fields = Omit<RouteFacts, keyof typeof facts | 'scope' | 'responses' | 'description'>;

/** The endpoints of the authorization server for the resource at this path. */
export function oauthRoutes(path: string): readonly Route<Services>[] {
  const metadata = (fields: Fields, handler: (site: OauthSite, place: Place) => unknown) =>
    defineRoute({
      ...facts,
      ...fields,
      responses: { 200: z.object({}) },
      handler: (services: OauthServices, { headers, basePath }) => {
        const site = siteOf(services);
        return handler(site, site.places.of({ headers, basePath }));
      },
    });
  const resource = (at: string, operationId: string) =>
    metadata(
      { method: 'GET', path: at, operationId, summary: 'What protects the MCP endpoint' },
      (_site, place) => resourceMetadata(place),
    );
  const server = (at: string, operationId: string) =>
    metadata(
      { method: 'GET', path: at, operationId, summary: 'The authorization server of the MCP endpoint' },
      ({ server: { scopes } }, place) => serverMetadata(place, scopes),
    );
  return [
    resource('/.well-known/oauth-protected-resource', 'mcp_resource_metadata'),
    resource(`/.well-known/oauth-protected-resource${path}`, 'mcp_resource_metadata_of_path'),
    server('/.well-known/oauth-authorization-server', 'mcp_server_metadata'),
    server(`/.well-known/oauth-authorization-server${path}`, 'mcp_server_metadata_of_path'),
    register,
    authorize,
    showConsent,
    answerConsent,
    token,
    revoke,
  ];
}

function siteOf({ mcpOauthSite }: OauthServices): OauthSite {
  if (mcpOauthSite === undefined) throw new Error('The interface opens its authorization server first.');
  return mcpOauthSite;
}

function resourceMetadata({ resource, issuer }: Place) {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [],
    bearer_methods_supported: ['header'],
  };
}

const authMethods = ['none', 'private_key_jwt'];

function serverMetadata({ base, issuer, tokenEndpoint }: Place, scopes: readonly string[]) {
  return {
    issuer,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: tokenEndpoint,
    registration_endpoint: `${base}/register`,
    revocation_endpoint: `${base}/revoke`,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: authMethods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    revocation_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    code_challenge_methods_supported: ['S256'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  };
}

const register = defineRoute({
  ...facts,
  method: 'POST',
  path: '/register',
  operationId: 'mcp_register_client',
  summary: 'Register an OAuth client',
  body: z.unknown(),
  responses: { 201: z.object({}) },
  encodeError,
  async handler(services: OauthServices, { body, clientAddress }) {
    const { server } = siteOf(services);
    const { client, issuedAt } = await server.register(body, clientAddress);
    return reply(201, {
      client_id: client.clientId,
      client_id_issued_at: Math.floor(issuedAt / 1000),
      ...(client.name !== null && { client_name: client.name }),
      redirect_uris: client.redirectUris,
      grant_types: ['authorization_code', ...(client.refreshes ? ['refresh_token'] : [])],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: (client.scopes ?? server.scopes).join(' '),
    });
  },
});

const authorize = defineRoute({
  ...facts,
  method: 'GET',
  path: '/authorize',
  operationId: 'mcp_authorize',
  summary: 'Ask a person to connect an OAuth client',
  query: authorizationQuery,
  responses: { 302: { description: 'To the consent page, or back to the client.' } },
  handler: (services: OauthServices, { query, headers, basePath, clientAddress }) =>
    onPage(async () => {
      const { server, places } = siteOf(services);
      const place = places.of({ headers, basePath });
      const step = await server.authorize(withoutEmpty(query), place, clientAddress);
      if (step.to === 'client') return redirect(step.location);
      if (step.to === 'notice')
        return noticePage('This request cannot be granted', step.error.message, 400, step);
      return redirect(`${place.base}${consentRoute}?txn=${step.transaction}`);
    }),
});

const gone = () =>
  noticePage(
    'This request has expired',
    'It is older than ten minutes, was answered before, or was never made. Start again in the program that you connect.',
    404,
  );

const cookieName = 'runyard_mcp_consent';
const cookieSeconds = 600;

const showConsent = defineRoute({
  ...facts,
  method: 'GET',
  path: consentRoute,
  operationId: 'mcp_show_consent',
  summary: 'The consent page',
  query: z.object({ txn: text }),
  responses: { 200: { contentType: 'text/html', schema: z.string() } },
  handler: (
    services: OauthServices,
    { query: { txn: transaction = '' }, headers, basePath, clientAddress },
  ) =>
    onPage(async () => {
      const site = siteOf(services);
      const place = site.places.of({ headers, basePath });
      const question = await site.server.question(transaction, place, clientAddress);
      if (question === undefined) return gone();
      // another tab of the same browser keeps its form
      const cookie = givenCookie(headers.cookie) ?? randomBytes(24).toString('base64url');
      return consentPage({ ...question, ...formOf(site, place, transaction, cookie) });
    }),
});

const answerConsent = defineRoute({
  ...facts,
  method: 'POST',
  path: consentRoute,
  operationId: 'mcp_answer_consent',
  summary: 'Answer the consent page',
  accepts: 'form',
  body: consentForm,
  responses: { 302: { description: 'Back to the client.' } },
  handler: (services: OauthServices, { body, headers, basePath, clientAddress }) =>
    onPage(async () => {
      const site = siteOf(services);
      const place = site.places.of({ headers, basePath });
      const { txn: transaction = '', csrf = '', secret = '', decision } = body;
      const cookie = givenCookie(headers.cookie);
      if (cookie === undefined || !site.server.isFormOf(cookie, transaction, csrf))
        return noticePage(
          'This form cannot be used',
          'It does not belong to this browser. Allow cookies for this site, and start again in the program that you connect.',
          400,
        );
      if (decision !== 'approve' && decision !== 'deny')
        return noticePage('This form cannot be used', 'It neither approves nor denies the request.', 400);
      const answer = { transaction, secret, approves: decision === 'approve', clientAddress };
      const result = await site.server.answer(answer, place);
      if (result.kind === 'gone') return gone();
      if (result.kind === 'decided') return redirect(result.location);
      const { question, retryAfterSeconds } = result;
      const fault =
        retryAfterSeconds === undefined
          ? { text: 'The secret is wrong.', status: 200 }
          : { text: 'Too many wrong secrets. Wait a minute.', status: 429, retryAfterSeconds };
      return consentPage({ ...question, ...formOf(site, place, transaction, cookie), fault });
    }),
});

function formOf(site: OauthSite, { consentPath, isSecure }: Place, transaction: string, cookie: string) {
  return {
    service: site.name,
    action: consentPath,
    transaction,
    formToken: site.server.formToken(cookie, transaction),
    cookie: `${cookieName}=${cookie}; Path=${consentPath}; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
  };
}

function givenCookie(header: string | undefined): string | undefined {
  const value = cookieIn(header ?? '', cookieName);
  return value !== undefined && /^[\w-]{32}$/.test(value) ? value : undefined;
}

const token = defineRoute({
  ...facts,
  method: 'POST',
  path: '/token',
  operationId: 'mcp_token',
  summary: 'Exchange a code or a refresh token',
  accepts: 'form',
  body: tokenForm,
  responses: { 200: z.object({}) },
  encodeError,
  async handler(services: OauthServices, { body, headers, basePath, clientAddress }) {
    const { server, places } = siteOf(services);
    refuseBasic(headers.authorization);
    const place = places.of({ headers, basePath });
    return reply(200, await server.endpoint.issue(body, { ...place, clientAddress }), {
      pragma: 'no-cache',
    });
  },
});

const revoke = defineRoute({
  ...facts,
  method: 'POST',
  path: '/revoke',
  operationId: 'mcp_revoke',
  summary: 'Revoke the tokens of a grant',
  accepts: 'form',
  body: revocationForm,
  responses: { 200: { description: 'The token is not valid any longer.' } },
  encodeError,
  async handler(services: OauthServices, { body, headers, basePath, clientAddress }) {
    const { server, places } = siteOf(services);
    refuseBasic(headers.authorization);
    const place = places.of({ headers, basePath });
    await server.endpoint.revoke(body, { ...place, clientAddress });
    return reply(200, {});
  },
});

/** No client has a secret: one that sends it means another server. */
function refuseBasic(authorization: string | undefined): void {
  if (authorization !== undefined && /^basic /i.test(authorization))
    throw errors.oauthClientRefused('Clients of this server have no secret: send client_id in the form.');
}

/** What is wrong is shown to the person whose browser asks. */
async function onPage(work: () => Promise<ContentReply | Reply>): Promise<ContentReply | Reply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RunyardError) || error.status >= 500) throw error;
    const { headers = {} } = error.options;
    return noticePage('This request cannot be granted', error.message, error.status, { headers });
  }
}

function redirect(location: string): Reply {
  return reply(302, undefined, { location });
}

/** An empty parameter counts as none. */
function withoutEmpty<Query extends object>(query: Query): Query {
  // the same fields, fewer of them
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== '')) as Query;
}
