import type { Capability } from '../capability.js';
import { mcpSessions as tables } from './migrations/0025-mcp-sessions.js';
import type { McpSessionsService } from './service.js';
import './tables.js';

declare module '../capability.js' {
  interface Services {
    /** Loaded by the interface that needs it. */
    readonly mcpSessions: () => Promise<McpSessionsService>;
  }
}

/** What MCP clients began, for all processes of the service. */
export const mcpSessions: Capability = {
  name: 'mcp-sessions',
  migrations: [tables],
  open: ({ databases, settings }) => ({
    services: {
      mcpSessions: async () => {
        const { McpSessionsService } = await import('./service.js');
        // a service has a database of its own
        return new McpSessionsService(databases[0]!, settings);
      },
    },
  }),
};
