import { errorCode } from '../../core/errors/error-code.js';
import { errors } from '../../core/errors/errors.js';
import type { Settings } from '../../platform/settings/config.js';
import { DefinedInterface, type Interface } from '../interface.js';
import type { McpAuthorization } from './authorization.js';
import { type McpConfig, type McpOptions, mcpConfigOf } from './options.js';

/**
 * The components of the service as tools of the Model Context Protocol, at `/mcp`. The setting `mcp` enables the same
 * with its defaults.
 */
export function mcp(options: McpOptions = {}): DefinedInterface {
  const config = mcpConfigOf(options);
  return new DefinedInterface('mcp', '/mcp', () => load(config));
}

const enabled = new Map<boolean, DefinedInterface>();

/** The one that the settings enable: the same for all services, whose route table is built once. */
export function enabledMcp({ mcpOauth }: Pick<Settings, 'mcpOauth'>): DefinedInterface {
  const known = enabled.get(mcpOauth) ?? mcp(mcpOauth ? { oauth: {} } : {});
  enabled.set(mcpOauth, known);
  return known;
}

/**
 * The library is an optional package: a service without MCP neither needs nor loads it. One with MCP loads it for the
 * first request, and says at its start when it is missing or when something is wrong with the tools of the application.
 */
async function load(config: McpConfig): Promise<Interface> {
  try {
    import.meta.resolve('@modelcontextprotocol/server');
    if (config.tools.length > 0) (await import('./server/mcp-server.js')).toolboxOf(config);
    const { mcpInterface } = await import('./endpoint.js');
    return mcpInterface(config, { authorization: await authorizationOf(config) });
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw errors.invalidConfig(
      'mcp() needs a package that is not installed. Run: npm install @modelcontextprotocol/server@2.4.0',
    );
  }
}

async function authorizationOf({ oauth, publicUrl }: McpConfig): Promise<McpAuthorization | undefined> {
  if (oauth === undefined) return undefined;
  const { mcpOAuth } = await import('./oauth/authorization.js');
  return mcpOAuth(oauth, { path: '/mcp', publicUrl });
}
