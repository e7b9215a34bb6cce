import { Server } from '@modelcontextprotocol/server';
import type { Services } from '../../../capabilities/capability.js';
import type { Log } from '../../../core/log.js';
import type { Settings } from '../../../platform/config.js';
import { version } from '../../../platform/version.js';
import type { McpConfig } from '../options.js';

/** What the handlers work with. One for each service. */
export interface McpSite {
  readonly services: Services;
  readonly settings: Settings;
  readonly config: McpConfig;
  readonly log: Log;
}

/** The versions of the protocol that are spoken, the preferred one first. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** The server of one session in one process. It keeps nothing that another process would need. */
export function mcpServer({ settings }: McpSite): Server {
  const { name, description } = settings;
  const capabilities = { tools: {} };
  const server = new Server(
    { name, version },
    {
      capabilities,
      supportedProtocolVersions: protocolVersions,
      ...(description !== undefined && { instructions: description }),
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: [] }));
  return server;
}
