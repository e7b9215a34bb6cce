import type { Interface } from '../interface.js';
import { Admission, mcpErrors } from './admission.js';
import type { McpAuthorization } from './authorization.js';
import type { McpConfig } from './options.js';
import { mcpRoutes } from './routes.js';
import type { mcpServer } from './server/mcp-server.js';
import { ServiceOnDemand } from './service-on-demand.js';

export interface McpParts {
  readonly authorization?: McpAuthorization | undefined;
  /** Makes the server of a session in one process. Left out: the one that offers the components. */
  readonly server?: typeof mcpServer;
}

/** The interface itself. The library, and everything that uses it, is loaded for the first request. */
export function mcpInterface(config: McpConfig, { authorization, server: given }: McpParts = {}): Interface {
  return {
    name: 'mcp',
    routes: [...mcpRoutes(mcpErrors(authorization)), ...(authorization?.routes ?? [])],
    async open(site) {
      const { services, settings, identities, log } = site;
      const sessions = await services.mcpSessions();
      const opened = await authorization?.open(site);
      const admission = new Admission({ config, settings, identities, authorization: opened });
      const mcp = new ServiceOnDemand(admission, async () => {
        const [{ McpService }, { LiveSessions }, { mcpServer, toolboxOf }] = await Promise.all([
          import('./mcp-service.js'),
          import('./transport/live-sessions.js'),
          import('./server/mcp-server.js'),
        ]);
        const server = () => (given ?? mcpServer)({ services, settings, config, log });
        const service = new McpService(new LiveSessions({ sessions, server, log }), sessions);
        return {
          service,
          async close() {
            await service.close();
            await toolboxOf(config).close();
          },
        };
      });
      return {
        services: { ...opened?.services, mcp },
        info: () => ({ mcp: { enabled: true, path: '/mcp', oauth: opened?.info ?? null } }),
        close: () => mcp.close(),
      };
    },
  };
}
