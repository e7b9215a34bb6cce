import type { Interface } from '../interface.js';
import { Admission, mcpErrors } from './admission.js';
import type { McpAuthorization } from './authorization.js';
import { McpService } from './mcp-service.js';
import type { McpConfig } from './options.js';
import { mcpRoutes } from './routes.js';
import { mcpServer, toolboxOf } from './server/mcp-server.js';
import { LiveSessions } from './transport/live-sessions.js';

export interface McpParts {
  readonly authorization?: McpAuthorization | undefined;
  /** Makes the server of a session in one process. Left out: the one that offers the components. */
  readonly server?: typeof mcpServer;
}

/** The interface itself. Loading this file loads the library. */
export function mcpInterface(
  config: McpConfig,
  { authorization, server: makeServer = mcpServer }: McpParts = {},
): Interface {
  // what is wrong with the tools of the application is said before anything opens
  const toolbox = toolboxOf(config);
  return {
    name: 'mcp',
    routes: [...mcpRoutes(mcpErrors(authorization)), ...(authorization?.routes ?? [])],
    async open(site) {
      const { services, settings, identities, log } = site;
      const sessions = await services.mcpSessions();
      const opened = await authorization?.open(site);
      const admission = new Admission({ config, settings, identities, authorization: opened });
      const parts = { services, settings, config, log };
      const server = () => makeServer(parts);
      const mcp = new McpService(admission, new LiveSessions({ sessions, server, log }), sessions);
      return {
        services: { ...opened?.services, mcp },
        info: () => ({ mcp: { enabled: true, path: '/mcp', oauth: opened?.info ?? null } }),
        async close() {
          await mcp.close();
          await toolbox.close();
        },
      };
    },
  };
}
