import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { RunyardError } from '../../../core/errors/errors.js';
import { version } from '../../../platform/version.js';
import { mcpCallOf } from '../call.js';
import type { McpConfig } from '../options.js';
import { getPrompt, listPrompts } from './data/prompts.js';
import { listResources, listTemplates, readResource } from './data/resources.js';
import type { McpSite } from './site.js';
import { Toolbox } from './toolbox.js';

/** The versions of the protocol that are spoken, the preferred one first. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** What is offered changes with the code, and not while a client is connected; only stored components do. */
const capabilities = {
  logging: {},
  tools: { listChanged: false },
  prompts: { listChanged: false },
  resources: { subscribe: false, listChanged: false },
};

/** The tools are the same for all sessions. */
const toolboxes = new WeakMap<McpConfig, Toolbox>();

/** Throws when something is wrong with the tools of the application. */
export function toolboxOf(config: McpConfig): Toolbox {
  const toolbox = toolboxes.get(config) ?? new Toolbox(config);
  toolboxes.set(config, toolbox);
  return toolbox;
}

/** The server of one session in one process. It keeps nothing that another process would need. */
export function mcpServer(site: McpSite): Server {
  const { name, description } = site.settings;
  const toolbox = toolboxOf(site.config);
  const server = new Server(
    { name, version },
    {
      capabilities,
      supportedProtocolVersions: protocolVersions,
      ...(description !== undefined && { instructions: description }),
    },
  );
  server.setRequestHandler('tools/list', async (_request, { mcpReq }) =>
    shown(site, async () => ({ tools: await toolbox.list(site, mcpReq.signal) })),
  );
  server.setRequestHandler('tools/call', ({ params }, context) =>
    toolbox.call(site, server, params, context),
  );
  server.setRequestHandler('prompts/list', (_request, context) =>
    shown(site, () => listPrompts(site, mcpCallOf(context).caller)),
  );
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    shown(site, () => getPrompt(site, mcpCallOf(context).caller, params.name, params.arguments)),
  );
  server.setRequestHandler('resources/list', ({ params }, context) =>
    shown(site, () => listResources(site, mcpCallOf(context).caller, params?.cursor)),
  );
  server.setRequestHandler('resources/templates/list', (_request, context) =>
    shown(site, () => listTemplates(site, mcpCallOf(context).caller)),
  );
  server.setRequestHandler('resources/read', ({ params }, context) =>
    shown(site, () => readResource(site, mcpCallOf(context).caller, params.uri, context.mcpReq.signal)),
  );
  return server;
}

/** An error of the catalogue says what is wrong with the request; what any other says is for the log. */
async function shown<T>({ log }: McpSite, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof RunyardError && error.status < 500)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
    log.error({ err: error }, 'a request to the MCP server failed');
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error. The log has the details.');
  }
}
