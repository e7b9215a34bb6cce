import type { FetchDocument } from '../../../capabilities/mcp-oauth/schema.js';
import { errors, type RunyardError } from '../../../core/errors/errors.js';
import { assertMay } from '../../../platform/auth/authenticator.js';
import type { Caller } from '../../../platform/auth/caller.js';
import { presentedToken } from '../../../platform/auth/presented-token.js';
import { Rights } from '../../../platform/auth/rights.js';
import type { AccessRequest, FailedRequest, ResolveCaller } from '../../../platform/http/route.js';
import type { Settings } from '../../../platform/settings/config.js';
import type { InterfaceSite } from '../../interface.js';
import { type McpOAuthOptions, oauthConfig } from './options.js';
import { isLoopbackListener, Places } from './place.js';
import { oauthRoutes } from './routes.js';
import type { OauthSite } from './site.js';

export interface McpOAuthSite {
  /** Where the protected endpoint is. */
  readonly path: string;
  /** Where clients reach the service. The setting `mcpPublicUrl` wins. */
  readonly publicUrl?: string | undefined;
  /** Only tests fetch documents of clients in another way. */
  readonly fetchDocument?: FetchDocument;
}

/** The authorization server of the service for its MCP endpoint. */
export function mcpOAuth(options: McpOAuthOptions, { path, publicUrl, fetchDocument }: McpOAuthSite) {
  /** Fixed when the service opens; one interface may be opened by several services with the same options. */
  let challenging: Places | undefined;
  return {
    routes: oauthRoutes(path),

    async open({ services, settings }: InterfaceSite) {
      const config = oauthConfig(options, settings);
      const address = settings.mcpPublicUrl ?? publicUrl;
      if (address === undefined && !isLoopbackListener(settings.host))
        throw errors.invalidConfig(
          `mcp(): oauth needs the public address of the service, which listens on ${settings.host}. Set publicUrl, or RUNYARD_MCP_PUBLIC_URL, to an address such as https://agents.example.com.`,
        );
      const places = new Places(address, path);
      challenging = places;
      const server = await services.mcpOauth.open({
        ...config,
        cacheMs: settings.serviceAccountCacheSeconds * 1000,
        fetchAllowedHosts: settings.fetchAllowedHosts,
        ...(fetchDocument && { fetchDocument }),
      });
      const site: OauthSite = { server, places, name: settings.name };
      const place = places.usual(settings);
      return {
        services: { mcpOauthSite: site },
        admit: (request: AccessRequest, usual: ResolveCaller) => admit(request, usual, site, settings),
        info: { authorization_servers: place ? [place.issuer] : [], resource: place?.resource ?? null },
      };
    },

    /** `WWW-Authenticate` of a request without a valid token: where a client learns how to get one. */
    challenge(error: RunyardError, { headers, basePath }: FailedRequest): string {
      const fault = error.code === 'token_missing' ? '' : 'error="invalid_token", ';
      try {
        const { resourceMetadata } = (challenging ?? new Places(publicUrl, path)).of({ headers, basePath });
        return `Bearer ${fault}resource_metadata="${resourceMetadata}"`;
      } catch {
        return fault === '' ? 'Bearer' : 'Bearer error="invalid_token"';
      }
    },
  };
}

/** Our access tokens are for the endpoint alone; the tokens of the service are good here too. No one comes in without. */
async function admit(
  request: AccessRequest,
  usual: ResolveCaller,
  { server, places }: OauthSite,
  settings: Settings,
): Promise<Caller> {
  const presented = presentedToken(request.headers, { ...settings, tokenSource: 'header' });
  if (request.acting === undefined && presented !== undefined && server.keys.isOurs(presented.token)) {
    const { userId, scopes } = await server.tokens.verify(presented.token, places.of(request));
    const caller: Caller = {
      userId,
      // one client does not see what another one did, in any mode
      scope: { kind: 'user', userId },
      rights: new Rights(scopes, { adminScope: settings.adminScope, enforced: true }),
      proven: true,
      claims: { sub: userId, scope: scopes.join(' ') },
      bound: {},
    };
    assertMay(caller, request);
    return caller;
  }
  const caller = await usual(request);
  // an open service, or a public path, takes anyone: this endpoint does not
  if (!caller.proven && request.acting === undefined)
    throw presented === undefined
      ? errors.tokenMissing('Authorization header missing')
      : errors.invalidToken('it is not known here');
  return caller;
}
