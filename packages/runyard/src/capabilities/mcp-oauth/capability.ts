import type { Capability } from '../capability.js';
import { mcpOauthTables } from './migrations/0026-mcp-oauth.js';
import { McpOauthService } from './service.js';

declare module '../capability.js' {
  interface Services {
    readonly mcpOauth: McpOauthService;
  }
}

/** What the authorization server for `/mcp` stores. The interface `mcp` opens it and serves its routes. */
export const mcpOauth: Capability = {
  name: 'mcp-oauth',
  migrations: [mcpOauthTables],
  open({ databases, log }) {
    // a service has a database of its own
    return { services: { mcpOauth: new McpOauthService(databases[0]!, log) } };
  },
};
