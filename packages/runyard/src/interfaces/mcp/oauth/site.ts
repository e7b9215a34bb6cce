import type { OpenAuthorizationServer } from '../../../capabilities/mcp-oauth/service.js';
import type { Places } from './place.js';

declare module '../../../capabilities/capability.js' {
  interface Services {
    readonly mcpOauthSite?: OauthSite;
  }
}

/** An open authorization server, for its routes. */
export interface OauthSite {
  readonly server: OpenAuthorizationServer;
  readonly places: Places;
  /** What people know the service by. */
  readonly name: string;
}
