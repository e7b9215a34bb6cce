import type { Interface } from '../interface.js';
import type { McpConfig } from './options.js';
import { mcpServer } from './server/mcp-server.js';

/** The interface itself. Loading this file loads the library. */
export function mcpInterface(config: McpConfig): Interface {
  return {
    name: 'mcp',
    open: ({ services, settings, log }) => {
      mcpServer({ services, settings, config, log });
      return {};
    },
  };
}
